package main

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"lorefs/cmd/internal/daemon"
	"lorefs/cmd/internal/kinds"
	"lorefs/cmd/internal/mounted"
	"lorefs/internal/origin"
)

// mountOf is a mount that can be asked, and what a user means by it.
type mountOf struct {
	// dir is the mount point as the user calls it, and name its [daemon.Name].
	dir, name string
	// inside is the path below the mount point that the user named; "." for the mount point.
	inside string
	// source is empty unless the user named the source.
	source string
	// found says that it was mounted when the command looked, and edited is [daemon.Edited] of
	// that time: once it has ended, nothing else tells what it may have left.
	found  bool
	edited []string
}

// foundMount returns a mount that the kernel knows.
func foundMount(dir, name, inside string) *mountOf {
	return &mountOf{dir: dir, name: name, inside: inside, found: true, edited: daemon.Edited(name)}
}

// mountIn returns the mount of lorefs that a path is in. It returns nil if there is none.
func mountIn(path string) (*mountOf, error) {
	name, inside, err := daemon.MountOf(path)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", path, err)
	case name == "":
		return nil, nil //nolint:nilnil // there is no mount
	case inside == ".":
		return foundMount(path, name, inside), nil
	}
	return foundMount(name, name, inside), nil
}

// mountAt returns the mount that a path is in, or the one whose source it is. If there is none, it
// returns what could be mounted on it, so that the mount's process can be asked which has lost its mount.
func mountAt(path string) (*mountOf, error) {
	if !origin.IsRemote(path) {
		m, err := mountIn(path)
		if m != nil || err != nil {
			return m, err
		}
	}
	switch names, err := daemon.MountsOf(origin.Shown(path)); {
	case err != nil:
		return nil, err
	case len(names) == 1:
		return foundMount(names[0], names[0], "."), nil
	case len(names) > 1:
		return nil, usageErrorf("%s is mounted on %s: name one of them", origin.Shown(path), strings.Join(names, ", "))
	case origin.IsRemote(path):
		return nil, nothingThere(origin.Shown(path))
	}
	name, err := daemon.Name(path)
	return &mountOf{dir: path, name: name, inside: "."}, err
}

// mountFor returns the mount that a path is in, or the one through which the source at a path
// is edited. It returns nil if there is none.
func mountFor(path string) (*mountOf, error) {
	if origin.IsRemote(path) {
		return nil, usageErrorf("%s: %w", origin.Shown(path), kinds.ErrNotLocal)
	}
	m, err := mountIn(path)
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
	m = foundMount(name, name, ".")
	m.source = source
	return m, err
}

// talk sends a request, and writes the output that comes back.
func (m *mountOf) talk(w io.Writer, r daemon.Request) (*mounted.Answer, error) {
	a, conn, err := mounted.Talk(m.name, r, func(a *mounted.Answer) error {
		_, err := w.Write(a.Data)
		return err
	})
	switch {
	case errors.Is(err, daemon.ErrNone):
		return nil, absent(m)
	case err != nil:
		return nil, err
	}
	return &a, errors.Join(failureOf(&a), conn.Close())
}

// meant returns the paths that a user means who names some besides the mount, or none, as the
// mount calls them.
func (m *mountOf) meant(paths []string) []string {
	if len(paths) == 0 && m.inside != "." {
		return []string{m.inside}
	}
	return m.below(paths)
}

// below returns paths as the mount calls them: relative to its root, or queries.
func (m *mountOf) below(paths []string) []string {
	var list []string
	for _, path := range paths {
		list = append(list, m.relative(path))
	}
	return list
}

// relative returns a path below the mount point relative to it, and any other as it is. The
// path need not exist any more.
func (m *mountOf) relative(path string) string {
	abs, err := filepath.Abs(path)
	if err != nil {
		return path
	}
	roots := []string{m.name}
	if dir, err := filepath.Abs(m.dir); err == nil {
		roots = append(roots, dir)
	}
	forms := []string{abs}
	for dir, rest := abs, ""; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if dir == m.name {
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
