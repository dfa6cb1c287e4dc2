package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"lorefs/internal/shown"
	"lorefs/internal/treecopy"
)

// filing are the flags of commands that write many files to a folder.
type filing struct {
	overwrite bool
}

func (f *filing) add(c *cobra.Command) {
	c.Flags().BoolVar(&f.overwrite, "overwrite", false, "replace files that are there already")
}

// run has files of a source written. It tells of those that are not, and how many are.
func (f *filing) run(c *cobra.Command, s *opened, write func(treecopy.Options) (treecopy.Report, error)) error {
	p := newCounter("files")
	r, err := write(treecopy.Options{
		Overwrite: f.overwrite,
		Replacing: mayReplace,
		Progress:  func(files, _ int64) { p.set(files, -1) },
		Failed: func(path string, err error) error {
			p.finish()
			shown.Fprintf(c.ErrOrStderr(), "lorefs: %s: %s\n", path, errorText(err))
			return nil
		},
	})
	p.finish()
	if err == nil {
		err = s.check()
	}
	if errors.Is(err, context.Canceled) {
		err = &commandError{code: exitInterrupted, err: fmt.Errorf("interrupted after %s", plural(r.Files, "file"))}
	}
	if err != nil {
		return err
	}
	shown.Fprintf(c.ErrOrStderr(), "%s, %s\n", plural(r.Files, "file"), plural(r.Bytes, "byte"))
	switch {
	case r.Present > 0 && r.Present == r.Failed:
		return fmt.Errorf("%s %s there already and %s left alone (--overwrite replaces what is there)", plural(r.Present, "file"), was(r.Present), is(r.Present))
	case r.Present > 0:
		return fmt.Errorf("%s could not be written, %d of them for being there already (--overwrite replaces what is there)", plural(r.Failed, "file"), r.Present)
	case r.Failed > 0:
		return fmt.Errorf("%s could not be written", plural(r.Failed, "file"))
	}
	return nil
}
