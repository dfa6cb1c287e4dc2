package reach

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"lorefs/cmd/internal/cli"
	"lorefs/cmd/internal/daemon"
	"lorefs/cmd/internal/kinds"
	"lorefs/cmd/internal/mounted"
	"lorefs/internal/origin"
)

// Mount is a mount that can be asked, and what a user means by it.
type Mount struct {
	// Dir is the mount point as the user calls it, and Name its [daemon.Name].
	Dir, Name string
	// Inside is the path below the mount point that the user named; "." for the mount point.
	Inside string
	// Source is empty unless the user named the source.
	Source string
	// Found says that it was mounted when the command looked, and Edited is [daemon.Edited] of
	// that time: once it has ended, nothing else tells what it may have left.
	Found  bool
	Edited []string
}

// FoundMount returns a mount that the kernel knows.
func FoundMount(dir, name, inside string) *Mount {
	return &Mount{Dir: dir, Name: name, Inside: inside, Found: true, Edited: daemon.Edited(name)}
}

// MountIn returns the mount of lorefs that a path is in. It returns nil if there is none.
func MountIn(path string) (*Mount, error) {
	name, inside, err := daemon.MountOf(path)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", path, err)
	case name == "":
		return nil, nil //nolint:nilnil // there is no mount
	case inside == ".":
		return FoundMount(path, name, inside), nil
	}
	return FoundMount(name, name, inside), nil
}

// MountAt returns the mount that a path is in, or the one whose source it is. If there is none, it
// returns what could be mounted on it, so that the mount's process can be asked which has lost its mount.
func MountAt(path string) (*Mount, error) {
	if !origin.IsRemote(path) {
		m, err := MountIn(path)
		if m != nil || err != nil {
			return m, err
		}
	}
	switch names, err := daemon.MountsOf(origin.Shown(path)); {
	case err != nil:
		return nil, err
	case len(names) == 1:
		return FoundMount(names[0], names[0], "."), nil
	case len(names) > 1:
		return nil, cli.UsageErrorf("%s is mounted on %s: name one of them", origin.Shown(path), strings.Join(names, ", "))
	case origin.IsRemote(path):
		return nil, NothingThere(origin.Shown(path))
	}
	name, err := daemon.Name(path)
	return &Mount{Dir: path, Name: name, Inside: "."}, err
}

// MountFor returns the mount that a path is in, or the one through which the source at a path
// is edited. It returns nil if there is none.
func MountFor(path string) (*Mount, error) {
	if origin.IsRemote(path) {
		return nil, cli.UsageErrorf("%s: %w", origin.Shown(path), kinds.ErrNotLocal)
	}
	m, err := MountIn(path)
	if m != nil || err != nil {
		return m, err
	}
	if _, err := daemon.Name(path); err != nil {
		return nil, kinds.Unreadable(path, err)
	}
	name, err := daemon.EditedBy(path)
	if err != nil || name == "" {
		return nil, nil //nolint:nilerr,nilnil // the source may be gone, but not its journal
	}
	source, err := filepath.Abs(path)
	if err == nil {
		source, err = filepath.EvalSymlinks(source)
	}
	m = FoundMount(name, name, ".")
	m.Source = source
	return m, err
}

// Talk sends a request, and writes the output that comes back.
func (m *Mount) Talk(w io.Writer, r daemon.Request) (*mounted.Answer, error) {
	a, conn, err := mounted.Talk(m.Name, r, func(a *mounted.Answer) error {
		_, err := w.Write(a.Data)
		return err
	})
	switch {
	case errors.Is(err, daemon.ErrNone):
		return nil, Absent(m)
	case err != nil:
		return nil, err
	}
	return &a, errors.Join(cli.FailureOf(&a), conn.Close())
}

// Meant returns the paths that a user means who names some besides the mount, or none, as the
// mount calls them.
func (m *Mount) Meant(paths []string) []string {
	if len(paths) == 0 && m.Inside != "." {
		return []string{m.Inside}
	}
	return m.below(paths)
}

// below returns paths as the mount calls them: relative to its root, or queries.
func (m *Mount) below(paths []string) []string {
	var list []string
	for _, path := range paths {
		list = append(list, m.relative(path))
	}
	return list
}

// relative returns a path below the mount point relative to it, and any other as it is. The
// path need not exist any more.
func (m *Mount) relative(path string) string {
	abs, err := filepath.Abs(path)
	if err != nil {
		return path
	}
	roots := []string{m.Name}
	if dir, err := filepath.Abs(m.Dir); err == nil {
		roots = append(roots, dir)
	}
	forms := []string{abs}
	for dir, rest := abs, ""; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if dir == m.Name {
			break // links in the mount are the mount's
		}
		if whole, err := filepath.EvalSymlinks(dir); err == nil {
			forms = append(forms, filepath.Join(whole, rest))
			break
		}
		rest = filepath.Join(filepath.Base(dir), rest)
	}
	for _, root := range roots {
		for _, form := range forms {
			if rel, err := filepath.Rel(root, form); err == nil && filepath.IsLocal(rel) {
				return filepath.ToSlash(rel)
			}
		}
	}
	return path
}
