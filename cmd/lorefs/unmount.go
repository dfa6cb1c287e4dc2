package main

import (
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"lorefs/fs"
	"lorefs/internal/app/daemon"
	"lorefs/internal/app/kinds"
	"lorefs/internal/app/mounted"
	"lorefs/internal/app/save"
	"lorefs/internal/shown"
)

func newUnmount() *cobra.Command {
	r := daemon.Request{Do: daemon.Unmount}
	c := &cobra.Command{
		Use:     "unmount MOUNTPOINT",
		Aliases: []string{"umount"},
		Short:   "unmount, and wait until edits are saved and the mount's process has ended",
		Long: `unmount saves what was edited, and returns when that is done. With --discard it gives up
everything that is not saved instead, also texts that were refused and files of editors;
the source stays as it is, and what was given up can't be brought back. To take back only
some edits, use lorefs revert.`,
		Args: exactArgs("MOUNTPOINT"),
		RunE: func(c *cobra.Command, args []string) error {
			name, err := daemon.Name(args[0])
			if err != nil {
				return err
			}
			return unmount(c.OutOrStdout(), args[0], name, r)
		},
	}
	c.Flags().BoolVar(&r.Discard, "discard", false, "save nothing: give up all edits and texts that are not saved")
	c.Flags().BoolVar(&r.Lazy, "lazy", false, "detach it at once; it ends when no program uses it any more")
	return c
}

// unmount asks the process that serves dir, whose [daemon.Name] is name, to unmount. If no
// process serves dir, it unmounts itself.
func unmount(w io.Writer, dir, name string, r daemon.Request) error {
	a, conn, err := mounted.Talk(name, r, nil)
	switch {
	case errors.Is(err, daemon.ErrNone):
		return unmountAlone(dir, name, r.Lazy)
	case err != nil:
		return err
	case a.Busy:
		return errors.Join(busy(dir), conn.Close())
	case a.Error != "":
		return errors.Join(errors.New(a.Error), conn.Close())
	}
	switch {
	case a.Editing && r.Lazy && r.Discard:
		_, err = fmt.Fprintln(w, "everything that is not saved is given up once nobody uses the mount")
	case a.Editing && r.Lazy:
		err = toldBegun(w, &a, dir)
	case a.Editing:
		err = awaitSave(w, dir, conn)
	}
	// The process has its locks until it ends, also if it could not save.
	return errors.Join(err, awaitEnd(dir, conn, r.Lazy), conn.Close())
}

// awaitSave returns when the process has saved all edits, however long that takes.
func awaitSave(w io.Writer, dir string, conn *daemon.Line) error {
	p := newSaving()
	a, err := mounted.NextAnswer(conn, p.meanwhile)
	p.finish()
	if err != nil {
		return &commandError{
			code: exitUnsaved, err: fmt.Errorf("%s: the process ended without saying that all was saved: %w", dir, err),
			hint: "lorefs journal list tells what is left",
		}
	}
	if a.Discarded != nil {
		return toldDiscarded(w, &a)
	}
	return told(w, &a, "")
}

func busy(dir string) error {
	return &commandError{
		code: exitBusy, err: fmt.Errorf("%s is in use: a program has files open there, or works in it", dir),
		hint: "--lazy detaches it now",
	}
}

// awaitEnd returns when the process has ended, which closes conn.
func awaitEnd(dir string, conn *daemon.Line, lazy bool) error {
	timeout := daemon.EndTimeout
	if lazy {
		timeout = time.Second
	}
	ended, err := conn.AwaitEnd(timeout)
	if err != nil || ended || lazy { // one that is detached may be in use for long
		return err
	}
	return fmt.Errorf("%s: is unmounted, but its process has not ended after %v", dir, timeout)
}

// unmountAlone unmounts a mount whose process is dead or can't be reached.
func unmountAlone(dir, name string, lazy bool) error {
	edited := daemon.Edited(name) // only for reporting edits that are left
	there, err := daemon.StateOf(name)
	if err != nil {
		return fmt.Errorf("%s: %w", dir, err)
	}
	switch {
	case there == daemon.None:
		return nothingThere(dir, name)
	case there == daemon.Dead, there == daemon.Silent:
		if err := fs.Clear(name); err != nil {
			return fmt.Errorf("%s: %w", dir, err)
		}
		return leftBehind(name, edited...)
	case !fs.MayUnmount(name):
		return errOthers(dir)
	case lazy:
		return fs.Detach(name)
	}
	if err := daemon.UnmountAlone(name); err != nil {
		if errors.Is(err, syscall.EBUSY) {
			return busy(dir)
		}
		return fmt.Errorf("%s: %w", dir, err)
	}
	return leftBehind(name, edited...)
}

// errOthers returns the error for a mount whose process can't be asked.
func errOthers(dir string) error {
	return fmt.Errorf("%s: is mounted, but by another user or with another state folder", dir)
}

// leftBehind returns an error if the dead process of a mount has left edits in a journal, or
// if that is unknown.
func leftBehind(name string, edited ...string) error {
	var left *commandError
	for _, path := range edited {
		left = left.and(leftOf(name, path))
	}
	if left == nil {
		return nil
	}
	return left
}

// leftOf is leftBehind for one source; it returns nil if nothing is left.
func leftOf(name, source string) *commandError {
	j, taken, err := daemon.AwaitJournal(name, func() (save.Journal, error) { return kinds.JournalOf(source) })
	switch {
	case errors.Is(err, iofs.ErrNotExist):
		return nil // nothing was edited, or all is saved
	case err != nil:
		return &commandError{
			code: exitUnsaved, err: fmt.Errorf("%s is unmounted, but its process died, and what it left of %s is unknown: %w", name, source, err),
			hint: "lorefs journal list tells what is left, once that is mended",
		}
	}
	if j.Edits == 0 && j.Problem == "" || j.State == save.StateSaved {
		return nil
	}
	if taken {
		return nil
	}
	hint := "kept in %s: lorefs mount --rw brings back what is there"
	if j.State == save.StateDamaged {
		hint = "the journal %s is damaged: lorefs journal replay --salvage saves what lies before the damage"
	}
	return &commandError{
		code: exitUnsaved, err: fmt.Errorf("%s is unmounted, but its process died before %s of %s %s saved", name, j.Count(), source, shown.Was(j.Edits)),
		hint: fmt.Sprintf(hint, j.Path),
	}
}
