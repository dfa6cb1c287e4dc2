package options

import (
	"errors"
	"strconv"

	"github.com/spf13/pflag"

	"lorefs/cmd/internal/cli"
	"lorefs/cmd/internal/kinds"
	"lorefs/cmd/internal/output"
	"lorefs/datacenter"
)

// Writing are the flags of commands that write a data center.
type Writing struct {
	Level int
	// revision is nil if it is not given, since every number is valid.
	revision *uint32
	output.Options
}

// DefaultLevel is how hard is compressed unless --level says it.
const DefaultLevel = 6

// Table returns the options of a data center that is written, and of its backup.
func (w *Writing) Table() []Option {
	w.Level = DefaultLevel
	only := []string{kinds.DataCenterName}
	return []Option{
		{Name: "level", Kinds: only, Typed: true, Value: &w.Level, Help: "how hard to compress, 0 to 9"},
		{Name: "revision", Kinds: only, Typed: true, Value: headerRevision{&w.revision}, Help: "the `revision` in the header, 0 to 4294967295 (default: the source's, or novadrop's)"},
		{Name: "no-backup", Value: &w.NoBackup, Help: "do not keep a replaced file as NAME.bak"},
	}
}

// AddHow adds the flags that say how a save is done.
func AddHow(flags *pflag.FlagSet, repack, verifyAll *bool) {
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

// WriteOptions returns the options for writing a data center. other is the layout if none is
// given.
func (w *Writing) WriteOptions(layout string, other datacenter.Layout) (datacenter.WriteOptions, error) {
	const most = 9
	if w.Level < 0 || w.Level > most {
		return datacenter.WriteOptions{}, cli.UsageErrorf("--level %d: want 0 to %d", w.Level, most)
	}
	l, err := ParseLayout(layout)
	if err != nil {
		return datacenter.WriteOptions{}, err
	}
	if l == datacenter.LayoutAuto {
		l = other
	}
	return datacenter.WriteOptions{Layout: l, Level: &w.Level, Revision: w.revision}, nil
}
