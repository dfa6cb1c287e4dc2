//go:build linux || darwin || freebsd

package fs

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fuse"

	"lorefs/nodes"
)

// xattrPrefix begins the names of all attributes of a tree.
const xattrPrefix = "user.lorefs."

func (m *mount) setsXattrs() bool { return m.edits != nil && m.edits.setter != nil }

// Getxattr asks the tree only for its own attributes, unless it accepts others. For names
// outside of user.* it returns "not supported" rather than "does not exist", because ls(1)
// takes that as an answer for the whole mount and stops asking for each file.
func (n *node) Getxattr(ctx context.Context, name string, dest []byte) (uint32, syscall.Errno) {
	switch {
	case n.m.xattrs == nil || !strings.HasPrefix(name, "user."):
		return 0, syscall.ENOTSUP
	case !strings.HasPrefix(name, xattrPrefix) && !n.m.setsXattrs():
		return 0, syscall.Errno(fuse.ENOATTR)
	}
	value, err := n.m.xattrs.Xattr(ctx, n.id(), name)
	if err != nil {
		return 0, n.fail("getxattr", fmt.Errorf("%s: %w", name, err))
	}
	if len(value) > len(dest) {
		return uint32(len(value)), syscall.ERANGE
	}
	return uint32(copy(dest, value)), 0
}

// xattrAsker decides how a read-only mount without attributes answers who asks for one. After ENOSYS
// the kernel never asks again, and tells programs that no file has any access list. So ls -l would
// make a system call for each file. After "not supported" it makes none, but a program that is not
// content with that, such as cp -a, sends a request for each file.
type xattrAsker struct {
	// last has the number of the thread that asked last, and in the lower half how many times in a
	// row it has.
	last atomic.Uint64
}

// asksForEach reports whether a thread has asked more often than one that is content.
func (a *xattrAsker) asksForEach(thread uint32) bool {
	const content = 4 // ls asks for a label, capabilities and access lists
	times := uint64(1)
	if last := a.last.Load(); uint32(last>>32) == thread {
		times += uint64(uint32(last))
	}
	a.last.Store(uint64(thread)<<32 | times)
	return times > content
}

func (n *node) Listxattr(ctx context.Context, dest []byte) (uint32, syscall.Errno) {
	if n.m.xattrs == nil {
		return 0, 0
	}
	names, err := n.m.xattrs.Xattrs(ctx, n.id())
	if err != nil {
		return 0, n.fail("listxattr", err)
	}
	size := 0
	for _, name := range names {
		size += len(name) + 1
	}
	if size > len(dest) {
		return uint32(size), syscall.ERANGE
	}
	for _, name := range names {
		dest = dest[copy(dest, name):]
		dest[0] = 0
		dest = dest[1:]
	}
	return uint32(size), 0
}

const (
	xattrCreate  = 1
	xattrReplace = 2
)

// Setxattr refuses names outside of user.*: cp -a and sed -i try to copy access lists and
// labels, and go on without them.
func (n *node) Setxattr(ctx context.Context, name string, value []byte, flags uint32) syscall.Errno {
	if !n.m.setsXattrs() || !strings.HasPrefix(name, "user.") {
		return syscall.ENOTSUP
	}
	ctx = context.WithoutCancel(ctx)
	if flags != 0 && n.m.xattrs != nil {
		_, err := n.m.xattrs.Xattr(ctx, n.id(), name)
		if err == nil && flags == xattrCreate {
			return syscall.EEXIST
		}
		if err != nil && (flags == xattrReplace || !errors.Is(err, nodes.ErrNoXattr)) {
			return n.fail("setxattr", fmt.Errorf("%s: %w", name, err))
		}
	}
	if err := n.m.edits.setter.SetXattr(ctx, n.id(), name, value); err != nil {
		return n.failChange("setxattr", n.path(), fmt.Errorf("%s: %w", name, err))
	}
	return 0
}

// Removexattr removes an attribute, with the same rules.
func (n *node) Removexattr(ctx context.Context, name string) syscall.Errno {
	if !n.m.setsXattrs() || !strings.HasPrefix(name, "user.") {
		return syscall.ENOTSUP
	}
	if err := n.m.edits.setter.RemoveXattr(context.WithoutCancel(ctx), n.id(), name); err != nil {
		return n.failChange("removexattr", n.path(), fmt.Errorf("%s: %w", name, err))
	}
	return 0
}
