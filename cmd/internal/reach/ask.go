package reach

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"lorefs/cmd/internal/cli"
	"lorefs/cmd/internal/daemon"
	"lorefs/cmd/internal/mounted"
)

// AskStatus asks a mount how it is doing.
func AskStatus(m *Mount) (*mounted.Status, error) {
	a, conn, err := mounted.Talk(m.Name, daemon.Request{Do: daemon.Status}, nil)
	if errors.Is(err, daemon.ErrNone) {
		return nil, Absent(m)
	}
	if err != nil {
		return nil, err
	}
	if a.Error != "" || a.Status == nil {
		err = fmt.Errorf("%s: %s", m.Dir, a.Error)
	}
	return a.Status, errors.Join(err, conn.Close())
}

// Absent returns the error for a mount point that no process of the user serves.
func Absent(m *Mount) error {
	switch there, err := daemon.StateOf(m.Name); {
	case err != nil:
		return fmt.Errorf("%s: %w", m.Dir, err)
	case there == daemon.Dead:
		return &cli.Error{
			Code: cli.ExitFailure, Err: fmt.Errorf("%s: the process that served it is dead", m.Dir),
			Hint: "lorefs unmount cleans up",
		}
	case there == daemon.Silent:
		return &cli.Error{
			Code: cli.ExitFailure, Err: fmt.Errorf("%s: the mount does not answer, and no process that could be asked serves it", m.Dir),
			Hint: "lorefs unmount cleans up",
		}
	case there == daemon.Alive:
		return ErrOthers(m.Dir)
	case m.Found:
		if err := LeftBehind(m.Name, ProcessEnded, m.Edited...); err != nil {
			return err
		}
		return fmt.Errorf("%s: was unmounted just now", m.Dir)
	}
	return NothingThere(m.Dir)
}

// NothingThere returns the error for a path that is in no mount.
func NothingThere(dir string) error {
	return fmt.Errorf("%s: lorefs has mounted nothing there", dir)
}

// TellAll prints the errors of several mounts, and returns the error of the command: its code
// is that of the first.
func TellAll(c *cobra.Command, failed []error) error {
	for _, err := range failed {
		if err := cli.ToldError(c, err); err != nil {
			return err
		}
	}
	if failed == nil {
		return nil
	}
	return &cli.Error{Code: cli.ExitCode(failed[0])}
}
