//go:build linux || darwin || freebsd

package fs

import (
	"context"
	"errors"
	"fmt"
	iofs "io/fs"
	"log/slog"
	"os"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	fusefs "github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"

	"lorefs/nodes"
)

const (
	// cacheTimeout is how long the kernel may cache answers.
	cacheTimeout = 24 * time.Hour
	// maxRequest is the size of the largest READ, the most that Linux allows.
	maxRequest = 1 << 20
	// maxBackground is how many requests of read-ahead may wait, and so for how many
	// readers Linux reads ahead. With its default of 12 and more than 9 readers it asks for
	// one page at a time: a small file then takes twenty requests that each wait their
	// turn.
	maxBackground = 64
)

// Server is a mounted tree. Its methods are safe for parallel use.
type Server struct {
	dir string
	// dev is the mount's device number.
	dev uint64
	m   *mount
	// done is closed when the mount is gone and everything has ended.
	done chan struct{}
	// unmounting is held by Unmount and Expire.
	unmounting sync.Mutex
	// marked has the value of Used when MarkUnused was called last.
	marked atomic.Uint64
}

// Mount mounts tree on dir and returns when it can be used. ctx is only for mounting, not
// for the mount's life. Mount repeats the checks of [CheckMountpoint].
func Mount(ctx context.Context, dir string, tree nodes.Tree, o Options) (*Server, error) {
	s, err := mountTree(ctx, dir, tree, o.withDefaults())
	if err != nil {
		return nil, fmt.Errorf("mount on %s: %w", dir, err)
	}
	return s, nil
}

func mountTree(ctx context.Context, dir string, tree nodes.Tree, o Options) (*Server, error) {
	w := watch(tree)
	edits, err := newEdits(tree, w, o)
	if err != nil {
		return nil, err
	}
	if err := checkRoot(ctx, tree); err != nil {
		return nil, err
	}
	dir, err = resolve(dir)
	if err != nil {
		return nil, reason(err)
	}
	if err := errors.Join(checkDir(dir), checkAllowOther(o)); err != nil {
		return nil, err
	}
	below, err := deviceOf(dir)
	if err != nil {
		return nil, err
	}
	m := newMount(tree, o)
	m.edits, m.watched = edits, w
	server, err := fuse.NewServer(newFront(m, o), dir, &mountOptions(m, o).MountOptions)
	if err != nil {
		return nil, errors.Join(mountError(err), clearDead(dir))
	}
	s := &Server{dir: dir, m: m, done: make(chan struct{})}
	go func() {
		defer close(s.done)
		server.Serve()
	}()
	if err = waitMount(server, o); err == nil {
		s.dev, err = deviceOf(dir)
	}
	if err != nil {
		return nil, errors.Join(err, s.abandon(below))
	}
	setReadAhead(s.dev, o.Logger)
	return s, nil
}

func checkRoot(ctx context.Context, tree nodes.Tree) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	attr, err := tree.Attr(ctx, nodes.Root)
	if err == nil && attr.Kind != nodes.Dir {
		return errors.New("the root is no directory")
	}
	return err
}

// mountError makes one line of go-fuse's error. The helper program writes its own to the
// standard error of the process.
func mountError(err error) error {
	if !strings.HasPrefix(err.Error(), "fusermount exited") {
		return err
	}
	return errors.New("the helper program fusermount3 refuses to mount; it says why on standard error")
}

// clearDead removes what a failed attempt to mount has left behind.
func clearDead(dir string) error {
	if errors.Is(Probe(dir), ErrDead) {
		return Detach(dir)
	}
	return nil
}

// abandon ends a mount that can't be used. below is the device number of dir before it.
func (s *Server) abandon(below uint64) error {
	if dev, err := deviceOf(s.dir); err != nil || dev != below {
		if err := Detach(s.dir); err != nil && !s.ended() {
			return err
		}
	}
	if !s.endsWithin(endTimeout) {
		return ErrDetached
	}
	return nil
}

// given returns what an option says, or its default.
func given(option *uint32, other uint32) uint32 {
	if option == nil {
		return other
	}
	return *option
}

