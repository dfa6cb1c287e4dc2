package main

import (
	"cmp"
	"errors"
	"fmt"
	iofs "io/fs"
	"regexp"
	"slices"
	"strings"
	"syscall"

	"lorefs/casc"
	"lorefs/casc/config"
	"lorefs/cmd/internal/kinds"
	"lorefs/cmd/internal/mounted"
	"lorefs/cmd/internal/output"
	"lorefs/cmd/internal/pattern"
	"lorefs/cmd/internal/save"
	"lorefs/datacenter/query"
	"lorefs/datacenter/sheets/pack"
	"lorefs/internal/filelock"
	"lorefs/internal/journal"
	"lorefs/internal/remote/versions"
	"lorefs/internal/shown"
	"lorefs/internal/source"
	"lorefs/nodes"
	"lorefs/protocol/capture"
)

// commandError is an error with an exit code and, if the user can do something about it, a
// hint.
type commandError struct {
	code int
	// hint says how to go on, each way on a line; it may be empty.
	hint string
	// err is nil if everything has been printed already.
	err error
}

func (e *commandError) Error() string {
	if e.err == nil {
		return ""
	}
	return e.err.Error()
}

func (e *commandError) Unwrap() error { return e.err }

// and joins two errors, each of which may be nil.
func (e *commandError) and(other *commandError) *commandError {
	switch {
	case e == nil:
		return other
	case other == nil:
		return e
	}
	return &commandError{code: e.code, err: errors.Join(e.err, other.err), hint: joinLines(e.hint, other.hint)}
}

// joinLines puts each text that is not empty on a line.
func joinLines(texts ...string) string {
	return strings.Join(slices.DeleteFunc(texts, func(s string) bool { return s == "" }), "\n")
}

// usageErrorf returns an error for a mistake in flags or arguments.
func usageErrorf(format string, args ...any) error {
	return &commandError{code: exitUsage, err: fmt.Errorf(format, args...)}
}

func exitCode(err error) int { return asCommandError(err).code }

// joined matches where one of several joined errors ends. The text of an error from another
// process may have lines of its own, which are indented.
var joined = regexp.MustCompile(`\n(\S)`)

// errorText returns the text of an error for users. It is empty if everything has been printed
// already. A single way to go on stands behind the error, several on lines of their own.
func errorText(err error) string {
	e := asCommandError(err)
	if _, ok := errors.AsType[*commandError](err); !ok {
		err = e.err
	}
	text := joined.ReplaceAllString(err.Error(), "; $1")
	switch {
	case e.hint == "":
		return text
	case strings.Contains(e.hint, "\n"):
		return text + "\n  " + strings.ReplaceAll(e.hint, "\n", "\n  ")
	}
	return text + " (" + e.hint + ")"
}

