//go:build !unix

package daemon

import (
	"fmt"
	"os"
	"runtime"
)

// Args returns the arguments of the program.
func Args() []string { return os.Args }

// Start fails, because this system has no FUSE.
func Start([]string, func(done, total int64), ...os.Signal) error {
	return fmt.Errorf("mounting is not supported on %s; ls, cat, info and verify work", runtime.GOOS)
}

// Parent does not exist here: nothing goes to the background.
type Parent struct{}

// FromParent returns false.
func FromParent() (*Parent, bool) { return nil, false }

// Progress is not called.
func (*Parent) Progress(func()) func(done, total int64) { return func(int64, int64) {} }

// Ready does nothing.
func (*Parent) Ready(*os.File) error { return nil }

// Failed is not called.
func (*Parent) Failed(int, string) error { return nil }
