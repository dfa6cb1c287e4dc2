package main

import (
	"errors"
	"os"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"lorefs/cmd/internal/kinds"
	"lorefs/cmd/internal/output"
	"lorefs/datacenter"
	"lorefs/internal/jsonout"
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

// table returns the options of a data center that is written, and of its backup.
func (w *writing) table() []option {
	w.level = defaultLevel
	only := []string{kinds.DataCenterName}
	return []option{
		{name: "level", kinds: only, typed: true, value: &w.level, help: "how hard to compress, 0 to 9"},
		{name: "revision", kinds: only, typed: true, value: headerRevision{&w.revision}, help: "the `revision` in the header, 0 to 4294967295 (default: the source's, or novadrop's)"},
		{name: "no-backup", value: &w.NoBackup, help: "do not keep a replaced file as NAME.bak"},
	}
}

// addHow adds the flags that say how a save is done.
func addHow(flags *pflag.FlagSet, repack, verifyAll *bool) {
	flags.BoolVar(repack, "repack", false, "write a data center anew as a whole, also if few values were edited")
	flags.BoolVar(verifyAll, "verify-all", false, "inflate and compare all of what is written, also what was not edited")
}

// headerRevision is a flag for a revision.
type headerRevision struct{ to **uint32 }

// Set implements [pflag.Value].
func (r headerRevision) Set(text string) error {
	n, err := strconv.ParseUint(text, 0, 32)
	if err != nil {
		return errors.New("want 0 to 4294967295")
	}
	*r.to = new(uint32(n))
	return nil
}

func (r headerRevision) String() string {
	if r.to == nil || *r.to == nil {
		return ""
	}
	return strconv.FormatUint(uint64(**r.to), 10)
}

// Type returns the word for the value in help texts.
func (r headerRevision) Type() string { return "revision" }

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

// writtenFile is a file that was written, as --json prints it.
type writtenFile struct {
	Path  string `json:"path"`
	Bytes int64  `json:"bytes"`
}

// sayWritten prints what was written.
func sayWritten(c *cobra.Command, path string, asJSON bool) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
	case asJSON:
		err = jsonout.Object(c.OutOrStdout(), writtenFile{path, info.Size()})
	default:
		_, err = shown.Fprintf(c.OutOrStdout(), "wrote %s: %d bytes\n", path, info.Size())
	}
	return err
}
