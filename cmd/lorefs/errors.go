package main

import (
	"errors"
	"fmt"
	"strings"
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
	return &commandError{code: e.code, err: errors.Join(e.err, other.err), hint: e.hint + "; " + other.hint}
}

// usageErrorf is a mistake in flags or arguments.
func usageErrorf(format string, args ...any) error {
	return &commandError{code: exitUsage, err: fmt.Errorf(format, args...)}
}

func exitCode(err error) int {
	if e, ok := errors.AsType[*commandError](err); ok {
		return e.code
	}
	return exitFailure
}

// errorText is what a user is told of err, on one line. It is empty if all has
// been said already.
func errorText(err error) string {
	text := strings.ReplaceAll(err.Error(), "\n", "; ")
	if e, ok := errors.AsType[*commandError](err); ok && e.hint != "" {
		text += " (" + e.hint + ")"
	}
	return text
}
