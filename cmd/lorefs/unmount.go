package main

import (
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"os"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"lorefs/fs"
	"lorefs/internal/pending"
)

// endTimeout is how long unmount waits for the process to end once the mount is
// gone. A detached mount may be in use for longer; that is told, not waited for.
const endTimeout = 30 * time.Second

func newUnmount() *cobra.Command {
	lazy := false
	c := &cobra.Command{
		Use:     "unmount MOUNTPOINT",
		Aliases: []string{"umount"},
		Short:   "unmount, and wait until all is saved and the mount's process has ended",
		Args:    exactArgs("MOUNTPOINT"),
		RunE: func(c *cobra.Command, args []string) error {
			name, err := mountName(args[0])
			if err != nil {
				return err
			}
			return unmount(c.OutOrStdout(), args[0], name, lazy)
		},
	}
	c.Flags().BoolVar(&lazy, "lazy", false, "detach it at once, and end when nobody uses it any more")
	return c
}

// unmount asks the process that serves dir, whose mountName is name, or takes
// away itself what no process serves.
func unmount(w io.Writer, dir, name string, lazy bool) error {
	a, conn, err := talk(name, request{Do: doUnmount, Lazy: lazy})
	switch {
	case errors.Is(err, errNoControl):
		return unmountAlone(dir, name, lazy)
	case err != nil:
		return err
	case a.Busy:
		return errors.Join(busy(dir), conn.Close())
	case a.Error != "":
		return errors.Join(errors.New(a.Error), conn.Close())
	}
	switch {
	case a.Editing && lazy:
		err = a.toldBegun(w)
	case a.Editing:
		err = awaitSave(w, dir, conn)
	}
	// Until the end the process has its locks, also if it could not save.
	return errors.Join(err, awaitEnd(dir, conn, lazy), conn.Close())
}

// awaitSave returns when the other side has saved what was edited, however long
// that takes.
func awaitSave(w io.Writer, dir string, conn *line) error {
	if err := conn.SetDeadline(time.Time{}); err != nil {
		return err
	}
	a, err := conn.answers.answer()
	if err != nil {
		return &commandError{
			code: exitUnsaved, err: fmt.Errorf("%s: the process ended without saying that all was saved: %w", dir, err),
			hint: "lorefs journal list tells what is left",
		}
	}
	return a.told(w)
}

func busy(dir string) error {
	return &commandError{
		code: exitBusy, err: fmt.Errorf("%s is in use: a program has files open there, or works in it", dir),
		hint: "--lazy detaches it now",
	}
}

// awaitEnd returns when the other side is gone: only its end closes conn.
func awaitEnd(dir string, conn *line, lazy bool) error {
	timeout := endTimeout
	if lazy {
		timeout = time.Second
	}
	if err := conn.SetDeadline(time.Now().Add(timeout)); err != nil {
		return err
	}
	var err error
	for err == nil {
		_, err = conn.answers.answer() // what came of saving, to those who wait for that
	}
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, syscall.ECONNRESET):
		return nil
	case errors.Is(err, os.ErrDeadlineExceeded) && lazy:
		return nil // as asked for
	case errors.Is(err, os.ErrDeadlineExceeded):
		return fmt.Errorf("%s: is unmounted, but its process has not ended after %v", dir, timeout)
	}
	return err
}

// unmountAlone is for a mount whose process is dead or can't be reached.
func unmountAlone(dir, name string, lazy bool) error {
	source, _, _ := editedSource(name) // only to tell of edits that are left
	there, err := mountState(name)
	if err != nil {
		return fmt.Errorf("%s: %w", dir, err)
	}
	switch {
	case there == mountNone:
		return nothingThere(dir, name)
	case there == mountDead, there == mountSilent:
		if err := fs.Clear(name); err != nil {
			return fmt.Errorf("%s: %w", dir, err)
		}
		return leftBehind(name, source)
	case !fs.MayUnmount(name):
		return errOthers(dir)
	case lazy:
		return fs.Detach(name)
	}
	if err := systemUnmount(name); err != nil {
		if errors.Is(err, syscall.EBUSY) {
			return busy(dir)
		}
		return fmt.Errorf("%s: %w", dir, err)
	}
	return leftBehind(name, source)
}

