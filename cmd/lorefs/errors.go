package main

import (
	"cmp"
	"errors"
	"fmt"

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

func asCommandError(err error) *commandError {
	if e, ok := errors.AsType[*commandError](err); ok {
		return e
	}
	return &commandError{code: exitCode(err), err: err}
}

// usageErrorf is a mistake in flags or arguments.
func usageErrorf(format string, args ...any) error {
	return &commandError{code: exitUsage, err: fmt.Errorf(format, args...)}
}

func exitCode(err error) int {
	if e, ok := errors.AsType[*commandError](err); ok {
		return e.code
	}
	if _, ok := errors.AsType[*kinds.Error](err); ok {
		return exitSource
	}
	return exitFailure
}

// errorText is what a user is told of err, on one line. It is empty if all has
// been said already.
func errorText(err error) string {
	text := shown.Line(err)
	if e, ok := errors.AsType[*commandError](err); ok && e.hint != "" {
		text += " (" + e.hint + ")"
	}
	return text
}
