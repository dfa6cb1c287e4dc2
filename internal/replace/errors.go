package replace

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// ErrUnsynced means that the new file is in place, but that a power cut may bring back the
// old one.
var ErrUnsynced = errors.New("the new file is in place, but may not outlast a power cut")

// ErrChanged means that another program has replaced or changed the old file since the
// caller was asked about it. That program's file is in place.
var ErrChanged = errors.New("another program has replaced or changed the file meanwhile")

// KeptError means that a file had only a temporary name, and got a lasting one.
type KeptError struct {
	// File is the path that it may have had before, and Kept the path that it has now.
	File, Kept string
}

func (e *KeptError) Error() string {
	return fmt.Sprintf("%s holds a file that was in the place of %s: look whether you want it", e.Kept, e.File)
}

// Step is a step of replacing a file. The constants are in the order of the steps, but StepSync and
// StepVerify are one: a file is read while it is synced.
type Step string

// The steps. Until StepRename, the old file is in its place unchanged. It is there again if
// StepLook fails.
const (
	StepFind       Step = "find"              // follow links, look at the old file
	StepSpace      Step = "look for room for" // ask the file system
	StepCreate     Step = "create"            // make and lock the temporary file
	StepWrite      Step = "write"             // the temporary file
	StepMode       Step = "set the mode of"   // owner, permission bits, extended attributes
	StepSync       Step = "sync"              // the temporary file
	StepVerify     Step = "verify"            // the caller reads it
	StepCheck      Step = "check"             // the caller looks at the old file, which is remembered
	StepLink       Step = "link"              // the old file gets its second name, and is compared, or is copied
	StepBackup     Step = "back up"           // which becomes NAME.bak
	StepSyncBackup Step = "sync the folder with the backup"
	StepName       Step = "name the new file for"    // the new file gets its second name
	StepRename     Step = "rename"                   // the new file takes the old one's place
	StepLook       Step = "look at what came out of" // whether it is the old file
	StepGiveBack   Step = "give back the place of"   // if it is another
	StepSyncDir    Step = "sync the folder"          // ErrUnsynced if that fails
)

// StepError says which step failed on which path. For a step that is about the temporary file this
// is the path of the file that is replaced.
type StepError struct {
	Step Step
	Path string
	Err  error
}

func (e *StepError) Error() string { return "replace: " + e.Of(e.Path) }

// Of returns the text of the error with another name for the path.
func (e *StepError) Of(name string) string { return fmt.Sprintf("%s %s: %v", e.Step, name, e.Err) }

func (e *StepError) Unwrap() error { return e.Err }

// stepError makes a StepError, without what the system's error would repeat.
func stepError(step Step, path string, err error) error {
	if err == nil {
		return nil
	}
	if inner, ok := err.(*os.PathError); ok && (inner.Path == path || isTempOf(path, inner.Path)) { //nolint:errorlint // what is wrapped has more to say
		err = inner.Err
	}
	return &StepError{Step: step, Path: path, Err: err}
}

// isTempOf reports whether temp is a temporary file beside path.
func isTempOf(path, temp string) bool {
	_, ok := parseName(filepath.Base(temp), filepath.Base(path))
	return ok
}

// SpaceError says how much space is missing. It matches [syscall.ENOSPC].
type SpaceError struct {
	// Need is the size of the new file in bytes, as the caller estimates it. Free is what
	// the file system offers this process.
	Need, Free int64
}

// Missing returns how many bytes have to be freed.
func (e *SpaceError) Missing() int64 { return e.Need - e.Free }

func (e *SpaceError) Error() string {
	return fmt.Sprintf("%d bytes of room are missing (%d needed, %d free)", e.Missing(), e.Need, e.Free)
}

// Is makes the error match syscall.ENOSPC.
func (e *SpaceError) Is(target error) bool { return target == syscall.ENOSPC }
