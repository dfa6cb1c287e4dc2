package main

import (
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"strings"
	"time"

	"lorefs/internal/userdir"
	"lorefs/nodes/editing"
)

// refused are the texts that editors could not take.
func (s *opened) refused() (texts []editing.Refused) {
	for _, e := range s.editors {
		texts = append(texts, e.refused()...)
	}
	return texts
}

// keepRefused writes what would go with the mount to a folder of the user's state: somebody
// has written it, and most tools say little of why it was refused. It gives that folder,
// or nothing if there is nothing to keep.
func (m *mounting) keepRefused(now time.Time) (folder string, err error) {
	name := filepath.Base(m.source) + "-" + now.UTC().Format("20060102-150405.000")
	var lost []error
	for _, r := range m.opened.refused() {
		at, err := keepText(name, r)
		if err != nil {
			lost = append(lost, fmt.Errorf("the text of %s, which was refused, is lost: %w", r.Path, err))
			continue
		}
		folder = at
		m.log.Warn("a text that was refused is kept", "file", r.Path, "in", folder, "err", r.Problem)
	}
	if len(lost) > 0 {
		return folder, &commandError{code: exitUnsaved, err: errors.Join(lost...)}
	}
	return folder, nil
}

func keepText(name string, r editing.Refused) (folder string, err error) {
	top, err := userdir.State("refused", name)
	if err != nil {
		return "", err
	}
	defer top.Close()
	dir, file := path.Split(r.Path)
	in := strings.FieldsFunc(dir, func(c rune) bool { return c == '/' })
	d, err := userdir.State(append([]string{"refused", name}, in...)...)
	if err != nil {
		return "", err
	}
	defer d.Close()
	return top.Path(), d.WriteFile(file, r.Text)
}
