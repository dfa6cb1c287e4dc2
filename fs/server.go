//go:build linux || darwin || freebsd

package fs

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	fusefs "github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"

	"lorefs/nodes"
)

const (
	// cacheTimeout is how long the kernel may use what it was told of a tree
	// that does not change.
	cacheTimeout = 24 * time.Hour
	// maxRequest is the size of the largest READ, the most that Linux allows.
	maxRequest = 1 << 20
)

// Server is a mounted tree. Its methods may be called from many goroutines.
type Server struct {
	dir  string
	m    *mount
	fuse *fuse.Server
	// done is closed when the mount is gone and everything has ended.
	done chan struct{}
}

// Mount mounts tree on dir and returns when it can be used; ctx is for the way
// there, not for the mount's life. The caller has to have called [CheckMountpoint].
func Mount(ctx context.Context, dir string, tree nodes.Tree, o Options) (*Server, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	o = o.withDefaults()
	attr, err := tree.Attr(ctx, nodes.Root)
	if err != nil {
		return nil, fmt.Errorf("mount on %s: %w", dir, err)
	}
	if attr.Kind != nodes.Dir {
		return nil, fmt.Errorf("mount on %s: the root is no directory", dir)
	}
	m := newMount(tree, o)
	f := newFront(m, o)
	server, err := fuse.NewServer(f, dir, &mountOptions(m, o).MountOptions)
	if err != nil {
		return nil, fmt.Errorf("mount on %s: %w", dir, err)
	}
	s := &Server{dir: dir, m: m, fuse: server, done: make(chan struct{})}
	go func() {
		defer close(s.done)
		server.Serve()
	}()
	if err := server.WaitMount(); err != nil {
		return nil, fmt.Errorf("mount on %s: %w", dir, err)
	}
	setReadAhead(dir, o.Logger)
	return s, nil
}

func newMount(tree nodes.Tree, o Options) *mount {
	m := &mount{
		tree:  tree,
		uid:   uint32(os.Getuid()),
		gid:   uint32(os.Getgid()),
		usage: tree.Usage(),
	}
	if x, ok := tree.(nodes.Xattrer); ok && !o.NoXattr {
		m.xattrs = x
	}
	m.errors.logger = o.Logger
	m.inodes.init(o.MaxInodes)
	m.primer.init(o.NoPrime)
	return m
}

func newFront(m *mount, o Options) *front {
	return &front{
		RawFileSystem: fusefs.NewNodeFS(&node{m: m}, mountOptions(m, o)),
		m:             m,
		stop:          make(chan struct{}),
	}
}

func mountOptions(m *mount, o Options) *fusefs.Options {
	timeout := cacheTimeout
	fo := &fusefs.Options{
		EntryTimeout:    &timeout,
		AttrTimeout:     &timeout,
		NegativeTimeout: &timeout,
		RootStableAttr:  &fusefs.StableAttr{Ino: uint64(nodes.Root)},
		// The kernel's numbers are the tree's, so that a number is enough to
		// list, prime and drop a node.
		ExternalNodeID: true,
	}
	fo.AllowOther = o.AllowOther
	fo.FsName = o.FsName
	fo.Name = fsType
	fo.MaxWrite = maxRequest
	fo.DisableXAttrs = m.xattrs == nil
	fo.ExplicitDataCacheControl = true
	fo.ExtraCapabilities = extraCapabilities
	fo.Debug = o.Debug
	level := slog.LevelWarn // go-fuse says nothing unless something is odd
	if o.Debug {
		level = slog.LevelDebug
	}
	fo.MountOptions.Logger = slog.NewLogLogger(o.Logger.Handler(), level)
	fo.PanicHandler = func(p any) fuse.Status {
		o.Logger.Error("internal error: panic while serving a request", "panic", p, "stack", string(debug.Stack()))
		return fuse.EIO
	}
	fo.Options = []string{"ro", "nosuid", "nodev"}
	if o.AllowOther {
		fo.Options = append(fo.Options, "default_permissions")
	}
	setDirectMount(&fo.MountOptions)
	return fo
}

// Dir is where the tree is mounted.
func (s *Server) Dir() string { return s.dir }

// Wait returns when the mount is gone, whoever unmounted it.
func (s *Server) Wait() { <-s.done }

// Unmount unmounts, and returns when that is done. While files are open or
// somebody is in the mount, it returns an error that matches [syscall.EBUSY] and
// goes on serving.
func (s *Server) Unmount() error {
	err := s.fuse.Unmount()
	if err == nil {
		<-s.done
		return nil
	}
	select {
	case <-s.done: // somebody else has unmounted it
		return nil
	default:
	}
	if errors.Is(err, syscall.EBUSY) || strings.Contains(err.Error(), "busy") {
		err = syscall.EBUSY
	}
	return fmt.Errorf("unmount %s: %w", s.dir, err)
}

// Stats returns the counters as they are now.
func (s *Server) Stats() Stats { return s.m.stats() }

func (m *mount) stats() Stats {
	st := m.counters.stats()
	st.Inodes = m.inodes.len()
	st.Errors = m.errors.total.Load()
	st.LastErrors = m.errors.records()
	return st
}
