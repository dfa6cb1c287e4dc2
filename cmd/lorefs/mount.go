package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"lorefs/fs"
	"lorefs/internal/app/daemon"
	"lorefs/internal/app/kinds"
	"lorefs/internal/app/mounted"
	"lorefs/internal/links"
)

// mountFlags are the flags of mount.
type mountFlags struct {
	source     sourceFlags
	foreground bool
	allowOther bool
	readWrite  bool
	noBackup   bool
	quality    int
	logFile    string
	lists      []string
	// own are the options besides the source's.
	own optionSet
}

func (f *mountFlags) add(flags *pflag.FlagSet) {
	f.source.add(flags)
	f.own.addTo(flags, f.table())
	flags.BoolVarP(&f.foreground, "foreground", "f", false, "stay in the foreground until unmounted")
	flags.StringArrayVarP(&f.lists, "options", "o", nil, `options as mount(8) passes them, such as ro,cache_size=64M; write \, for a comma in a value`)
}

// table returns the options of a mount besides its source.
func (f *mountFlags) table() []option {
	edited := []string{kinds.DataCenterName, kinds.WorldName}
	return []option{
		{name: "allow-other", value: &f.allowOther, help: "let other users see the mount"},
		{name: "rw", listed: listedEdit, value: &f.readWrite, help: "make the files editable; unmounting saves the edits"},
		{name: "no-backup", kinds: edited, value: &f.noBackup, help: "with --rw, do not keep the old source as NAME.bak"},
		{name: "quality", kinds: edited, value: &f.quality, help: helpQuality},
		{name: "log-file", value: &f.logFile, help: "append errors of the mount to this `file`"},
	}
}

// applyLists applies the lists of -o.
func (f *mountFlags) applyLists(lists []string, rules optionRules) error {
	all := optionSet{known: slices.Concat(f.source.known, f.own.known), flags: f.own.flags}
	return all.apply(lists, rules)
}

func newMount(log *slog.Logger) *cobra.Command {
	var f mountFlags
	c := &cobra.Command{
		Use:   "mount SOURCE MOUNTPOINT",
		Short: "mount a source on a directory",
		Long: `mount shows SOURCE as files below MOUNTPOINT, an empty directory. It returns when
the mount can be used, and serves it from the background until it is unmounted.

With --rw, attributes and nodes can be edited as files and directories. Each edit
goes to a journal at once. Unmounting, or lorefs commit, writes the source anew and keeps
the old file as NAME.bak; --layout says in which layout. The zones and areas of --world
are edited and saved like those of a folder that is mounted by itself. If you may not
write to that folder, mount says so and leaves it as it is.`,
		Args: exactArgs("SOURCE", "MOUNTPOINT"),
		RunE: func(c *cobra.Command, args []string) error {
			if err := f.applyLists(f.lists, optionRules{}); err != nil {
				return err
			}
			return f.mount(c.Context(), args[0], args[1], log)
		},
	}
	f.add(c.Flags())
	return c
}

// mount mounts in the foreground or, by starting this program again, in the background.
func (f *mountFlags) mount(ctx context.Context, source, dir string, log *slog.Logger) error {
	if err := f.source.check(); err != nil {
		return err
	}
	if err := checkQuality(f.quality); err != nil {
		return err
	}
	if f.noBackup && !f.readWrite {
		return usageErrorf("--no-backup goes with --rw: nothing is written without it")
	}
	parent, isChild := daemon.FromParent()
	if !isChild && !f.foreground {
		return mountInBackground()
	}
	m, err := f.prepare(source, dir, log)
	if err == nil {
		m.parent = parent
		err = m.serve(ctx)
	}
	if isChild {
		return toldParent(parent, err)
	}
	return err
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// checkUnserved returns an error if a living process serves a mount that does not answer,
// because it is busy. Mounting there would abort that mount.
func checkUnserved(name string) error {
	there, err := daemon.StateOf(name)
	if err != nil || there != daemon.Silent {
		return nil //nolint:nilerr // CheckMountpoint reports it
	}
	_, conn, err := mounted.Talk(name, daemon.Request{Do: daemon.Status}, nil)
	if err != nil {
		return nil //nolint:nilerr // nobody serves it
	}
	return errors.Join(fmt.Errorf("mount point %s: lorefs has mounted something there already, which is slow to answer", name), conn.Close())
}

// prepare does what is quick and can fail, and makes all paths absolute, since the working
// directory changes later.
func (f *mountFlags) prepare(source, dir string, log *slog.Logger) (*mounting, error) {
	m := &mounting{flags: f, log: log}
	var err error
	if m.source, err = filepath.Abs(source); err != nil {
		return nil, err
	}
	if m.dir, err = daemon.Name(dir); err != nil {
		return nil, &commandError{code: exitMountpoint, err: err}
	}
	k, err := f.source.kindOf(source)
	if errors.Is(err, kinds.ErrUnknown) && isFile(dir) {
		return nil, &commandError{code: exitUnknown, err: err, hint: "SOURCE comes first: did you swap it and MOUNTPOINT?"}
	}
	if err != nil {
		return nil, err
	}
	if err := f.own.checkKind(source, k); err != nil {
		return nil, err
	}
	err = checkUnserved(m.dir)
	if err == nil {
		err = fs.CheckMountpoint(m.dir, m.source)
	}
	if err != nil {
		return nil, &commandError{code: exitMountpoint, err: err}
	}
	if f.logFile == "" {
		return m, nil
	}
	m.logFile, err = links.OpenLog(f.logFile, 0o600)
	if err != nil {
		return nil, fmt.Errorf("--log-file: %w", err)
	}
	return m, nil
}
