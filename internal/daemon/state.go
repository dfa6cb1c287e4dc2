package daemon

import (
	"errors"

	"lorefs/fs"
)

// State tells whether a directory is one of our mounts.
type State uint8

// What is on a directory.
const (
	None State = iota
	Alive
	Dead
	// Silent does not answer: its process hangs, or was killed and can't end.
	Silent
)

// Edited is what can be edited through the mount on name, a [Name], as far as anybody but its
// process knows: the source, and the folder beside it if there is one. It is empty if that is
// nothing, and on other systems than Linux.
func Edited(name string) (paths []string) {
	source, _, err := editedSource(name)
	if err != nil || source == "" {
		return nil
	}
	paths = append(paths, source)
	if beside := editedBeside(name); beside != "" {
		paths = append(paths, beside)
	}
	return paths
}

// StateOf looks at name, a [Name].
func StateOf(name string) (State, error) {
	ours, err := Mounted(name)
	if err != nil || !ours {
		return None, err
	}
	switch err := fs.Probe(name); {
	case errors.Is(err, fs.ErrDead):
		return Dead, nil
	case errors.Is(err, fs.ErrSilent):
		return Silent, nil
	}
	return Alive, nil
}
