//go:build !linux && !darwin && !freebsd

package fs

import (
	"context"
	"fmt"
	"runtime"

	"lorefs/nodes"
)

// Server is a mounted tree. There is none on this system.
type Server struct{}

func errUnsupported() error {
	return fmt.Errorf("mounting is not supported on %s", runtime.GOOS)
}

// Mount is not supported on this system.
func Mount(context.Context, string, nodes.Tree, Options) (*Server, error) {
	return nil, errUnsupported()
}

// Dir returns where the tree is mounted.
func (*Server) Dir() string { return "" }

// Wait returns when the mount is gone.
func (*Server) Wait() {}

// Unmount unmounts.
func (*Server) Unmount() error { return errUnsupported() }

// MarkUnused does nothing.
func (*Server) MarkUnused() error { return errUnsupported() }

// Expire unmounts.
func (*Server) Expire() error { return errUnsupported() }

// Settle does nothing.
func (*Server) Settle(context.Context) {}

// Stats returns the counters as they are now.
func (*Server) Stats() Stats { return Stats{} }

// Detach is not supported on this system.
func Detach(string) error { return errUnsupported() }

// Probe returns nil: there are no mounts here.
func Probe(string) error { return nil }

// MayUnmount returns true and leaves the check to the system.
func MayUnmount(string) bool { return true }

// Clear does nothing here.
func Clear(string) error { return nil }

func isOurs(string) bool { return false }

func checkUserMayMount(string) error { return nil }
