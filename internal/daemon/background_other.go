//go:build !unix

package daemon

import (
	"fmt"
	"os"
	"runtime"
)

// Start is what every mount comes to on a system without FUSE.
func Start(func(done, total int64), ...os.Signal) error {
	return fmt.Errorf("mounting is not supported on %s; ls, cat, info and verify work", runtime.GOOS)
}

// Parent is never there: nothing goes to the background here.
type Parent struct{}

// FromParent says so.
func FromParent() (*Parent, bool) { return nil, false }

// Progress is not called.
func (*Parent) Progress(func()) func(done, total int64) { return func(int64, int64) {} }

// Ready has nobody to tell.
func (*Parent) Ready(*os.File) error { return nil }

// Failed is not called.
func (*Parent) Failed(int, string) error { return nil }
