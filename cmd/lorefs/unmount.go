package main

import (
	"errors"
	"fmt"
	iofs "io/fs"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"lorefs/cmd/internal/daemon"
	"lorefs/cmd/internal/kinds"
	"lorefs/cmd/internal/mounted"
	"lorefs/cmd/internal/save"
	"lorefs/fs"
	"lorefs/internal/shown"
)

func newUnmount() *cobra.Command {
	r := daemon.Request{Do: daemon.Unmount}
	all, asJSON := false, false
	c := &cobra.Command{
		Use:     "unmount PATH",
		Aliases: []string{"umount"},
		Short:   "unmount, and wait until edits are saved and the mount's process has ended",
		Long: `unmount saves your edits and returns when they are saved. PATH is the mount point, any
file or directory in the mount, or the source that is mounted. With --all and no PATH, it unmounts all your mounts, one
after the other. It passes over a mount that is in use.

--discard gives up everything that is not saved, refused texts and files of editors too.
The source stays as it is, and you can't get the edits back. To take back only some edits,
use lorefs revert. --repack and --verify-all say how to save, as for lorefs commit.`,
		Args: func(c *cobra.Command, args []string) error {
			if all {
				return atMostArgs(0)(c, args)
			}
			return exactArgs("PATH")(c, args)
		},
		RunE: func(c *cobra.Command, args []string) error {
			t := newTelling(c.OutOrStdout(), asJSON)
			if all {
				return unmountAll(c, t, r)
			}
			m, err := mountAt(args[0])
			if err != nil {
				return err
			}
			return unmount(t, m, r)
		},
	}
	addJSON(c, &asJSON, objectALine)
	c.Flags().BoolVar(&all, "all", false, "unmount everything that you have mounted")
	c.Flags().BoolVar(&r.Discard, "discard", false, "save nothing: give up all edits and texts that are not saved")
	c.Flags().BoolVar(&r.Lazy, "lazy", false, "detach it at once; it ends when no program uses it any more")
	addHow(c.Flags(), &r.Repack, &r.VerifyAll)
	return c
}

// unmountAll unmounts all mounts of the user.
func unmountAll(c *cobra.Command, t *telling, r daemon.Request) error {
	names, err := daemon.Mine()
	if err != nil {
		return err
	}
	var mounts []*mountOf
	for _, name := range names {
		mounts = append(mounts, foundMount(name, name, "."))
	}
	var failed []error
	for _, m := range mounts {
		if t.lines == nil {
			shown.Fprintf(t.out, "%s\n", m.name)
		}
		if err := unmount(t, m, r); err != nil {
			failed = append(failed, err)
		}
	}
	return tellAll(c, failed)
}

// unmount asks the process that serves a mount to unmount. If there is none, it unmounts itself.
func unmount(t *telling, m *mountOf, r daemon.Request) error {
	dir, name := m.dir, m.name
	t.dir, t.name = dir, name
	a, conn, err := mounted.Talk(name, r, nil)
	switch {
	case errors.Is(err, daemon.ErrNone):
		if err := unmountAlone(m, r.Lazy); err != nil || t.lines == nil {
			return err
		}
		return t.printJSON(&mounted.Answer{})
	case err != nil:
		return err
	case a.Busy:
		return errors.Join(busy(dir, m.name), conn.Close())
	case a.Error != "":
		return errors.Join(errors.New(a.Error), conn.Close())
	}
	switch {
	case a.Editing && r.Lazy && r.Discard && t.lines == nil:
		_, err = fmt.Fprintln(t.out, "everything that is not saved is given up once nobody uses the mount")
	case a.Editing && r.Lazy:
		err = t.toldBegun(&a)
	case a.Editing:
		err = t.awaitSave(conn)
	case t.lines != nil:
		err = t.printJSON(&a)
	}
	// The process has its locks until it ends, also if it could not save.
	return errors.Join(err, awaitEnd(dir, conn, r.Lazy), conn.Close())
}

// awaitSave returns when the process has saved all edits, however long that takes.
func (t *telling) awaitSave(conn *daemon.Line) error {
	p := newSaving()
	a, err := mounted.NextAnswer(conn, p.meanwhile)
	p.finish()
	if err != nil {
		return &commandError{
			code: exitUnsaved, err: fmt.Errorf("%s: the process ended without saying that all was saved: %w", t.dir, err),
			hint: "lorefs journal list tells what is left",
		}
	}
	if a.Discarded != nil {
		return t.toldDiscarded(&a)
	}
	return t.told(&a)
}

// busy returns the error for a mount in use. name is its [daemon.Name], and dir how the user spells it.
func busy(dir, name string) error {
	who := "a program has"
	if users := usersOf(name); len(users) == 1 {
		who = users[0] + " has"
	} else if len(users) > 1 {
		who = strings.Join(users[:len(users)-1], ", ") + " and " + users[len(users)-1] + " have"
	}
	works := "works"
	if strings.HasSuffix(who, " have") {
		works = "work"
	}
	return &commandError{
		code: exitBusy, err: fmt.Errorf("%s is in use: %s files open there, or %s in it", dir, who, works),
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
func unmountAlone(m *mountOf, lazy bool) error {
	dir, name := m.dir, m.name
	there, err := daemon.StateOf(name)
	if err != nil {
		return fmt.Errorf("%s: %w", dir, err)
	}
	switch {
	case there == daemon.None && m.found: // it has ended by itself since
		return leftBehind(name, processEnded, m.edited...)
	case there == daemon.None:
		return nothingThere(dir)
	case there == daemon.Dead, there == daemon.Silent:
		if err := fs.Clear(name); err != nil {
			return fmt.Errorf("%s: %w", dir, err)
		}
		left := leftBehind(name, processDied, m.edited...)
		made, err := daemon.TakeMade(name)
		return errors.Join(left, err, removeFolders(made))
	case !fs.MayUnmount(name):
		return errOthers(dir)
	case lazy:
		return fs.Detach(name)
	}
	if err := daemon.UnmountAlone(name); err != nil {
		if errors.Is(err, syscall.EBUSY) {
			return busy(dir, name)
		}
		return fmt.Errorf("%s: %w", dir, err)
	}
	return leftBehind(name, processDied, m.edited...)
}

// errOthers returns the error for a mount whose process can't be asked.
func errOthers(dir string) error {
	return fmt.Errorf("%s: is mounted, but by another user or with another state folder", dir)
}

// How the process of a mount came to its end.
const (
	processDied  = "died"
	processEnded = "ended"
)

// leftBehind returns an error if the process of a mount, which died or ended, has left edits in a
// journal, or if that is unknown.
func leftBehind(name, how string, edited ...string) error {
	var left *commandError
	for _, path := range edited {
		left = left.and(leftOf(name, how, path))
	}
	if left == nil {
		return nil
	}
	return left
}

// leftOf is leftBehind for one source; it returns nil if nothing is left.
func leftOf(name, how, source string) *commandError {
	j, taken, err := daemon.AwaitJournal(name, func() (save.Journal, error) { return kinds.JournalOf(source) })
	switch {
	case errors.Is(err, iofs.ErrNotExist):
		return nil // nothing was edited, or all is saved
	case err != nil:
		return &commandError{
			code: exitUnsaved, err: fmt.Errorf("%s is unmounted, but its process %s, and what it left of %s is unknown: %w", name, how, source, err),
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
		code: exitUnsaved, err: fmt.Errorf("%s is unmounted, but its process %s before %s of %s %s saved", name, how, j.Count(), source, shown.Was(j.Edits)),
		hint: fmt.Sprintf(hint, j.Path),
	}
}
