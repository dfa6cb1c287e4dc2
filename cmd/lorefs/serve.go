package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	systemd "github.com/coreos/go-systemd/v22/daemon"

	"lorefs/cmd/internal/budget"
	"lorefs/cmd/internal/daemon"
	"lorefs/cmd/internal/kinds"
	"lorefs/cmd/internal/mounted"
	"lorefs/fs"
	"lorefs/internal/origin"
)

// stopSignals are the signals that end a mount.
var stopSignals = []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP}

// mounting is a mount before it is served.
type mounting struct {
	flags *mountFlags
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
	signal.Notify(signals, stopSignals...)
	budget.Mount(int64(m.flags.source.cacheSize))
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
	if m.flags.idle > 0 {
		watching, enough := context.WithCancel(ctx)
		defer enough()
		go mount.UnmountIdle(watching, m.flags.idle)
	}
	if m.parent == nil {
		tellManager(m.log, systemd.SdNotifyReady+"\nSTATUS=serves "+m.dir)
	}
	mount.UntilGone(signals)
	if m.parent == nil {
		saving, saved := context.WithCancel(ctx)
		defer saved()
		go tellSaving(saving, m.log)
	}
	m.log.Info("unmounted", "mountpoint", m.dir)
	err = mount.Save(context.WithoutCancel(ctx))
	return errors.Join(err, c.Close())
}

// start opens the source and mounts it, unless a signal comes first.
func (m *mounting) start(ctx context.Context) (_ *mounted.Mount, err error) {
	ctx, stop := untilSignal(ctx, stopSignals...)
	defer stop()
	defer func() { err = interrupted(ctx, err) }()
	p := m.progress(stop)
	flags := &m.flags.source
	flags.follow = true
	if m.flags.readWrite {
		flags = flags.reading()
	}
	s, err := openSource(ctx, m.source, flags, m.log, p.set)
	p.finish()
	if err != nil {
		return nil, err
	}
	tellNames(os.Stderr, m.log, s, "/")
	s.Outlive()
	if m.flags.readWrite {
		if err := daemon.TakeOver(ctx, func() error { return m.edit(ctx, s) }); err != nil {
			return nil, errors.Join(err, s.Close())
		}
	}
	server, err := fs.Mount(ctx, m.dir, s.Tree, fs.Options{
		FsName: origin.Shown(m.source), AllowOther: m.flags.allowOther, ReadWrite: m.flags.readWrite, Logger: m.log,
		UID: m.flags.uid.value, GID: m.flags.gid.value, Umask: m.flags.umask.value,
		PrimeMax: s.QuickFiles(),
	})
	if err != nil {
		return nil, errors.Join(&commandError{code: exitMountpoint, err: err}, s.Close())
	}
	return mounted.New(s, server, mounted.Options{
		Path: origin.Shown(m.source), Dir: m.dir, Made: m.made, Logger: m.log,
		Opened: mounted.Opened{Source: m.source, Options: m.options},
		Tell:   errorText, Code: exitCode,
	}), nil
}

// edit makes the source editable.
func (m *mounting) edit(ctx context.Context, s *kinds.Source) error {
	layout, err := parseLayout(m.flags.source.layout)
	if err != nil {
		return err
	}
	err = makeEditable(ctx, s, kinds.EditOptions{
		Layout: layout, NoBackup: m.flags.noBackup, Quality: m.flags.quality, Logger: m.log,
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
	p := newProgress(opening(source))
	defer p.finish()
	err := daemon.Start(shownArgs(daemon.Args()), p.set, stopSignals...)
	if f, ok := errors.AsType[*daemon.Failure](err); ok {
		return &commandError{code: f.Code, err: f}
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
	code := exitCode(err)
	if parent.Failed(code, errorText(err)) != nil {
		return err
	}
	return &commandError{code: code}
}

// parentProgress is progress that the parent shows.
type parentProgress func(done, total int64)

func (p parentProgress) set(done, total int64) { p(done, total) }
func (parentProgress) finish()                 {}

// progress returns the progress of mounting, shown here or by the parent. gone is called if
// the parent has died.
func (m *mounting) progress(gone func()) progress {
	if m.parent == nil {
		return newProgress(opening(m.source))
	}
	return parentProgress(m.parent.Progress(gone))
}
