package reach

import (
	"errors"
	"fmt"
	iofs "io/fs"

	"lorefs/cmd/internal/cli"
	"lorefs/cmd/internal/daemon"
	"lorefs/cmd/internal/kinds"
	"lorefs/cmd/internal/save"
	"lorefs/internal/shown"
)

// ErrOthers returns the error for a mount whose process can't be asked.
func ErrOthers(dir string) error {
	return fmt.Errorf("%s: is mounted, but by another user or with another state folder", dir)
}

// How the process of a mount came to its end.
const (
	ProcessDied  = "died"
	ProcessEnded = "ended"
)

// LeftBehind returns an error if the process of a mount, which died or ended, has left edits in a
// journal, or if that is unknown.
func LeftBehind(name, how string, edited ...string) error {
	var left *cli.Error
	for _, path := range edited {
		left = left.And(leftOf(name, how, path))
	}
	if left == nil {
		return nil
	}
	return left
}

// leftOf is LeftBehind for one source; it returns nil if nothing is left.
func leftOf(name, how, source string) *cli.Error {
	j, taken, err := daemon.AwaitJournal(name, func() (save.Journal, error) { return kinds.JournalOf(source) })
	switch {
	case errors.Is(err, iofs.ErrNotExist):
		return nil // nothing was edited, or all is saved
	case err != nil:
		return &cli.Error{
			Code: cli.ExitUnsaved, Err: fmt.Errorf("%s is unmounted, but its process %s, and what it left of %s is unknown: %w", name, how, source, err),
			Hint: "lorefs journal list tells what is left, once that is mended",
		}
	}
	if j.Edits == 0 && j.Problem == "" || j.State == save.StateSaved {
		return nil
	}
	if taken {
		return nil
	}
	hint := "kept in %s: lorefs mount --rw brings back what is there"
	if j.State == save.StateDamaged {
		hint = "the journal %s is damaged: lorefs journal replay --salvage saves what lies before the damage"
	}
	return &cli.Error{
		Code: cli.ExitUnsaved, Err: fmt.Errorf("%s is unmounted, but its process %s before %s of %s %s saved", name, how, j.Count(), source, shown.Was(j.Edits)),
		Hint: fmt.Sprintf(hint, j.Path),
	}
}
