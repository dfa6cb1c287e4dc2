package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"lorefs/internal/shown"
)

// diffMount compares a source with a mount of it: what differs are its edits, which nobody
// has to look for in millions of files. done is false if that is not what a and b are. It
// refuses parts of a mount, and folders that hold a whole one.
func diffMount(c *cobra.Command, a, b string, l *listing) (done bool, n int64, err error) {
	var of *mountOf
	for _, path := range []string{a, b} {
		if of, err = mountIn(path); err != nil {
			return true, 0, err
		}
		if of == nil {
			if err := refuseTree(path); err != nil {
				return true, 0, err
			}
			continue
		}
		if of.inside != "." && of.inside != "sheets" {
			return true, 0, wrongDiff(fmt.Errorf("%s is in the mount on %s, which can only be compared as a whole", path, of.name),
				"lorefs edits %s lists what is edited there", of.name)
		}
	}
	if of == nil {
		return false, 0, nil
	}
	s, err := askStatus(foundMount(of.name, of.name, "."))
	if err != nil {
		return true, 0, err
	}
	if !sameFile(a, s.Source) {
		return false, 0, nil
	}
	if s.Problem != "" {
		return true, 0, errors.New(s.Problem)
	}
	n, err = l.ask(c, of, nil)
	return true, n, err
}

// wrongDiff returns the error for something that diff can't compare. The hint is the right
// command, of which args are words.
func wrongDiff(err error, hint string, args ...string) error {
	words := make([]any, len(args))
	for i, arg := range args {
		words[i] = shown.Shell(arg)
	}
	return &commandError{code: exitUsage, err: err, hint: fmt.Sprintf(hint, words...)}
}

// refuseTree returns an error for a folder with a tree/ in it: a mount that is not this
// user's, or an export of one. It has no sheets, and may have millions of other files.
func refuseTree(path string) error {
	if info, err := os.Stat(filepath.Join(path, "tree")); err != nil || !info.IsDir() {
		return nil //nolint:nilerr // it is no such folder
	}
	return wrongDiff(fmt.Errorf("%s has tree/ in it: diff compares data centers and folders of sheets", path),
		"lorefs diff A %s compares its sheets", filepath.Join(path, "sheets"))
}
