package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"lorefs/cmd/internal/budget"
	"lorefs/cmd/internal/cli"
	"lorefs/cmd/internal/daemon"
	"lorefs/cmd/internal/help"
	"lorefs/cmd/internal/kinds"
	"lorefs/cmd/internal/mounted"
	"lorefs/cmd/internal/options"
	"lorefs/cmd/internal/reach"
	"lorefs/fs"
	"lorefs/internal/jsonout"
	"lorefs/internal/links"
	"lorefs/internal/origin"
)

// mountCommand is mount, or a mount helper.
type mountCommand struct{ options.MountFlags }

func newMount(log *slog.Logger) *cobra.Command {
	var f mountCommand
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
		Args: cli.ExactArgs("SOURCE", "MOUNTPOINT"),
		RunE: func(c *cobra.Command, args []string) error {
			if err := f.Source.Apply(f.Lists, options.Rules{}); err != nil {
				return err
			}
			return f.mount(c.Context(), c.OutOrStdout(), args[0], args[1], log)
		},
	}
	f.Add(c.Flags())
	cli.AddJSON(c, &f.AsJSON, cli.OneObject+", as lorefs status does, once the mount can be used")
	_ = c.RegisterFlagCompletionFunc("options", help.CompleteListed(f.Source.Known)) // it has none yet
	return c
}