func newMount(tree nodes.Tree, o Options) *mount {
	m := &mount{
		tree:  tree,
		uid:   given(o.UID, uint32(os.Getuid())),
		gid:   given(o.GID, uint32(os.Getgid())),
		umask: given(o.Umask, defaultUmask),
		usage: tree.Usage(),
	}
	if x, ok := nodes.Xattrs(tree); ok && !o.NoXattr {
		m.xattrs = x
	}
	m.root = &node{m: m}
	m.errors.logger = o.Logger
	m.inodes.init(o.MaxInodes)
	m.primer.init(&o)
	m.statefulDirs, m.byEntry = o.oldKernel, o.oldKernel
	return m
}

// panicked counts and logs a panic of the tree or of this package, which must not end the
// mount.
func (m *mount) panicked(what string, p any) {
	// What follows the first line of a panic is a stack, which is for the log.
	line, _, _ := strings.Cut(fmt.Sprint(p), "\n")
	m.errors.add(0, what, "", fmt.Errorf("internal error: panic: %s", line), plain)
	m.errors.logger.Error("internal error: panic while "+what, "panic", p, "stack", string(debug.Stack()))
}

// guard runs f and survives its panic. go-fuse does that only for requests.
func (m *mount) guard(what string, f func()) {
	defer func() {
		if p := recover(); p != nil {
			m.panicked(what, p)
		}
	}()
	f()
}

func newFront(m *mount, o Options) *front {
	f := &front{RawFileSystem: fusefs.NewNodeFS(m.root, mountOptions(m, o)), m: m}
	f.life, f.end = context.WithCancel(context.Background())
	return f
}

func mountOptions(m *mount, o Options) *fusefs.Options {
	timeout := cacheTimeout
	fo := &fusefs.Options{
		EntryTimeout:    &timeout,
		AttrTimeout:     &timeout,
		NegativeTimeout: &timeout,
		RootStableAttr:  &fusefs.StableAttr{Ino: uint64(nodes.Root)},
		// The kernel's numbers are the tree's, so that a number is enough to list, prime
		// and drop a node.
		ExternalNodeID: true,
	}
	// Otherwise go-fuse would give permissions to what the umask leaves without any.
	fo.NullPermissions = true
	fo.AllowOther = o.AllowOther
	fo.FsName = o.FsName
	fo.Name = fsType
	fo.MaxWrite = maxRequest
	fo.MaxBackground, fo.CongestionThreshold = maxBackground, maxBackground
	// A pipe has no room for a read of maxRequest, and go-fuse would log that each time.
	fo.DisableSplice = true
	// Without attributes each write would be preceded by a question for one of them.
	fo.DisableXAttrs = m.xattrs == nil && m.edits != nil
	fo.ExplicitDataCacheControl = true
	fo.ExtraCapabilities = extraCapabilities
	fo.Debug = o.Debug
	level := slog.LevelWarn // go-fuse logs only what is odd
	if o.Debug {
		level = slog.LevelDebug
	}
	fo.MountOptions.Logger = slog.NewLogLogger(o.Logger.Handler(), level)
	fo.PanicHandler = func(p any) fuse.Status {
		m.panicked("serving a request", p)
		return fuse.EIO
	}
	fo.Options = []string{"nosuid", "nodev"}
	if m.edits == nil {
		fo.Options = append(fo.Options, "ro")
	} else if !o.oldKernel {
		// A pinned file can be mapped as any other.
		fo.ExtraCapabilities |= fuse.CAP_ATOMIC_O_TRUNC | fuse.CAP_DIRECT_IO_ALLOW_MMAP
	}
	if m.watched != nil {
		// The tree may create names by itself. If only the directory is known and not the
		// name, the kernel can't be told to drop the missing name from its cache.
		fo.NegativeTimeout = nil
	}
	if o.AllowOther {
		fo.Options = append(fo.Options, "default_permissions")
	}
	setDirectMount(&fo.MountOptions, m.edits == nil)
	return fo
}

// Dir returns where the tree is mounted: an absolute path without symbolic links.
func (s *Server) Dir() string { return s.dir }

// Wait returns when the mount is gone, whoever unmounted it.
func (s *Server) Wait() { <-s.done }

func (s *Server) ended() bool {
	select {
	case <-s.done:
		return true
	default:
		return false
	}
}

func (s *Server) endsWithin(d time.Duration) bool {
	select {
	case <-s.done:
		return true
	case <-time.After(d):
		return false
	}
}

