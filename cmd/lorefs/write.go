package main

import (
	"errors"
	"os"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"lorefs/datacenter"
	"lorefs/internal/app/output"
	"lorefs/internal/shown"
)

// writing are the flags of commands that write a data center.
type writing struct {
	level int
	// revision is nil if it is not given, since every number is valid.
	revision *uint32
	output.Options
}

const defaultLevel = 6

func (w *writing) add(flags *pflag.FlagSet) {
	flags.IntVar(&w.level, "level", defaultLevel, "how hard to compress, 0 to 9")
	flags.Func("revision", "the `revision` in the header, 0 to 4294967295 (default: the source's, or novadrop's)", func(s string) error {
		n, err := strconv.ParseUint(s, 0, 32)
		if err != nil {
			return errors.New("want 0 to 4294967295")
		}
		w.revision = new(uint32(n))
		return nil
	})
	flags.BoolVar(&w.NoBackup, "no-backup", false, "do not keep a replaced file as NAME.bak")
}

// options returns the options for writing a data center. other is the layout if none is
// given.
func (w *writing) options(layout string, other datacenter.Layout) (datacenter.WriteOptions, error) {
	const most = 9
	if w.level < 0 || w.level > most {
		return datacenter.WriteOptions{}, usageErrorf("--level %d: want 0 to %d", w.level, most)
	}
	l, err := parseLayout(layout)
	if err != nil {
		return datacenter.WriteOptions{}, err
	}
	if l == datacenter.LayoutAuto {
		l = other
	}
	return datacenter.WriteOptions{Layout: l, Level: &w.level, Revision: w.revision}, nil
}

// tellKept returns a function that prints what is kept of a run that was killed.
func tellKept(c *cobra.Command) func(error) {
	return func(kept error) { shown.Fprintf(c.ErrOrStderr(), "lorefs: %v\n", kept) }
}

// sayWritten prints what was written.
func sayWritten(c *cobra.Command, path string) error {
	info, err := os.Stat(path)
	if err == nil {
		_, err = shown.Fprintf(c.OutOrStdout(), "wrote %s: %d bytes\n", path, info.Size())
	}
	return err
}
