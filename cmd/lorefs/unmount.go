package main

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"lorefs/cmd/internal/cli"
	"lorefs/cmd/internal/daemon"
	"lorefs/cmd/internal/mounted"
	"lorefs/cmd/internal/options"
	"lorefs/cmd/internal/reach"
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
				return cli.AtMostArgs(0)(c, args)
			}
			return cli.ExactArgs("PATH")(c, args)
		},
		RunE: func(c *cobra.Command, args []string) error {
			t := cli.NewTelling(c.OutOrStdout(), asJSON)
			if all {
				return unmountAll(c, t, r)
			}
			m, err := reach.MountAt(args[0])
			if err != nil {
				return err
			}
			return unmount(t, m, r)
		},
	}
	cli.AddJSON(c, &asJSON, cli.ObjectALine)
	c.Flags().BoolVar(&all, "all", false, "unmount everything that you have mounted")
	c.Flags().BoolVar(&r.Discard, "discard", false, "save nothing: give up all edits and texts that are not saved")
	c.Flags().BoolVar(&r.Lazy, "lazy", false, "detach it at once; it ends when no program uses it any more")
	options.AddHow(c.Flags(), &r.Repack, &r.VerifyAll)
	return c
}

// unmountAll unmounts all mounts of the user.
func unmountAll(c *cobra.Command, t *cli.Telling, r daemon.Request) error {
	names, err := daemon.Mine()
	if err != nil {
		return err
	}
	var mounts []*reach.Mount
	for _, name := range names {
		mounts = append(mounts, reach.FoundMount(name, name, "."))
	}
	var failed []error
	for _, m := range mounts {
		if t.Lines == nil {
			shown.Fprintf(t.Out, "%s\n", m.Name)
		}
		if err := unmount(t, m, r); err != nil {
			failed = append(failed, err)
		}
	}
	return reach.TellAll(c, failed)
}

// unmount asks the process that serves a mount to unmount. If there is none, it unmounts itself.
func unmount(t *cli.Telling, m *reach.Mount, r daemon.Request) error {
	dir, name := m.Dir, m.Name
	t.Dir, t.Name = dir, name
	a, conn, err := mounted.Talk(name, r, nil)
	switch {
	case errors.Is(err, daemon.ErrNone):
		if err := unmountAlone(m, r.Lazy); err != nil || t.Lines == nil {
			return err
		}
		return t.PrintJSON(&mounted.Answer{})
	case err != nil:
		return err
	case a.Busy:
		return errors.Join(busy(dir, m.Name), conn.Close())
	case a.Error != "":
		return errors.Join(errors.New(a.Error), conn.Close())
	}
	switch {
	case a.Editing && r.Lazy && r.Discard && t.Lines == nil:
		_, err = fmt.Fprintln(t.Out, "everything that is not saved is given up once nobody uses the mount")
	case a.Editing && r.Lazy:
		err = t.ToldBegun(&a)
	case a.Editing:
		err = awaitSave(t, conn)
	case t.Lines != nil:
		err = t.PrintJSON(&a)
	}
	// The process has its locks until it ends, also if it could not save.
	return errors.Join(err, awaitEnd(dir, conn, r.Lazy), conn.Close())
}

// awaitSave tells when the process has saved all edits, however long that takes.
func awaitSave(t *cli.Telling, conn *daemon.Line) error {
	p := cli.NewSaving()
	a, err := mounted.NextAnswer(conn, p.Meanwhile)
	p.Finish()
	if err != nil {
		return &cli.Error{
			Code: cli.ExitUnsaved, Err: fmt.Errorf("%s: the process ended without saying that all was saved: %w", t.Dir, err),
			Hint: "lorefs journal list tells what is left",
		}
	}
	if a.Discarded != nil {
		return t.ToldDiscarded(&a)
	}
	return t.Told(&a)
}

// busy returns the error for a mount in use. name is its [daemon.Name], and dir how the user spells it.
func busy(dir, name string) error {
	who := "a program has"
	if users := daemon.UsersOf(name); len(users) == 1 {
		who = users[0] + " has"
	} else if len(users) > 1 {
		who = strings.Join(users[:len(users)-1], ", ") + " and " + users[len(users)-1] + " have"
	}
	works := "works"
	if strings.HasSuffix(who, " have") {
		works = "work"
	}
	return &cli.Error{
		Code: cli.ExitBusy, Err: fmt.Errorf("%s is in use: %s files open there, or %s in it", dir, who, works),
		Hint: "--lazy detaches it now",
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
func unmountAlone(m *reach.Mount, lazy bool) error {
	dir, name := m.Dir, m.Name
	there, err := daemon.StateOf(name)
	if err != nil {
		return fmt.Errorf("%s: %w", dir, err)
	}
	switch {
	case there == daemon.None && m.Found: // it has ended by itself since
		return reach.LeftBehind(name, reach.ProcessEnded, m.Edited...)
	case there == daemon.None:
		return reach.NothingThere(dir)
	case there == daemon.Dead, there == daemon.Silent:
		if err := fs.Clear(name); err != nil {
			return fmt.Errorf("%s: %w", dir, err)
		}
		left := reach.LeftBehind(name, reach.ProcessDied, m.Edited...)
		made, err := daemon.TakeMade(name)
		return errors.Join(left, err, daemon.RemoveFolders(made))
	case !fs.MayUnmount(name):
		return reach.ErrOthers(dir)
	case lazy:
		return fs.Detach(name)
	}
	if err := daemon.UnmountAlone(name); err != nil {
		if errors.Is(err, syscall.EBUSY) {
			return busy(dir, name)
		}
		return fmt.Errorf("%s: %w", dir, err)
	}
	return reach.LeftBehind(name, reach.ProcessDied, m.Edited...)
}
