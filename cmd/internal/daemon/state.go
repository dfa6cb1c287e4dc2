package daemon

import (
	"errors"
	"os"

	"lorefs/fs"
)

// State says whether a directory is a mount of lorefs.
type State uint8

// What is on a directory.
const (
	None State = iota
	Alive
	Dead
	// Silent does not answer: its process hangs, or was killed and can't end.
	Silent
)

// Edited returns what can be edited through the mount on name, a [Name], as far as other
// processes can know: the source, and the folder beside it if there is one. It returns
// nothing if that is nothing, and on other systems than Linux.
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

// EditedBy returns the [Name] of the mount through which a source is edited, as far as other
// processes can know; it is empty if there is none, and on other systems than Linux.
func EditedBy(source string) (name string, err error) {
	want, err := os.Stat(source)
	if err != nil {
		return "", err
	}
	points, err := mountPoints()
	if err != nil {
		return "", err
	}
	for _, point := range points {
		for _, path := range Edited(point) {
			if is, err := os.Stat(path); err == nil && os.SameFile(is, want) {
				return point, nil
			}
		}
	}
	return "", nil
}

// MountsOf returns the [Name]s of the mounts that show a source, or edit it beside theirs. It
// returns none on other systems than Linux.
func MountsOf(source string) (names []string, err error) {
	points, err := mountPoints()
	if err != nil {
		return nil, err
	}
	want, wantErr := os.Stat(source)
	for _, point := range points {
		of, err := sourceOf(point)
		if err != nil {
			return nil, err
		}
		for _, path := range []string{of, editedBeside(point)} {
			is, err := os.Stat(path)
			if path != "" && path == source || wantErr == nil && err == nil && os.SameFile(is, want) {
				names = append(names, point)
				break
			}
		}
	}
	return names, nil
}

// StateOf returns the state of name, a [Name].
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
