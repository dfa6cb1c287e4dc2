// Package following prints what changes in a list of edits while somebody edits.
package following

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"time"

	"lorefs/internal/jsonout"
	"lorefs/internal/shown"
)

// Source is what is edited.
type Source struct {
	// State returns a text that changes with each edit and each save, and the last save. If ok is false,
	// nothing is edited there any more.
	State func() (state string, saves Saves, ok bool, err error)
	// List writes all edits, as text or as JSON.
	List func(io.Writer) error
	// JSON says which of them List writes.
	JSON bool
}

// Saves identifies the last save, and says how many edits it has saved.
type Saves struct {
	Last  string
	Edits int64
	// Running says that a save is under way. Its edits are none any more before it is the last one.
	Running bool
}

// Saved is printed for a save.
type Saved struct {
	Kind  string `json:"kind"`
	Edits int64  `json:"edits"`
}

// Undone is printed for an edit that is none any more: it was taken back.
type Undone struct {
	Kind string `json:"kind"`
	Path string `json:"path"`
}

// every is how often the state is asked for.
const every = 200 * time.Millisecond

// Print prints the edits that there are, and then what comes and goes, until ctx or the mount ends.
func (s *Source) Print(ctx context.Context, to io.Writer) error {
	f := follower{Source: s, to: to, lines: jsonout.NewLines(to)}
	wait := time.NewTicker(every)
	defer wait.Stop()
	for {
		if ok, err := f.look(); !ok || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-wait.C:
		}
	}
}

// follower remembers what was printed.
type follower struct {
	*Source
	to    io.Writer
	lines *jsonout.Lines
	state string
	saves Saves
	begun bool
	had   []edit
}

// edit is an edit in a list: the path and what else tells it from others, and the lines.
type edit struct{ path, of, text string }

// look prints what has changed.
func (f *follower) look() (ok bool, err error) {
	state, saves, ok, err := f.State()
	if err != nil || !ok || saves.Running || f.begun && state == f.state {
		return ok, err
	}
	var list bytes.Buffer
	if err := f.List(&list); err != nil {
		return false, err
	}
	// What a save has taken meanwhile was not taken back.
	if _, later, ok, err := f.State(); err != nil || !ok || later != saves {
		return ok, err
	}
	now := f.parse(list.String())
	saved := f.begun && saves != f.saves
	if saved {
		if err := f.told(Saved{"saved", saves.Edits}, "saved %s\n", shown.Plural(saves.Edits, "edit")); err != nil {
			return false, err
		}
	}
	if err := f.tell(now, !saved); err != nil {
		return false, err
	}
	f.state, f.saves, f.begun, f.had = state, saves, true, now
	return true, nil
}

// tell prints the edits that are new or have changed and, if those that are gone were taken back, them.
func (f *follower) tell(now []edit, takenBack bool) error {
	had, paths := map[edit]bool{}, map[string]bool{}
	for _, e := range f.had {
		had[e] = true
	}
	for _, e := range now {
		paths[e.path] = true
		if had[e] {
			continue
		}
		if err := f.print(&e); err != nil {
			return err
		}
	}
	for _, e := range f.had {
		if !takenBack || paths[e.path] {
			continue
		}
		paths[e.path] = true
		if err := f.told(Undone{"undone", e.path}, "undone %s\n", e.path); err != nil {
			return err
		}
	}
	return nil
}

// print prints an edit.
func (f *follower) print(e *edit) (err error) {
	if f.JSON {
		return f.lines.Write(json.RawMessage(e.text))
	}
	_, err = io.WriteString(f.to, e.text)
	return err
}

// told prints a line that is no edit.
func (f *follower) told(asJSON any, format string, args ...any) error {
	if f.JSON {
		return f.lines.Write(asJSON)
	}
	_, err := shown.Fprintf(f.to, format, args...)
	return err
}

// parse takes a list apart.
func (f *follower) parse(list string) (edits []edit) {
	for line := range strings.Lines(list) {
		if f.JSON {
			edits = append(edits, parseJSON(line))
			continue
		}
		path, _, _ := strings.Cut(strings.TrimRight(line[min(2, len(line)):], "\n"), " = ")
		// What an attribute was and what it is are one edit.
		if last := len(edits) - 1; last >= 0 && line[0] == '+' && edits[last].path == path && edits[last].text[0] == '-' {
			edits[last].text += line
			continue
		}
		edits = append(edits, edit{path: path, text: line})
	}
	return slices.Clip(edits)
}

// parseJSON takes a line of JSON apart. The first of a list has the version of the schema, which is no
// part of an edit.
func parseJSON(line string) edit {
	var e struct{ Kind, Path string }
	if err := json.Unmarshal([]byte(line), &e); err != nil {
		return edit{text: line}
	}
	return edit{e.Path, e.Kind, strings.Replace(line, `"schema_version":1,`, "", 1)}
}
