package main

import (
	"errors"

	"lorefs/internal/daemon"
)

// mountInBackground mounts by starting this program anew.
func mountInBackground() error {
	p := newProgress("inflating")
	defer p.finish()
	err := daemon.Start(p.set, stopSignals...)
	if f, ok := errors.AsType[*daemon.Failure](err); ok {
		return &commandError{code: f.Code, err: f}
	}
	return err
}

// toldParent hands an error to the parent, which prints it. When nobody waits any more, it
// goes to the log.
func toldParent(parent *daemon.Parent, err error) error {
	if err == nil {
		return nil
	}
	code := exitCode(err)
	if parent.Failed(code, errorText(err)) != nil {
		return err
	}
	return &commandError{code: code}
}

// parentProgress is shown by the parent.
type parentProgress func(done, total int64)

func (p parentProgress) set(done, total int64) { p(done, total) }
func (parentProgress) finish()                 {}

// progress shows how far the mount is, here or at the parent's. gone is called if the
// parent has died.
func (m *mounting) progress(gone func()) progress {
	if m.parent == nil {
		return newProgress("inflating")
	}
	return parentProgress(m.parent.Progress(gone))
}
