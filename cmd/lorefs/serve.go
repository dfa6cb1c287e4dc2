package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"os/signal"
	"runtime/debug"
	"sync"
	"syscall"
	"time"

	"lorefs/fs"
	"lorefs/internal/filelock"
)

const (
	// baseMemory is what a mount needs besides its cache: the names, the index,
	// the inodes that the kernel knows, and room for requests.
	baseMemory = 92 << 20
	// retryEvery is how often a busy mount is tried again after a signal.
	retryEvery = time.Second
)

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
	parent *parent
	// mounted, if it is set, is called when the mount can be used.
	mounted func() error

	since  time.Time
	opened *opened
	server *fs.Server
	// stopping makes attempts to unmount wait for each other.
	stopping sync.Mutex
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
	if err := m.parent.ready(m.logFile); err != nil {
		// Nobody waits any more: the user has given up.
		return errors.Join(err, m.server.Unmount())
	}
	if m.mounted != nil {
		if err := m.mounted(); err != nil {
			return errors.Join(err, m.server.Unmount())
		}
	}
	debug.FreeOSMemory() // the first pass leaves much behind
	m.untilGone(signals)
	err = m.save(context.WithoutCancel(ctx))
	return errors.Join(err, c.close(answerOf(m.saves.last(), m.opened.leftOut(), err)))
}

// start opens the source and mounts it, unless a signal comes first.
func (m *mounting) start(ctx context.Context) (err error) {
	ctx, stop := signal.NotifyContext(ctx, stopSignals...)
	defer stop()
	defer func() { err = interrupted(ctx, err) }()
	p := m.parent.progress(stop)
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
		if err := m.takeOver(ctx); err != nil {
			return errors.Join(err, m.opened.Close())
		}
	}
	m.server, err = fs.Mount(ctx, m.dir, m.opened.tree, fs.Options{
		FsName: m.source, AllowOther: m.flags.allowOther, ReadWrite: m.flags.readWrite, Logger: m.log,
	})
	if err != nil {
		return errors.Join(&commandError{code: exitMountpoint, err: err}, m.opened.Close())
	}
	m.since = time.Now()
	return nil
}

// takeOver begins to edit. A process that was killed has its locks until it has ended,
// which may be some time after its mount has gone, and is waited for.
func (m *mounting) takeOver(ctx context.Context) error {
	for began := time.Now(); ; {
		err := m.edit(ctx)
		held, known := errors.AsType[*filelock.HeldError](err)
		switch waited := time.Since(began); {
		case known && isDying(held.PID) && waited < endTimeout:
		case !known && errors.Is(err, filelock.ErrLocked) && waited < stayTime:
			// Of its locks, one goes after the other.
		default:
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(dyingPoll):
		}
	}
}

// untilGone returns when the mount is gone, whoever unmounted it. The first
// signal asks for it until it is granted, the second insists.
func (m *mounting) untilGone(signals <-chan os.Signal) {
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		m.server.Wait()
	}()
	var again <-chan time.Time
	asked := false
	for {
		select {
		case <-gone:
			return
		case <-signals:
			if asked {
				again = nil
				m.insist()
				continue
			}
			asked = true
		case <-again:
		}
		again = m.ask(again == nil)
	}
}

// ask unmounts, or tells when to try again. Why is said the first time only.
func (m *mounting) ask(first bool) <-chan time.Time {
	err := m.unmount(false)
	if err == nil {
		return nil
	}
	if first {
		m.log.Warn("can't unmount yet, trying on; a second signal detaches the mount", "mountpoint", m.dir, "err", err)
	}
	return time.After(retryEvery)
}

func (m *mounting) insist() {
	if err := m.unmount(true); err != nil {
		m.log.Error("can't detach the mount", "mountpoint", m.dir, "err", err)
	}
}

// unmount takes the mount away, or with lazy only out of sight: what is open
// stays so until it is closed.
func (m *mounting) unmount(lazy bool) error {
	m.stopping.Lock()
	defer m.stopping.Unlock()
	if lazy {
		return fs.Detach(m.dir)
	}
	return m.server.Unmount()
}
