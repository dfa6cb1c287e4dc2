package main

import (
	"errors"
	"fmt"
	"syscall"

	"lorefs/fs"
	"lorefs/internal/daemon"
	"lorefs/internal/session"
)

// answer is what a mount says to a request. Error is empty if all is well.
type answer struct {
	Error  string  `json:"error,omitempty"`
	Busy   bool    `json:"busy,omitempty"`
	Status *status `json:"status,omitempty"`
	// Saved are what was saved by each editor, none if nothing can be.
	Saved []session.Report `json:"saved,omitempty"`
	// Left is what was not saved with it.
	Left leftOut `json:"left,omitzero"`
	// Kept is the folder that texts are put into at the end that were not saved.
	Kept string `json:"kept,omitempty"`
	// Unsaved tells that Error is why something was not saved.
	Unsaved bool `json:"unsaved,omitempty"`
	// Editing tells that an answer follows when all is saved, Begun what is about to be.
	Editing bool    `json:"editing,omitempty"`
	Begun   []begun `json:"begun,omitempty"`
}

// talk asks the mount on name, a [daemon.Name].
func talk(name string, r daemon.Request) (a answer, line *daemon.Line, err error) {
	line, err = daemon.Talk(name, r, &a)
	return a, line, err
}

// answer does what a request asks for. Who was granted an unmount stays to be told of the
// end.
func (m *mounting) answer(r daemon.Request) (_ any, stays bool) {
	switch r.Do {
	case daemon.Status:
		return answer{Status: m.status()}, false
	case daemon.Commit:
		return m.commit(), false
	case daemon.Unmount:
		if err := m.served.Unmount(r.Lazy); err != nil {
			return answer{Error: err.Error(), Busy: errors.Is(err, syscall.EBUSY) || errors.Is(err, fs.ErrDetached)}, false
		}
		return m.granted(r.Lazy), true
	}
	return answer{Error: fmt.Sprintf("unknown request %q", r.Do)}, false
}

// listen lets the mount be asked.
func (m *mounting) listen() (*daemon.Control, error) {
	beside := ""
	if len(m.opened.editors) > 1 {
		beside = m.opened.editors[1].path()
	}
	return daemon.Listen(m.dir, beside, m.answer, m.log)
}
