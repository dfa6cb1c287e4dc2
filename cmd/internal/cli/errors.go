package cli

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

// Error is an error with an exit code and, if the user can do something about it, a
// hint.
type Error struct {
	Code int
	// Hint says how to go on, each way on a line; it may be empty.
	Hint string
	// Err is nil if everything has been printed already.
	Err error
}

func (e *Error) Error() string {
	if e.Err == nil {
		return ""
	}
	return e.Err.Error()
}

func (e *Error) Unwrap() error { return e.Err }

// And joins two errors, each of which may be nil.
func (e *Error) And(other *Error) *Error {
	switch {
	case e == nil:
		return other
	case other == nil:
		return e
	}
	return &Error{Code: e.Code, Err: errors.Join(e.Err, other.Err), Hint: joinLines(e.Hint, other.Hint)}
}

// joinLines puts each text that is not empty on a line.
func joinLines(texts ...string) string {
	return strings.Join(slices.DeleteFunc(texts, func(s string) bool { return s == "" }), "\n")
}

// UsageErrorf returns an error for a mistake in flags or arguments.
func UsageErrorf(format string, args ...any) error {
	return &Error{Code: ExitUsage, Err: fmt.Errorf(format, args...)}
}

// ExitCode returns the exit code of a command that fails with an error.
func ExitCode(err error) int { return AsError(err).Code }

// joined matches where one of several joined errors ends. The text of an error from another
// process may have lines of its own, which are indented.
var joined = regexp.MustCompile(`\n(\S)`)

// ErrorText returns the text of an error for users. It is empty if everything has been printed
// already. A single way to go on stands behind the error, several on lines of their own.
func ErrorText(err error) string {
	e := AsError(err)
	if _, ok := errors.AsType[*Error](err); !ok {
		err = e.Err
	}
	text := joined.ReplaceAllString(err.Error(), "; $1")
	switch {
	case e.Hint == "":
		return text
	case strings.Contains(e.Hint, "\n"):
		return text + "\n  " + strings.ReplaceAll(e.Hint, "\n", "\n  ")
	}
	return text + " (" + e.Hint + ")"
}

// AsError adds an exit code and a hint to an error: other packages know neither exit
// codes nor flags.
func AsError(err error) *Error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	if e, ok := errors.AsType[*mounted.SaveError](err); ok {
		return explainSave(e)
	}
	if e, ok := errors.AsType[*kinds.InterruptedError](err); ok {
		return &Error{Code: ExitInterrupted, Err: err, Hint: fmt.Sprintf("--since %v goes on there", e.At)}
	}
	if _, ok := errors.AsType[*output.InterruptedError](err); ok {
		return &Error{Code: ExitInterrupted, Err: err}
	}
	if _, ok := errors.AsType[*output.InUseError](err); ok {
		return &Error{Code: ExitBusy, Err: err, Hint: "unmount it first, or write another file"}
	}
	if errors.Is(err, nodes.ErrNoKey) {
		return &Error{Code: ExitFailure, Err: err, Hint: "--keys FILE adds keys"}
	}
	if _, ok := errors.AsType[*kinds.SeveralError](err); ok {
		return &Error{Code: ExitUsage, Err: err, Hint: "--all takes back the edits of all of them"}
	}
	if _, ok := errors.AsType[*query.SyntaxError](err); ok || errors.Is(err, kinds.ErrNoPatch) ||
		errors.Is(err, pattern.ErrSyntax) || errors.Is(err, pattern.ErrLarge) {
		return &Error{Code: ExitUsage, Err: err}
	}
	if e, ok := errors.AsType[*kinds.Error](err); ok {
		if e.Option != "" {
			err = fmt.Errorf("--%w", err)
		}
		return explainSource(err)
	}
	if errors.Is(err, pack.ErrNoSheets) {
		return &Error{Code: ExitUnknown, Err: err}
	}
	if e, ok := errors.AsType[*iofs.PathError](err); ok && errors.Is(e.Err, syscall.ENOTDIR) {
		err = fmt.Errorf("%s: a file is where a folder should be", e.Path)
	}
	return &Error{Code: ExitFailure, Err: err}
}

