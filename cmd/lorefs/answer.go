package main

import (
	"errors"
	"fmt"
	"syscall"

	"lorefs/fs"
	"lorefs/internal/daemon"
	"lorefs/internal/save"
)

// answer is what a mount says to a request. Error is empty if all is well.
type answer struct {
	// More tells that this is a part of an answer, which the next frames go on with.
	More   bool    `json:"more,omitempty"`
	Error  string  `json:"error,omitempty"`
	Busy   bool    `json:"busy,omitempty"`
	Status *status `json:"status,omitempty"`
	// Saved are what was saved by each editor, none if nothing can be.
	Saved []save.Report `json:"saved,omitempty"`
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

// left is where the answer has what is not saved.
func (a *answer) left() *leftOut {
	if a.Status != nil && a.Status.Editing != nil {
		return &a.Status.Editing.leftOut
	}
	return &a.Left
}

// textsAtOnce is how many texts of a kind a frame tells of at most. Each has a path and a
// reason of some hundred bytes, of some thousand at worst.
const textsAtOnce = 64

// frames are as many as the texts of an answer take.
func (a answer) frames() (all []any) {
	left := a.left()
	for len(left.Refused) > textsAtOnce {
		all = append(all, answer{More: true, Left: leftOut{Refused: left.Refused[:textsAtOnce]}})
		left.Refused = left.Refused[textsAtOnce:]
	}
	for len(left.Failed) > textsAtOnce {
		all = append(all, answer{More: true, Left: leftOut{Failed: left.Failed[:textsAtOnce]}})
		left.Failed = left.Failed[textsAtOnce:]
	}
	return append(all, a)
}

// nextAnswer reads the frames of an answer. At the end, and within it, it gives io.EOF.
func nextAnswer(line *daemon.Line) (answer, error) {
	refused, failed := []refusedText{}, []refusedText{}
	for {
		var a answer
		if err := line.Next(&a); err != nil {
			return answer{}, err
		}
		left := a.left()
		refused, failed = append(refused, left.Refused...), append(failed, left.Failed...)
		if !a.More {
			left.Refused, left.Failed = refused, failed
			return a, nil
		}
	}
}

// talk asks the mount on name, a [daemon.Name].
func talk(name string, r daemon.Request) (a answer, line *daemon.Line, err error) {
	line, err = daemon.Talk(name, r, func(l *daemon.Line) (err error) {
		a, err = nextAnswer(l)
		return err
	})
	return a, line, err
}

// answer does what a request asks for. Who was granted an unmount stays to be told of the
// end.
func (m *mounting) answer(r daemon.Request) (a answer, stays bool) {
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
	return daemon.Listen(m.dir, beside, func(r daemon.Request) ([]any, bool) {
		a, stays := m.answer(r)
		return a.frames(), stays
	}, m.log)
}
