package filing

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"lorefs/cmd/internal/cli"
	"lorefs/cmd/internal/kinds"
	"lorefs/cmd/internal/treecopy"
	"lorefs/internal/shown"
	"lorefs/nodes"
)

// updating are the flags of commands that bring a folder up to date.
type updating struct {
	update, remove bool
	// Since is a folder: what is the same there is not written. It is empty for none.
	Since string

	// record is that of the folder, while it is brought up to date.
	record *record
	done   removal
}

// AddUpdate adds --update and --delete.
func (f *Flags) AddUpdate(c *cobra.Command) {
	c.Flags().BoolVar(&f.update, "update", false, "write only files that are not there, or differ from those that are")
	c.Flags().BoolVar(&f.remove, "delete", false, "with --update, remove what export --update has written and SOURCE does not have any more")
}

// CheckUpdate returns an error for flags that do not go together.
func (f *Flags) CheckUpdate() error {
	switch {
	case f.remove && !f.update:
		return cli.UsageErrorf("--delete goes with --update, which notes what it writes")
	case f.update && f.overwrite:
		return cli.UsageErrorf("--update replaces what differs: it goes without --overwrite")
	}
	return nil
}

// Updates reports whether the folder is brought up to date.
func (f *Flags) Updates() bool { return f.update }

// begin reads what was written to a folder before.
func (f *updating) begin(to, from string) (err error) {
	if f.update {
		f.record, err = readRecord(to, from)
	}
	return err
}

// set sets the options of a copy.
func (f *updating) set(o *treecopy.Options, s *kinds.Source) {
	o.Update, o.Since = f.update, f.Since
	o.Same = func(ctx context.Context, file nodes.ID, stands *treecopy.Standing) (bool, error) {
		return s.SameAs(ctx, file, stands.Size, func(off, size int64) ([16]byte, error) {
			sum, err := stands.Sum(off, size)
			return sum, err
		})
	}
	if f.record != nil {
		o.Stands, o.Seen = f.record.stands, f.record.see
	}
}

// end removes what the source does not have any more. It removes nothing if it is not known to have listed all.
func (f *Flags) end(c *cobra.Command, s *kinds.Source, to string, r *treecopy.Report, dry bool) (err error) {
	if !f.remove {
		return nil
	}
	gone := f.record.gone(f.File)
	if len(gone) == 0 {
		return nil
	}
	switch {
	case r.Unlisted || !s.Complete(f.From):
		return errors.New("not all of the source could be listed, so that nothing was removed")
	case len(f.record.seen) == 0: // such as a storage without its names
		return fmt.Errorf("the source has none of the files that are there, so that nothing was removed, not even %s", gone[0])
	}
	f.done, err = f.record.remove(to, gone, dry)
	for i, name := range f.done.kept {
		if i == mostPresent {
			shown.Fprintf(c.ErrOrStderr(), "lorefs: %d more are kept\n", len(f.done.kept)-i)
			break
		}
		shown.Fprintf(c.ErrOrStderr(), "lorefs: %s: kept: the source does not have it any more, but it is not what export wrote\n", name)
	}
	return err
}

// told returns what else there is to tell, where written is what the line begins with.
func (f *updating) told(r *treecopy.Report, written string) (text string) {
	if r.Same > 0 {
		text += fmt.Sprintf("; %d the same", r.Same)
	}
	if n := len(f.done.removed); n > 0 && written == "" {
		text += fmt.Sprintf("; %d removed", n)
	} else if n > 0 {
		text += fmt.Sprintf("; %d would be removed", n)
	}
	return text
}
