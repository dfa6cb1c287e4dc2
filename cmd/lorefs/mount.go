package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"lorefs/cmd/internal/daemon"
	"lorefs/cmd/internal/kinds"
	"lorefs/cmd/internal/mounted"
	"lorefs/fs"
	"lorefs/internal/jsonout"
	"lorefs/internal/links"
	"lorefs/internal/origin"
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
	mkdir      bool
	idle       time.Duration
	uid, gid   maybeID
	umask      maybeMode
	lists      []string
	asJSON     bool
}

func (f *mountFlags) add(flags *pflag.FlagSet) {
	f.source.add(flags)
	f.source.addTo(flags, f.table())
	flags.BoolVarP(&f.foreground, "foreground", "f", false, "stay in the foreground until unmounted")
	flags.StringArrayVarP(&f.lists, "options", "o", nil, "`options` as mount(8) passes them, such as ro,cache_size=64M; write \\, for a comma in a value")
}

// table returns the options of a mount besides its source.
func (f *mountFlags) table() []option {
	return []option{
		{name: "allow-other", value: &f.allowOther, help: "let other users see the mount"},
		{name: "rw", listed: listedEdit, typed: true, value: &f.readWrite, help: "make the files editable; unmounting saves the edits"},
		{name: "no-backup", kinds: editedKinds, value: &f.noBackup, help: "with --rw, do not keep the old source as NAME.bak"},
		qualityOption(&f.quality),
		{name: "mkdir", value: &f.mkdir, help: "make MOUNTPOINT if it is missing, and remove at the end what was made"},
		{name: "idle", value: &f.idle, help: "unmount after this `time` without use, such as 15m, once nothing is open; what was edited is saved first, and if that fails it stays mounted"},
		{name: "uid", value: &f.uid, help: "`number` of the user whom all files belong to (default: yours); for --allow-other"},
		{name: "gid", value: &f.gid, help: "`number` of the group that all files belong to (default: yours)"},
		{name: "umask", value: &f.umask, help: "permissions that no file has, an octal `mode` (default: 022)"},
		{name: "log-file", path: true, made: true, value: &f.logFile, help: "append errors of the mount to this `file`"},
	}
}

func newMount(log *slog.Logger) *cobra.Command {
	var f mountFlags
	c := &cobra.Command{
		Use:   "mount SOURCE MOUNTPOINT",
		Short: "mount a source on a directory",
		Long: `mount shows SOURCE as files below MOUNTPOINT, an empty directory. It returns when you can
use the mount, and serves it from the background until you unmount it.

With --rw, attributes and nodes can be edited as files and directories. Each edit
goes to a journal at once. Unmounting, or lorefs commit, writes the source anew and keeps
the old file as NAME.bak; --layout says in which layout. You can edit the zones and areas of
--world as if you had mounted their folder by itself. If you may not write to that folder,
mount says so and leaves it as it is.`,
		Args: exactArgs("SOURCE", "MOUNTPOINT"),
		RunE: func(c *cobra.Command, args []string) error {
			if err := f.source.apply(f.lists, optionRules{}); err != nil {
				return err
			}
			return f.mount(c.Context(), c.OutOrStdout(), args[0], args[1], log)
		},
	}
	f.add(c.Flags())
	addJSON(c, &f.asJSON, oneObject+", as lorefs status does, once the mount can be used")
	_ = c.RegisterFlagCompletionFunc("options", completeListed(f.source.known)) // it has none yet
	return c
}

// mount mounts in the foreground or, by starting this program again, in the background.
func (f *mountFlags) mount(ctx context.Context, out io.Writer, source, dir string, log *slog.Logger) error {
	if err := f.source.check(); err != nil {
		return err
	}
	if err := checkQuality(f.quality); err != nil {
		return err
	}
	if f.idle < 0 {
		return usageErrorf("--idle %v: want a time such as 15m", f.idle)
	}
	for _, name := range []string{"no-backup", "quality"} {
		if f.source.given(name) && !f.readWrite {
			return usageErrorf("--%s goes with --rw: nothing is written without it", name)
		}
	}
	parent, isChild := daemon.FromParent()
	if !isChild && !f.foreground {
		if err := mountInBackground(source); err != nil || !f.asJSON {
			return err
		}
		m, err := mountAt(dir)
		if err != nil {
			return err
		}
		s, err := askStatus(m)
		if err != nil {
			return err
		}
		return jsonout.Object(out, s)
	}
	err := f.serve(ctx, out, source, dir, parent, log)
	if isChild {
		return toldParent(parent, err)
	}
	return err
}

