//go:build !linux && !darwin && !freebsd

package fs

import (
	"context"
	"fmt"
	"runtime"

	"lorefs/nodes"
)

// Server is a mounted tree; there is none on this system.
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

// Stats returns the counters as they are now.
func (*Server) Stats() Stats { return Stats{} }

// Detach is not supported on this system.
func Detach(string) error { return errUnsupported() }

// Probe knows no mounts here.
func Probe(string) error { return nil }

// MayUnmount is left to the system here.
func MayUnmount(string) bool { return true }

// Clear has nothing to do here.
func Clear(string) error { return nil }

func isOurs(string) bool { return false }

func checkUserMayMount(string) error { return nil }