// mount mounts in the foreground or, by starting this program again, in the background.
func (f *mountCommand) mount(ctx context.Context, out io.Writer, source, dir string, log *slog.Logger) error {
	if err := f.Source.Check(); err != nil {
		return err
	}
	if err := options.CheckQuality(f.Quality); err != nil {
		return err
	}
	if f.Idle < 0 {
		return cli.UsageErrorf("--idle %v: want a time such as 15m", f.Idle)
	}
	for _, name := range []string{"no-backup", "quality"} {
		if f.Source.Given(name) && !f.ReadWrite {
			return cli.UsageErrorf("--%s goes with --rw: nothing is written without it", name)
		}
	}
	parent, isChild := daemon.FromParent()
	if !isChild && !f.Foreground {
		if err := mountInBackground(source); err != nil || !f.AsJSON {
			return err
		}
		m, err := reach.MountAt(dir)
		if err != nil {
			return err
		}
		s, err := reach.AskStatus(m)
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
func (f *mountCommand) serve(ctx context.Context, out io.Writer, source, dir string, parent *daemon.Parent, log *slog.Logger) (err error) {
	var made []string
	if f.Mkdir {
		var makeErr error
		made, makeErr = daemon.MakeFolders(dir)
		defer func() { err = errors.Join(err, daemon.RemoveFolders(made)) }()
		if makeErr != nil {
			return &cli.Error{Code: cli.ExitMountpoint, Err: fmt.Errorf("mount point %s: %w", dir, makeErr)}
		}
	}
	m, err := f.prepare(ctx, source, dir, log)
	if err != nil {
		return err
	}
	m.made = made
	if m.parent = parent; parent == nil && f.AsJSON {
		m.ready = func(s *mounted.Status) error { return jsonout.Object(out, s) }
	}
	return m.serve(ctx)
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
func (f *mountCommand) prepare(ctx context.Context, source, dir string, log *slog.Logger) (*mounting, error) {
	m := &mounting{flags: &f.MountFlags, log: log}
	var err error
	if m.source, err = origin.Abs(source); err != nil {
		return nil, err
	}
	if m.dir, err = daemon.Name(dir); err != nil {
		return nil, &cli.Error{Code: cli.ExitMountpoint, Err: err}
	}
	k, err := f.Source.KindOf(ctx, source, log)
	if errors.Is(err, kinds.ErrUnknown) && isFile(dir) {
		return nil, &cli.Error{Code: cli.ExitUnknown, Err: err, Hint: "SOURCE comes first: did you swap it and MOUNTPOINT?"}
	}
	if err != nil {
		return nil, reach.ExplainInside(source, err)
	}
	if m.options, err = f.Source.Chosen(k.Name); err != nil {
		return nil, err
	}
	if f.ReadWrite {
		delete(m.options, "layout") // it is the one to write
	}
	if err := options.CheckQuality(f.Quality); err != nil { // also that of a setting
		return nil, err
	}
	err = checkUnserved(m.dir)
	if err == nil {
		err = fs.CheckMountpoint(m.dir, localSource(m.source))
	}
	if errors.Is(err, fs.ErrNoMountpoint) {
		return nil, &cli.Error{Code: cli.ExitMountpoint, Err: err, Hint: "--mkdir makes it"}
	}
	if err != nil {
		return nil, &cli.Error{Code: cli.ExitMountpoint, Err: err}
	}
	if f.LogFile == "" {
		return m, nil
	}
	m.logFile, err = links.OpenLog(f.LogFile, 0o600)
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

// mounting is a mount before it is served.
type mounting struct {
	flags *options.MountFlags
	log   *slog.Logger
	// source and dir are absolute.
	source, dir string
	// options are those of the source that are not their defaults.
	options map[string][]string
	// made are the folders that --mkdir has made, the lowest first.
	made    []string
	logFile *os.File
	// parent is the process that waits for a mount in the background, or nil.
	parent *daemon.Parent
	// ready is called once the mount can be used; it may be nil.
	ready func(*mounted.Status) error
}

// serve mounts, and returns when the mount is gone.
func (m *mounting) serve(ctx context.Context) error {
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, cli.StopSignals...)
	budget.Mount(int64(m.flags.Source.CacheSize))
	mount, err := m.start(ctx)
	if err != nil {
		return err
	}
	defer mount.Close()
	c, err := mount.Listen()
	if err != nil {
		m.log.Warn("status and unmount will not find this mount, and umount(8) ends it: "+
			"set XDG_STATE_HOME to a folder of yours, or unset it", "err", err)
	}
	if err := m.parent.Ready(m.logFile); err != nil {
		// The user has given up waiting.
		return errors.Join(err, mount.Unmount())
	}
	if m.ready != nil {
		if err := m.ready(mount.Status()); err != nil {
			return errors.Join(err, mount.Unmount())
		}
	}
	m.log.Info("mounted", "source", origin.Shown(m.source), "mountpoint", m.dir)
	budget.Served()
	go func() {
		if err := mount.Prepare(ctx); err != nil {
			m.log.Debug("what reads need could not be fetched ahead", "err", err)
		}
	}()
	if m.flags.Idle > 0 {
		watching, enough := context.WithCancel(ctx)
		defer enough()
		go mount.UnmountIdle(watching, m.flags.Idle)
	}
	if m.parent == nil {
		daemon.TellServing(m.log, m.dir)
	}
	mount.UntilGone(signals)
	if m.parent == nil {
		saving, saved := context.WithCancel(ctx)
		defer saved()
		go daemon.TellSaving(saving, m.log)
	}
	m.log.Info("unmounted", "mountpoint", m.dir)
	err = mount.Save(context.WithoutCancel(ctx))
	return errors.Join(err, c.Close())
}

// start opens the source and mounts it, unless a signal comes first.
func (m *mounting) start(ctx context.Context) (_ *mounted.Mount, err error) {
	ctx, stop := cli.UntilSignal(ctx, cli.StopSignals...)
	defer stop()
	defer func() { err = cli.Interrupted(ctx, err) }()
	p := m.progress(stop)
	flags := &m.flags.Source
	flags.Follow = true
	if m.flags.ReadWrite {
		flags = flags.Reading()
	}
	s, err := reach.OpenSource(ctx, m.source, flags, m.log, p.Set)
	p.Finish()
	if err != nil {
		return nil, err
	}
	reach.TellNames(os.Stderr, m.log, s, "/")
	s.Outlive()
	if m.flags.ReadWrite {
		if err := daemon.TakeOver(ctx, func() error { return m.edit(ctx, s) }); err != nil {
			return nil, errors.Join(err, s.Close())
		}
	}
	server, err := fs.Mount(ctx, m.dir, s.Tree, fs.Options{
		FsName: origin.Shown(m.source), AllowOther: m.flags.AllowOther, ReadWrite: m.flags.ReadWrite, Logger: m.log,
		UID: m.flags.UID.Value, GID: m.flags.GID.Value, Umask: m.flags.Umask.Value,
		PrimeMax: s.QuickFiles(),
	})
	if err != nil {
		return nil, errors.Join(&cli.Error{Code: cli.ExitMountpoint, Err: err}, s.Close())
	}
	return mounted.New(s, server, mounted.Options{
		Path: origin.Shown(m.source), Dir: m.dir, Made: m.made, Logger: m.log,
		Opened: mounted.Opened{Source: m.source, Options: m.options},
		Tell:   cli.ErrorText, Code: cli.ExitCode,
	}), nil
}

// edit makes the source editable.
func (m *mounting) edit(ctx context.Context, s *kinds.Source) error {
	layout, err := options.ParseLayout(m.flags.Source.Layout)
	if err != nil {
		return err
	}
	err = reach.MakeEditable(ctx, s, kinds.EditOptions{
		Layout: layout, NoBackup: m.flags.NoBackup, Quality: m.flags.Quality, Logger: m.log,
	})
	for _, e := range s.Sessions {
		if e.Replayed() > 0 {
			m.log.Warn("edits of an earlier mount that were not saved are back",
				"edits", e.Replayed(), "journal", e.Journal())
		}
	}
	return err
}

// mountInBackground mounts by starting this program again.
func mountInBackground(source string) error {
	p := cli.NewProgress(reach.Opening(source))
	defer p.Finish()
	err := daemon.Start(shownArgs(daemon.Args()), p.Set, cli.StopSignals...)
	if f, ok := errors.AsType[*daemon.Failure](err); ok {
		return &cli.Error{Code: f.Code, Err: f}
	}
	return err
}

// shownArgs returns arguments without what is secret in the URLs of sources: a mount may run for
// days, and every user sees the arguments of its process.
func shownArgs(args []string) []string {
	all := slices.Clone(args)
	for i, arg := range all {
		all[i] = origin.Shown(arg)
		if option, value, ok := strings.Cut(arg, "="); ok && origin.IsRemote(value) {
			all[i] = option + "=" + origin.Shown(value)
		}
	}
	return all
}

// toldParent passes an error to the parent, which prints it. If the parent is gone, the
// error goes to the log.
func toldParent(parent *daemon.Parent, err error) error {
	if err == nil {
		return nil
	}
	code := cli.ExitCode(err)
	if parent.Failed(code, cli.ErrorText(err)) != nil {
		return err
	}
	return &cli.Error{Code: code}
}

// parentProgress is progress that the parent shows.
type parentProgress func(done, total int64)

func (p parentProgress) Set(done, total int64) { p(done, total) }
func (parentProgress) Finish()                 {}

// progress returns the progress of mounting, shown here or by the parent. gone is called if
// the parent has died.
func (m *mounting) progress(gone func()) cli.Progress {
	if m.parent == nil {
		return cli.NewProgress(reach.Opening(m.source))
	}
	return parentProgress(m.parent.Progress(gone))
}