// serve mounts in this process, and returns when the mount is gone.
func (f *mountFlags) serve(ctx context.Context, out io.Writer, source, dir string, parent *daemon.Parent, log *slog.Logger) (err error) {
	var made []string
	if f.mkdir {
		var makeErr error
		made, makeErr = makeFolders(dir)
		defer func() { err = errors.Join(err, removeFolders(made)) }()
		if makeErr != nil {
			return &commandError{code: exitMountpoint, err: fmt.Errorf("mount point %s: %w", dir, makeErr)}
		}
	}
	m, err := f.prepare(ctx, source, dir, log)
	if err != nil {
		return err
	}
	m.made = made
	if m.parent = parent; parent == nil && f.asJSON {
		m.ready = func(s *mounted.Status) error { return jsonout.Object(out, s) }
	}
	return m.serve(ctx)
}

// makeFolders makes a folder and those above it that are missing. It returns the absolute
// paths of those that it has made, the lowest first.
func makeFolders(dir string) (made []string, err error) {
	if dir, err = filepath.Abs(dir); err != nil {
		return nil, err
	}
	var missing []string // the lowest first
	for at := dir; ; at = filepath.Dir(at) {
		// Of a dead mount there is something, though nothing can be asked about it.
		if _, err := os.Lstat(at); !errors.Is(err, iofs.ErrNotExist) {
			break
		}
		missing = append(missing, at)
	}
	for _, at := range slices.Backward(missing) {
		err := os.Mkdir(at, 0o777)
		if errors.Is(err, iofs.ErrExist) {
			continue // another process was faster, and has to remove it
		}
		if err != nil {
			return made, err
		}
		made = slices.Insert(made, 0, at)
	}
	return made, nil
}

// removeFolders removes folders up to the first that is in use: something is in it, or is
// mounted on it.
func removeFolders(folders []string) error {
	for _, at := range folders {
		err := syscall.Rmdir(at) // which removes no file that has taken its place
		switch {
		case errors.Is(err, syscall.ENOTEMPTY), errors.Is(err, syscall.EBUSY), errors.Is(err, syscall.ENOTDIR), errors.Is(err, iofs.ErrNotExist):
			return nil
		case err != nil:
			return fmt.Errorf("--mkdir: can't remove %s: %w", at, err)
		}
	}
	return nil
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
func (f *mountFlags) prepare(ctx context.Context, source, dir string, log *slog.Logger) (*mounting, error) {
	m := &mounting{flags: f, log: log}
	var err error
	if m.source, err = origin.Abs(source); err != nil {
		return nil, err
	}
	if m.dir, err = daemon.Name(dir); err != nil {
		return nil, &commandError{code: exitMountpoint, err: err}
	}
	k, err := f.source.kindOf(ctx, source, log)
	if errors.Is(err, kinds.ErrUnknown) && isFile(dir) {
		return nil, &commandError{code: exitUnknown, err: err, hint: "SOURCE comes first: did you swap it and MOUNTPOINT?"}
	}
	if err != nil {
		return nil, err
	}
	if m.options, err = f.source.chosen(k.Name); err != nil {
		return nil, err
	}
	if f.readWrite {
		delete(m.options, "layout") // it is the one to write
	}
	if err := checkQuality(f.quality); err != nil { // also that of a setting
		return nil, err
	}
	err = checkUnserved(m.dir)
	if err == nil {
		err = fs.CheckMountpoint(m.dir, localSource(m.source))
	}
	if errors.Is(err, fs.ErrNoMountpoint) {
		return nil, &commandError{code: exitMountpoint, err: err, hint: "--mkdir makes it"}
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

// localSource returns the path of a source, or nothing if it is on other machines.
func localSource(source string) string {
	if origin.IsRemote(source) {
		return ""
	}
	return source
}
