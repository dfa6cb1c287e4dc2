//go:build !unix

package main

import (
	"fmt"
	"os"
	"runtime"
)

// startBackground is what every mount comes to on a system without FUSE.
func startBackground() error {
	return fmt.Errorf("mounting is not supported on %s; ls, cat, info and verify work", runtime.GOOS)
}

// parent has no meaning here; its methods do what they do for a mount in front.
type parent struct{}

func backgroundParent() (*parent, bool)  { return nil, false }
func (*parent) progress(func()) progress { return newProgress("inflating") }
func (*parent) ready(*os.File) error     { return nil }
func (*parent) failed(err error) error   { return err }
