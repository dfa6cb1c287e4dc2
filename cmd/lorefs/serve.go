package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
	"time"

	"lorefs/fs"
	"lorefs/internal/daemon"
	"lorefs/internal/kinds"
)

// baseMemory is what a mount needs besides its cache: the names, the index,
// the inodes that the kernel knows, and room for requests.
const baseMemory = 92 << 20

// stopSignals ask a mount to end.
var stopSignals = []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP}

// mounting is a mount from its command to its end.
type mounting struct {
	flags *mountFlags
	log   *slog.Logger
	// source and dir are absolute.
	source, dir string
	logFile     *os.File
	// parent waits for the mount if it is in the background, else it is nil.
	parent *daemon.Parent

	since  time.Time
	opened *kinds.Source
	server *fs.Server
	served *daemon.Served
	// saves is what the commits and the last save have come to.
	saves saves
}

// serve mounts and returns when the mount is gone.
func (m *mounting) serve(ctx context.Context) error {
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, stopSignals...)
	// The collector keeps to it by working more, where it would otherwise let
	// garbage pile up to the size of the cache.
	debug.SetMemoryLimit(int64(m.flags.source.cacheSize) + baseMemory)
	if err := m.start(ctx); err != nil {
		return err
	}
	defer m.opened.Close()
	c, err := m.listen()
	if err != nil {
		m.log.Warn("lorefs status will not find this mount", "err", err)
	}
	if err := m.parent.Ready(m.logFile); err != nil {
		// Nobody waits any more: the user has given up.
		return errors.Join(err, m.server.Unmount())
	}
	debug.FreeOSMemory() // the first pass leaves much behind
	m.served.UntilGone(signals)
	err = m.save(context.WithoutCancel(ctx))
	return errors.Join(err, c.Close(answerOf(m.saves.last(), m.opened.LeftOut(), err).frames()...))
}

// start opens the source and mounts it, unless a signal comes first.
func (m *mounting) start(ctx context.Context) (err error) {
	ctx, stop := signal.NotifyContext(ctx, stopSignals...)
	defer stop()
	defer func() { err = interrupted(ctx, err) }()
	p := m.progress(stop)
	flags := &m.flags.source
	if m.flags.readWrite {
		flags = flags.reading()
	}
	m.opened, err = openSource(ctx, m.source, flags, m.log, p.set)
	p.finish()
	if err != nil {
		return err
	}
	if m.flags.readWrite {
		if err := daemon.TakeOver(ctx, func() error { return m.edit(ctx) }); err != nil {
			return errors.Join(err, m.opened.Close())
		}
	}
	m.server, err = fs.Mount(ctx, m.dir, m.opened.Tree, fs.Options{
		FsName: m.source, AllowOther: m.flags.allowOther, ReadWrite: m.flags.readWrite, Logger: m.log,
	})
	if err != nil {
		return errors.Join(&commandError{code: exitMountpoint, err: err}, m.opened.Close())
	}
	m.since, m.served = time.Now(), daemon.NewServed(m.server, m.dir, m.log)
	return nil
}