// asCommandError adds an exit code and a hint to an error: other packages know neither exit
// codes nor flags.
func asCommandError(err error) *commandError {
	if e, ok := errors.AsType[*commandError](err); ok {
		return e
	}
	if e, ok := errors.AsType[*mounted.SaveError](err); ok {
		return explainSave(e)
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
	if errors.Is(err, nodes.ErrNoKey) {
		return &commandError{code: exitFailure, err: err, hint: "--keys FILE adds keys"}
	}
	if _, ok := errors.AsType[*kinds.SeveralError](err); ok {
		return &commandError{code: exitUsage, err: err, hint: "--all takes back the edits of all of them"}
	}
	if _, ok := errors.AsType[*query.SyntaxError](err); ok || errors.Is(err, kinds.ErrNoPatch) ||
		errors.Is(err, pattern.ErrSyntax) || errors.Is(err, pattern.ErrLarge) {
		return &commandError{code: exitUsage, err: err}
	}
	if e, ok := errors.AsType[*kinds.Error](err); ok {
		if e.Option != "" {
			err = fmt.Errorf("--%w", err)
		}
		return explainSource(err)
	}
	if errors.Is(err, pack.ErrNoSheets) {
		return &commandError{code: exitUnknown, err: err}
	}
	if e, ok := errors.AsType[*iofs.PathError](err); ok && errors.Is(e.Err, syscall.ENOTDIR) {
		err = fmt.Errorf("%s: a file is where a folder should be", e.Path)
	}
	return &commandError{code: exitFailure, err: err}
}

// explainSave explains edits and texts that were not saved: it says where they are.
func explainSave(e *mounted.SaveError) *commandError {
	var all *commandError
	for _, f := range e.Failed {
		all = all.and(explainUnsaved(f, e.Ended))
	}
	n, hint := e.Left.Texts(), ""
	switch {
	case !e.Ended:
		hint = fmt.Sprintf("kept in the mount, in memory: save %[1]s anew or remove %[1]s there; at the end %[2]s put into %[3]s",
			shown.Verb(n, "it", "them"), shown.They(n), kinds.RefusedPath())
	case len(e.Kept) > 0:
		hint = "kept in " + strings.Join(e.Kept, " and ")
	}
	all = all.and(unsavedTexts(&e.Left, hint))
	if e.Lost != nil {
		all = all.and(&commandError{code: exitUnsaved, err: e.Lost})
	}
	return all
}

// explainUnsaved explains edits of one source. ended says that its mount has ended.
func explainUnsaved(err *kinds.UnsavedError, ended bool) *commandError {
	var hints []string
	for _, c := range save.Conflicts(err) {
		hints = append(hints, fmt.Sprintf("to go on with it, put %s in the place of %s", c.Path, c.File))
	}
	if kept, ok := errors.AsType[*save.PatchError](err.Err); ok {
		hints = append(hints, applyHint(kept.File, kept.Path))
	}
	if err.Journal != "" {
		kept := fmt.Sprintf("the edits are kept in %s; mount --rw brings them back", err.Journal)
		switch {
		case errors.Is(err, source.ErrChanged):
			kept += ", once the file is back that they were made on"
		case !ended && errors.Is(err, syscall.ENOSPC):
			kept = fmt.Sprintf("the edits are in the mount, and kept in %s; make room, and lorefs commit saves them", err.Journal)
		case !ended:
			kept = fmt.Sprintf("the edits are in the mount, and kept in %s; lorefs commit tries again", err.Journal)
		default:
			kept += ", and lorefs journal replay saves them without a mount"
		}
		hints = append(hints, kept)
	}
	return &commandError{code: exitUnsaved, err: err, hint: joinLines(hints...)}
}

// applyHint says how edits that were kept as a patch get into the file that is there now.
func applyHint(file, patch string) string {
	file = shown.Shell(file)
	return fmt.Sprintf("to make them in the file that is there now: lorefs journal drop %s && lorefs apply %s %s", file, file, shown.Shell(patch))
}

// explainSource explains why a source can't be read or edited.
func explainSource(err error) *commandError {
	_, static := errors.AsType[*casc.StaticError](err)
	if static || errors.Is(err, capture.ErrUnknown) || errors.Is(err, kinds.ErrUnknown) {
		return &commandError{code: exitUnknown, err: err}
	}
	return cmp.Or(explainChoice(err), explainEdits(err), &commandError{code: exitSource, err: err})
}

// explainChoice explains what to choose from a CASC storage with several products or builds.
// It returns nil for other errors.
func explainChoice(err error) *commandError {
	if _, ok := errors.AsType[*config.ProductError](err); ok {
		return &commandError{code: exitUsage, err: err, hint: "--product says which"}
	}
	if _, ok := errors.AsType[*versions.NoProductError](err); ok {
		return &commandError{code: exitSource, err: err, hint: "lorefs help casc has the codes of products"}
	}
	if e, ok := errors.AsType[*config.NoConfigError](err); ok {
		c := &commandError{code: exitSource, err: err}
		if len(e.Others) > 0 {
			c.hint = fmt.Sprintf("--product %s opens another", e.Others[0])
		}
		if len(e.Builds) > 0 {
			c.hint = joinLines(c.hint, fmt.Sprintf("--build %v opens a build that is there", e.Builds[0].Key))
		}
		return c
	}
	if e, ok := errors.AsType[*config.BuildsError](err); ok && len(e.Builds) > 1 {
		return &commandError{code: exitUsage, err: err, hint: "--build says which"}
	}
	return nil
}

// explainEdits explains edits that were left by a crash, or that another process is making.
func explainEdits(err error) *commandError {
	if e, ok := errors.AsType[*kinds.UnnamedEditsError](err); ok {
		return &commandError{code: exitUnsaved, err: err, hint: "lorefs journal replay " + shown.Shell(e.Folder) + " saves them"}
	}
	_, unsupported := errors.AsType[*journal.UnsupportedError](err)
	switch {
	case errors.Is(err, save.ErrStale):
		return &commandError{code: exitUnsaved, err: err, hint: explainStale(err)}
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

// explainStale says what can be done with edits of another version of the file.
func explainStale(err error) string {
	back, apply := "to have them back, put the file back that they were made on", ""
	if stale, ok := errors.AsType[*save.StaleError](err); ok {
		if stale.Backup != "" {
			back += ", which is " + stale.Backup
		}
		if stale.Patch != "" {
			apply = applyHint(stale.File, stale.Patch)
		}
	}
	return joinLines(back, apply, "to give them up: lorefs journal drop")
}
