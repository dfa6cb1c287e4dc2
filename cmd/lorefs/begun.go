package main

import (
	"io"

	"lorefs/internal/kinds"
	"lorefs/internal/shown"
)

// begun tells of edits that are saved once nobody uses the mount any more.
type begun struct {
	Path  string `json:"path"`
	Edits int64  `json:"edits"`
	// Converts is the layout that saving makes of the source, empty if it stays.
	Converts string `json:"converts,omitempty"`
}

// granted is the answer to an unmount that was granted. Who does not wait for the end is
// told what there is to save.
func (m *mounting) granted(lazy bool) answer {
	a := answer{Editing: m.opened.Editors != nil}
	if !lazy || !a.Editing {
		return a
	}
	for _, e := range m.opened.Editors {
		if e.Pending() > 0 || e.Converts() != "" {
			a.Begun = append(a.Begun, begun{e.Path(), e.Pending(), e.Converts()})
		}
	}
	a.Left, a.Kept = m.opened.LeftOut(), kinds.RefusedPath()
	return a
}

// toldBegun prints what an answer says to one who does not wait for the end, and gives the
// error of the command.
func (a *answer) toldBegun(w io.Writer) error {
	printTexts(w, &a.Left, ": ")
	for _, b := range a.Begun {
		what := shown.Plural(b.Edits, "edit") + " of " + b.Path
		if b.Converts != "" {
			what += ", in the layout " + b.Converts
		}
		if _, err := shown.Fprintf(w, "saving begins once nobody uses the mount: %s; lorefs journal list tells of what is not saved yet\n", what); err != nil {
			return err
		}
	}
	printFiles(w, &a.Left, ": ")
	return unsavedTexts(&a.Left, "at the end "+shown.They(a.Left.Texts())+" put into "+a.Kept)
}
