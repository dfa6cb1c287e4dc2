package remote

import (
	"errors"
	"fmt"
	iofs "io/fs"
	"net/http"
	"slices"
	"strings"
	"time"

	"lorefs/internal/shown"
)

// ErrOffline means that an object is not in the cache, and that no host may be asked.
var ErrOffline = errors.New("it is not in the cache, and hosts are not asked (offline)")

var (
	errStalled = errors.New("no byte came for too long")
	errSlow    = errors.New("it comes too slowly")
	errVain    = errors.New("nothing that can be used came for too long, and they are left alone for a while")
	errGone    = errors.New("it is not there")
	errHTML    = errors.New("a page of HTML came instead")
	errInside  = errors.New("which is in your own network")
)

// Failure tells what a host did.
type Failure struct {
	Host string
	Err  error
}

// Error says that no host gave an object. It matches [iofs.ErrNotExist] if all hosts say that
// it is not there. It does not wrap what the hosts did: their errors say nothing about the
// caller's own files or contexts.
type Error struct {
	// Path is the path of the object.
	Path string
	// Failures has the last failure of each host.
	Failures []Failure
}

// IsFailure reports whether an error says that something could not be had from the hosts, or that
// they were not asked: it says nothing of what they have.
func IsFailure(err error) bool {
	_, failed := errors.AsType[*Error](err)
	return failed || errors.Is(err, ErrOffline)
}

func (e *Error) Error() string {
	if len(e.Failures) == 0 {
		return fmt.Sprintf("remote: %s: there is no host to ask", e.Path)
	}
	all := make([]string, len(e.Failures))
	for i, f := range e.Failures {
		all[i] = fmt.Sprintf("%s: %v", f.Host, f.Err)
	}
	return fmt.Sprintf("remote: %s: %s", e.Path, strings.Join(all, "; "))
}

// Is makes the error match iofs.ErrNotExist.
func (e *Error) Is(target error) bool {
	if target != iofs.ErrNotExist || len(e.Failures) == 0 {
		return false
	}
	for _, f := range e.Failures {
		if !errors.Is(f.Err, errGone) {
			return false
		}
	}
	return true
}

// IsRefusal reports whether an error says that all hosts have answered, and give nothing at such a path
// whoever asks: they do not have it or, as some say instead, forbid it.
func IsRefusal(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && len(e.Failures) > 0 && !slices.ContainsFunc(e.Failures, func(f Failure) bool {
		s, ok := errors.AsType[*statusError](f.Err)
		return !ok || !errors.Is(s, errGone) && s.status != http.StatusForbidden
	})
}

// refused reports whether no host has begun to send the object: another part of it would not come
// either.
func (e *Error) refused() bool {
	for _, f := range e.Failures {
		if _, body := errors.AsType[*bodyError](f.Err); body {
			return false
		}
	}
	return true
}

// cut reports whether every host has cut the connection.
func (e *Error) cut() bool {
	return !slices.ContainsFunc(e.Failures, func(f Failure) bool { return !isCut(f.Err) })
}

// bodyError is an error of what a host has sent. cut means that the connection ended within it.
type bodyError struct {
	err error
	cut bool
}

func (e *bodyError) Error() string { return e.err.Error() }
func (e *bodyError) Unwrap() error { return e.err }

func isCut(err error) bool {
	e, ok := errors.AsType[*bodyError](err)
	return ok && e.cut
}

// statusError is a status that is no answer. after is when the host wants to be asked again.
type statusError struct {
	status int
	after  time.Duration
}

func (e *statusError) Error() string {
	text := fmt.Sprintf("status %d", e.status)
	if name := http.StatusText(e.status); name != "" {
		text += " " + name
	}
	return text
}

// Is makes the error match errGone.
func (e *statusError) Is(target error) bool {
	return target == errGone && (e.status == http.StatusNotFound || e.status == http.StatusGone)
}

// isBusy reports whether a host wants to be asked the same later.
func isBusy(err error) bool {
	e, ok := errors.AsType[*statusError](err)
	return ok && (e.status == http.StatusTooManyRequests || e.status/100 == 5 && e.after > 0)
}

// isSettled reports whether a host would answer the same again.
func isSettled(err error) bool {
	e, ok := errors.AsType[*statusError](err)
	if !ok {
		return errors.Is(err, errGone)
	}
	switch e.status {
	case http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests:
		return false
	}
	return e.status/100 == 4
}

func retryAfter(err error) time.Duration {
	if e, ok := errors.AsType[*statusError](err); ok {
		return e.after
	}
	return 0
}

// Brief returns an error whose text is not too long to be read.
func Brief(err error) error {
	if err == nil || shown.Brief(err.Error()) == err.Error() {
		return err
	}
	return &briefError{err}
}

type briefError struct{ err error }

func (e *briefError) Error() string { return shown.Brief(e.err.Error()) }
func (e *briefError) Unwrap() error { return e.err }