// errOthers is what is said of a mount whose process can't be asked.
func errOthers(dir string) error {
	return fmt.Errorf("%s: is mounted, but by another user or with another state folder", dir)
}

// leftBehind is an error if the process of a mount that is dead has left edits in a
// journal, or if nobody can tell. source is empty if there can't be any.
func leftBehind(name, source string) error {
	if source == "" {
		return nil
	}
	left := leftOf(name, source)
	if beside := editedBeside(name); beside != "" {
		left = left.and(leftOf(name, beside))
	}
	if left == nil {
		return nil
	}
	return left
}

// leftOf is leftBehind of one thing that was edited; nil if nothing is left.
func leftOf(name, source string) *commandError {
	j, err := journalOfDead(name, source)
	switch {
	case errors.Is(err, iofs.ErrNotExist):
		return nil // nothing was edited, or all is saved
	case err != nil:
		return &commandError{
			code: exitUnsaved, err: fmt.Errorf("is unmounted, but its process died, and what it left of %s is unknown: %w", source, err),
			hint: "lorefs journal list tells what is left, once that is mended",
		}
	}
	if j.Edits == 0 && j.Problem == "" || j.State == pending.Saved {
		return nil
	}
	if j.State == pending.InUse && takenOver(name, &j) {
		return nil
	}
	hint := "kept in %s: lorefs mount --rw brings back what is there"
	if j.State == pending.Damaged {
		hint = "the journal %s is damaged: lorefs journal replay --salvage saves what lies before the damage"
	}
	return &commandError{
		code: exitUnsaved, err: fmt.Errorf("is unmounted, but its process died before %s of %s %s saved", plural(j.Edits, "edit"), source, was(j.Edits)),
		hint: fmt.Sprintf(hint, j.Path),
	}
}

const (
	// dyingPoll is how often a process is looked at that is about to end.
	dyingPoll = 20 * time.Millisecond
	// stayTime is how long who takes over a journal has to keep it to be believed: a mount
	// that is refused, or a journal drop, has it for a moment.
	stayTime = time.Second
)

// journalOfDead describes the journal of a source as soon as the process that served
// it on name holds it no more: the kernel takes the mount from a process that was
// killed before it takes its locks.
func journalOfDead(name, source string) (pending.Journal, error) {
	var held, since time.Time // of who took over
	for end := time.Now().Add(endTimeout); ; time.Sleep(dyingPoll) {
		j, err := journalOf(source)
		now := time.Now()
		switch {
		case err != nil, j.State != pending.InUse, now.After(end):
			return j, err
		case !takenOver(name, &j):
			continue
		case !j.Held.Equal(held):
			held, since = j.Held, now
		case now.Sub(since) >= stayTime:
			return j, nil
		}
	}
}

// takenOver tells whether whoever has a journal in use came behind the process that
// served name, and so has all that it left. That one took the lock before it mounted,
// and listened behind that.
func takenOver(name string, j *pending.Journal) bool {
	path, err := socketPath(name)
	if err != nil {
		return false
	}
	socket, err := os.Lstat(path)
	return err == nil && j.Held.After(socket.ModTime())
}

// mountStatus tells whether a directory is one of our mounts.
type mountStatus uint8

const (
	mountNone mountStatus = iota
	mountAlive
	mountDead
	// mountSilent does not answer: its process hangs, or was killed and can't end.
	mountSilent
)

// mountState looks at name, a mountName.
func mountState(name string) (mountStatus, error) {
	ours, err := isMounted(name)
	if err != nil || !ours {
		return mountNone, err
	}
	switch err := fs.Probe(name); {
	case errors.Is(err, fs.ErrDead):
		return mountDead, nil
	case errors.Is(err, fs.ErrSilent):
		return mountSilent, nil
	}
	return mountAlive, nil
}
