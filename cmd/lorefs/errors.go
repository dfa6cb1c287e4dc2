package main

import (
	"cmp"
	"errors"
	"fmt"

	"lorefs/casc"
	"lorefs/internal/filelock"
	"lorefs/internal/journal"
	"lorefs/internal/output"
	"lorefs/internal/pending"
	"lorefs/protocol/capture"

	"lorefs/internal/kinds"
	"lorefs/internal/shown"
)

// commandError is an error with an exit code and, where there is something to
// be done about it, with a hint.
type commandError struct {
	code int
	// hint is empty or tells how to go on.
	hint string
	// err is nil if all has been said already.
	err error
}

func (e *commandError) Error() string {
	if e.err == nil {
		return ""
	}
	return e.err.Error()
}

func (e *commandError) Unwrap() error { return e.err }

// and is the error of two, each of which may be nil.
func (e *commandError) and(other *commandError) *commandError {
	switch {
	case e == nil:
		return other
	case other == nil:
		return e
	}
	hint := e.hint
	if hint != "" && other.hint != "" {
		hint += "; "
	}
	return &commandError{code: e.code, err: errors.Join(e.err, other.err), hint: hint + other.hint}
}

// both is the error of two, each of which may be nil: the first one's code counts, and what
// can be done about each is told.
func both(a, b error) error {
	if a == nil || b == nil {
		return cmp.Or(a, b)
	}
	return asCommandError(a).and(asCommandError(b))
}

// usageErrorf is a mistake in flags or arguments.
func usageErrorf(format string, args ...any) error {
	return &commandError{code: exitUsage, err: fmt.Errorf(format, args...)}
}

func exitCode(err error) int { return asCommandError(err).code }

// errorText is what a user is told of err, on one line. It is empty if all has
// been said already.
func errorText(err error) string {
	e := asCommandError(err)
	if _, ok := errors.AsType[*commandError](err); !ok {
		err = e.err
	}
	text := shown.Line(err)
	if e.hint != "" {
		text += " (" + e.hint + ")"
	}
	return text
}

// asCommandError gives an error its exit code and, where something can be done about it, a
// hint: packages below know neither exit codes nor flags.
func asCommandError(err error) *commandError {
	if e, ok := errors.AsType[*commandError](err); ok {
		return e
	}
	if e, ok := errors.AsType[*kinds.InterruptedError](err); ok {
		return &commandError{code: exitInterrupted, err: err, hint: fmt.Sprintf("--since %v goes on there", e.At)}
	}
	if _, ok := errors.AsType[*output.InterruptedError](err); ok {
		return &commandError{code: exitInterrupted, err: err}
	}
	if _, ok := errors.AsType[*output.InUseError](err); ok {
		return &commandError{code: exitBusy, err: err, hint: "unmount it first, or write another file"}
	}
	if e, ok := errors.AsType[*kinds.Error](err); ok {
		if e.Option != "" {
			err = fmt.Errorf("--%w", err)
		}
		return explainSource(err)
	}
	return &commandError{code: exitFailure, err: err}
}

// explainSource is about a source that can't be read or edited.
func explainSource(err error) *commandError {
	if errors.Is(err, capture.ErrUnknown) {
		return &commandError{code: exitKey, err: err}
	}
	return cmp.Or(explainChoice(err), explainEdits(err), &commandError{code: exitSource, err: err})
}

// explainChoice is about a CASC storage that holds several things; nil if that is no trouble.
func explainChoice(err error) *commandError {
	if _, ok := errors.AsType[*casc.ProductError](err); ok {
		return &commandError{code: exitUsage, err: err, hint: "--product says which"}
	}
	if e, ok := errors.AsType[*casc.NoConfigError](err); ok {
		return &commandError{code: exitSource, err: err, hint: fmt.Sprintf("--product %s opens another", e.Others[0])}
	}
	if e, ok := errors.AsType[*casc.BuildsError](err); ok && len(e.Builds) > 1 {
		return &commandError{code: exitUsage, err: err, hint: "--build says which"}
	}
	return nil
}

// explainEdits is about edits that were left behind, or are made by somebody else.
func explainEdits(err error) *commandError {
	if e, ok := errors.AsType[*kinds.UnnamedEditsError](err); ok {
		return &commandError{code: exitUnsaved, err: err, hint: "lorefs journal replay " + e.Folder + " saves them"}
	}
	_, unsupported := errors.AsType[*journal.UnsupportedError](err)
	switch {
	case errors.Is(err, pending.ErrStale):
		hint := "to have them back, put the file back that they were made on"
		if stale, ok := errors.AsType[*pending.StaleError](err); ok && stale.Backup != "" {
			hint += ", which is " + stale.Backup
		}
		return &commandError{code: exitUnsaved, err: err, hint: hint + "; to give them up, use lorefs journal drop"}
	case errors.Is(err, filelock.ErrLocked):
		return &commandError{
			code: exitBusy, err: fmt.Errorf("somebody edits it already: %w", err),
			hint: "after umount(8) it is being saved for some seconds; lorefs unmount waits for that",
		}
	case unsupported:
		return &commandError{code: exitUnsaved, err: err, hint: "a later version of lorefs wrote the journal, which is kept: use that one"}
	case errors.Is(err, journal.ErrDamaged):
		return &commandError{code: exitUnsaved, err: err, hint: "all of it is kept; lorefs journal replay --salvage saves what lies before the damage, " +
			"and keeps the rest beside the journal; lorefs journal drop gives all up"}
	}
	return nil
}