// explainSave explains edits and texts that were not saved: it says where they are.
func explainSave(e *mounted.SaveError) *Error {
	var all *Error
	for _, f := range e.Failed {
		all = all.And(explainUnsaved(f, e.Ended))
	}
	n, hint := e.Left.Texts(), ""
	switch {
	case !e.Ended:
		hint = fmt.Sprintf("kept in the mount, in memory: save %[1]s anew or remove %[1]s there; at the end %[2]s put into %[3]s",
			shown.Verb(n, "it", "them"), shown.They(n), kinds.RefusedPath())
	case len(e.Kept) > 0:
		hint = "kept in " + strings.Join(e.Kept, " and ")
	}
	all = all.And(unsavedTexts(&e.Left, hint))
	if e.Lost != nil {
		all = all.And(&Error{Code: ExitUnsaved, Err: e.Lost})
	}
	return all
}

// explainUnsaved explains edits of one source. ended says that its mount has ended.
func explainUnsaved(err *kinds.UnsavedError, ended bool) *Error {
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
	return &Error{Code: ExitUnsaved, Err: err, Hint: joinLines(hints...)}
}

// applyHint says how edits that were kept as a patch get into the file that is there now.
func applyHint(file, patch string) string {
	file = shown.Shell(file)
	return fmt.Sprintf("to make them in the file that is there now: lorefs journal drop %s && lorefs apply %s %s", file, file, shown.Shell(patch))
}

// explainSource explains why a source can't be read or edited.
func explainSource(err error) *Error {
	_, static := errors.AsType[*casc.StaticError](err)
	if static || errors.Is(err, capture.ErrUnknown) || errors.Is(err, kinds.ErrUnknown) {
		return &Error{Code: ExitUnknown, Err: err}
	}
	return cmp.Or(explainChoice(err), explainEdits(err), &Error{Code: ExitSource, Err: err})
}

// explainChoice explains what to choose from a CASC storage with several products or builds.
// It returns nil for other errors.
func explainChoice(err error) *Error {
	if _, ok := errors.AsType[*config.ProductError](err); ok {
		return &Error{Code: ExitUsage, Err: err, Hint: "--product says which"}
	}
	if _, ok := errors.AsType[*versions.NoProductError](err); ok {
		return &Error{Code: ExitSource, Err: err, Hint: "lorefs help casc has the codes of products"}
	}
	if e, ok := errors.AsType[*config.NoConfigError](err); ok {
		c := &Error{Code: ExitSource, Err: err}
		if len(e.Others) > 0 {
			c.Hint = fmt.Sprintf("--product %s opens another", e.Others[0])
		}
		if len(e.Builds) > 0 {
			c.Hint = joinLines(c.Hint, fmt.Sprintf("--build %v opens a build that is there", e.Builds[0].Key))
		}
		return c
	}
	if e, ok := errors.AsType[*config.BuildsError](err); ok && len(e.Builds) > 1 {
		return &Error{Code: ExitUsage, Err: err, Hint: "--build says which"}
	}
	return nil
}

// explainEdits explains edits that were left by a crash, or that another process is making.
func explainEdits(err error) *Error {
	if e, ok := errors.AsType[*kinds.UnnamedEditsError](err); ok {
		return &Error{Code: ExitUnsaved, Err: err, Hint: "lorefs journal replay " + shown.Shell(e.Folder) + " saves them"}
	}
	_, unsupported := errors.AsType[*journal.UnsupportedError](err)
	switch {
	case errors.Is(err, save.ErrStale):
		return &Error{Code: ExitUnsaved, Err: err, Hint: explainStale(err)}
	case errors.Is(err, filelock.ErrLocked):
		return &Error{
			Code: ExitBusy, Err: fmt.Errorf("somebody edits it already: %w", err),
			Hint: "after umount(8) it is being saved for some seconds; lorefs unmount waits for that",
		}
	case unsupported:
		return &Error{Code: ExitUnsaved, Err: err, Hint: "a later version of lorefs wrote the journal, which is kept: use that one"}
	case errors.Is(err, journal.ErrDamaged):
		return &Error{Code: ExitUnsaved, Err: err, Hint: "all of it is kept; lorefs journal replay --salvage saves what lies before the damage, " +
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
