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
// has to look for in millions of files. done is false if neither a nor b is in a mount. It
// refuses everything else in a mount, and folders that hold a whole one.
func diffMount(c *cobra.Command, a, b string, l *listing) (done bool, n int64, err error) {
	for _, path := range []string{a, b} {
		m, err := mountIn(path)
		if err != nil {
			return true, 0, err
		}
		if m == nil {
			if err := refuseTree(path); err != nil {
				return true, 0, err
			}
			continue
		}
		if m.inside != "." && m.inside != "sheets" {
			return true, 0, wrongDiff(fmt.Errorf("%s is in the mount on %s, which can only be compared as a whole", path, m.name),
				"lorefs edits %s lists what is edited there", m.name)
		}
		s, err := askStatus(foundMount(m.name, m.name, "."))
		if err != nil {
			return true, 0, err
		}
		if path == a {
			return true, 0, wrongDiff(fmt.Errorf("%s is a mount: what is mounted there goes first", path), "lorefs diff %s %s", s.Source, m.name)
		}
		if !sameFile(a, s.Source) {
			if _, err := os.Stat(a); err != nil {
				return false, 0, nil // which tells what is wrong with it
			}
			return true, 0, notMounted(a, m.name, s.Source)
		}
		if s.Problem != "" {
			return true, 0, errors.New(s.Problem)
		}
		n, err := l.ask(c, m, nil)
		return true, n, err
	}
	return false, 0, nil
}

// notMounted returns the error for a path that is not the source of the mount on dir.
func notMounted(path, dir, source string) error {
	err := fmt.Errorf("%s is not what is mounted on %s", path, dir)
	if info, statErr := os.Stat(path); statErr != nil || info.IsDir() { // and no data center
		return wrongDiff(err, "lorefs edits %s lists what is edited in the mount", dir)
	}
	return wrongDiff(err, "lorefs diff %s %s compares the files; lorefs edits %s lists what is edited in the mount", path, source, dir)
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