const (
	// endTimeout is how long an unmounted mount may take to end.
	endTimeout = 3 * time.Second
	// A mount may be busy for a moment though no program uses it: a process that begins another
	// program has its open files twice until that runs, and one that asks for the state of all
	// mounts holds each meanwhile. On a machine with too much to do such a moment takes long, so
	// that the last of the waits, of which each is twice as long as the one before, is half a second.
	unmountTries = 8
	unmountStep  = 8 * time.Millisecond
)

// Unmount unmounts and waits until that is done. If the mount is already gone it does
// nothing. While files are open or in use it returns an error that matches [syscall.EBUSY],
// and the mount goes on. It also goes on after an error that matches [ErrDetached].
func (s *Server) Unmount() error {
	s.unmounting.Lock()
	defer s.unmounting.Unlock()
	if s.ended() {
		return s.unmountDead()
	}
	if err := s.takeAway(); err != nil && !s.ended() {
		return fmt.Errorf("unmount %s: %w", s.dir, err)
	}
	if !s.endsWithin(endTimeout) {
		return fmt.Errorf("unmount %s: %w", s.dir, ErrDetached)
	}
	return nil
}

// MarkUnused is where the time begins that [Server.Expire] looks back on. While files are open
// or in use the error matches [syscall.EBUSY].
func (s *Server) MarkUnused() error {
	// The kernel forgets an earlier mark when somebody looks at the mount.
	if dev, err := deviceOf(s.dir); err != nil || dev != s.dev {
		return err // another mount is on top
	}
	st := s.Stats()
	s.marked.Store(st.Used())
	if st.Writers > 0 {
		return syscall.EBUSY
	}
	if err := systemExpire(s.dir); !errors.Is(err, syscall.EAGAIN) && !errors.Is(err, errNoExpiry) {
		return err
	}
	return nil
}

// Expire unmounts if nothing has used the mount since the last [Server.MarkUnused]; otherwise
// it returns [ErrUsed], or an error that matches [syscall.EBUSY] while files are open or in
// use. Only to root the kernel tells of uses that it served from its cache.
func (s *Server) Expire() error {
	st := s.Stats()
	if st.Used() != s.marked.Load() {
		return ErrUsed
	}
	err := s.expire()
	if errors.Is(err, errNoExpiry) {
		return s.Unmount()
	}
	return err
}

func (s *Server) expire() error {
	s.unmounting.Lock()
	defer s.unmounting.Unlock()
	if s.ended() {
		return nil
	}
	switch err := systemExpire(s.dir); {
	case errors.Is(err, syscall.EAGAIN):
		return ErrUsed
	case err != nil:
		return err
	case !s.endsWithin(endTimeout):
		return ErrDetached
	}
	return nil
}

// errNoExpiry means that the system does not know what is used, or does not tell this user.
var errNoExpiry = errors.New("the system tells nothing of the use of mounts")

// unmountDead is for a mount whose connection was aborted: it has no server any more, but
// still has its place.
func (s *Server) unmountDead() error {
	if dev, err := deviceOf(s.dir); err != nil || dev != s.dev {
		return nil //nolint:nilerr // it has gone
	}
	return clearDead(s.dir)
}

// takeAway unmounts what is at the mount's place, if that is the mount.
func (s *Server) takeAway() error {
	for try := 1; ; try++ {
		dev, err := deviceOf(s.dir)
		if errors.Is(err, iofs.ErrNotExist) || (err == nil && dev != s.dev) {
			return nil
		}
		if err == nil {
			err = systemUnmount(s.dir)
		}
		if !errors.Is(err, syscall.EBUSY) || try == unmountTries {
			return err
		}
		time.Sleep(unmountStep << (try - 1))
	}
}

// Settle waits until the kernel knows all that the tree has changed by itself so far, or until ctx
// or the mount ends. Whoever asks for such changes otherwise than through the mount sees them
// there afterwards.
func (s *Server) Settle(ctx context.Context) {
	if s.m.watched == nil {
		return
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	go func() {
		select {
		case <-s.done: // nothing is delivered any more
			stop()
		case <-ctx.Done():
		}
	}()
	s.m.watched.notices.settle(ctx.Done())
}

// Stats returns the counters as they are now.
func (s *Server) Stats() Stats { return s.m.stats() }

func (m *mount) stats() Stats {
	st := m.counters.stats()
	st.Inodes = m.inodes.len()
	if m.edits != nil {
		st.Writers = m.edits.open.len()
	}
	st.Errors, st.LastErrors = m.errors.records()
	return st
}
