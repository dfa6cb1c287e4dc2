package main

import (
	"context"
	"errors"
	"fmt"
	iofs "io/fs"

	"github.com/spf13/cobra"

	"lorefs/internal/app/kinds"
	"lorefs/internal/app/output"
	"lorefs/internal/app/treecopy"
	"lorefs/internal/diskspace"
	"lorefs/internal/jsonout"
	"lorefs/internal/shown"
	"lorefs/nodes"
)

// filing are the flags of commands that write many files to a folder.
type filing struct {
	overwrite bool
	asJSON    bool
	// without is a directory of the source that is left out; it may be empty.
	without string
	// files is the number of files, or -1 if it is unknown.
	files int64
}

// mostPresent is how many existing files are named in a message.
const mostPresent = 5

func (f *filing) add(c *cobra.Command) {
	f.files = -1
	addJSON(c, &f.asJSON, oneObject+" with what was written")
	c.Flags().BoolVar(&f.overwrite, "overwrite", false, "replace existing files")
}

// foresee prints how much will be written, and returns an error if the disk has too little
// space. It does neither for sources that must render files to know their sizes.
func (f *filing) foresee(ctx context.Context, c *cobra.Command, s *kinds.Source, from nodes.Entry, to string) error {
	most := s.QuickSizes()
	if most == 0 {
		return nil
	}
	a, err := treecopy.Measure(ctx, s.Tree, from, to, most, treecopy.Options{Overwrite: f.overwrite, Without: f.without})
	if errors.Is(err, treecopy.ErrTooMany) {
		return nil
	}
	if err != nil {
		return err
	}
	f.files = a.Files
	if a.Files == 0 {
		return nil
	}
	shown.Fprintf(c.ErrOrStderr(), "writing %s, %s\n", shown.Plural(a.Files, "file"), amount(a.Bytes))
	space, err := diskspace.For(to)
	if err != nil {
		return nil //nolint:nilerr // if the free space is unknown, writing ends when the disk is full
	}
	if room := space.Room(); a.Bytes > room {
		return fmt.Errorf("%s: there is no room for %s: the disk has %s free, of which %s are left for others; nothing was written",
			to, amount(a.Bytes), amount(space.Free), amount(space.Reserve()))
	}
	return nil
}

// run writes files of a source by write. It reports those that are not written, and how many
// were.
func (f *filing) run(c *cobra.Command, s *kinds.Source, to string, write func(treecopy.Options) (treecopy.Report, error)) error {
	p := newCounter("files")
	present := 0
	r, err := write(treecopy.Options{
		Overwrite: f.overwrite,
		Without:   f.without,
		Replacing: output.MayReplace,
		Progress:  func(files, _ int64) { p.set(files, f.files) },
		Failed: func(path string, err error) error {
			if errors.Is(err, iofs.ErrExist) {
				if present++; present > mostPresent {
					return nil
				}
				err = errors.New("exists already")
			}
			p.finish()
			shown.Fprintf(c.ErrOrStderr(), "lorefs: %s: %s\n", path, errorText(err))
			return nil
		},
	})
	p.finish()
	if err == nil {
		err = s.Check()
	}
	if errors.Is(err, context.Canceled) {
		err = &commandError{code: exitInterrupted, err: fmt.Errorf("interrupted after %s", shown.Plural(r.Files, "file"))}
	}
	if diskspace.IsFull(err) {
		err = fmt.Errorf("%s: %w; %s of %s were written, and no others", to, err, shown.Plural(r.Files, "file"), shown.Plural(r.Bytes, "byte"))
	}
	if err != nil {
		return err
	}
	if f.asJSON {
		err = jsonout.Object(c.OutOrStdout(), filed{to, r.Files, r.Bytes, r.Present, r.Failed - r.Present})
	} else {
		shown.Fprintf(c.ErrOrStderr(), "%s, %s\n", shown.Plural(r.Files, "file"), shown.Plural(r.Bytes, "byte"))
	}
	return errors.Join(err, f.outcome(&r))
}

// filed is what was written to a folder, as --json prints it.
type filed struct {
	Path  string `json:"path"`
	Files int64  `json:"files"`
	Bytes int64  `json:"bytes"`
	// Present is how many files were left alone because they exist, and Failed how many others
	// were not written.
	Present int64 `json:"present"`
	Failed  int64 `json:"failed"`
}

// outcome returns an error for files that were not written, or nil.
func (f *filing) outcome(r *treecopy.Report) error {
	if r.Failed == 0 {
		return nil
	}
	var err error
	switch {
	case r.Present == r.Failed:
		err = fmt.Errorf("%s %s there already and %s left alone", shown.Plural(r.Present, "file"), shown.Was(r.Present), shown.Is(r.Present))
	case r.Present > 0:
		err = fmt.Errorf("%s could not be written; %d of them exist already", shown.Plural(r.Failed, "file"), r.Present)
	default:
		return fmt.Errorf("%s could not be written", shown.Plural(r.Failed, "file"))
	}
	return &commandError{code: exitFailure, err: err, hint: "--overwrite replaces them"}
}
