package mounted

import (
	"errors"
	"fmt"
	"slices"
	"syscall"

	"lorefs/fs"
	"lorefs/internal/app/daemon"
	"lorefs/internal/app/kinds"
	"lorefs/internal/app/save"
)

// Answer is the answer of a mount to a request. Error is empty if the request succeeded.
type Answer struct {
	// More says that the answer goes on in the next frames.
	More   bool    `json:"more,omitempty"`
	Error  string  `json:"error,omitempty"`
	Busy   bool    `json:"busy,omitempty"`
	Status *Status `json:"status,omitempty"`
	// Saved has a report of each session; it is empty if the mount is read-only.
	Saved []save.Report `json:"saved,omitempty"`
	// Left is what the save did not write.
	Left kinds.LeftOut `json:"left,omitzero"`
	// Kept is the folder that will get the texts that are not saved by the end of the mount.
	Kept string `json:"kept,omitempty"`
	// Unsaved says that Error is about edits that were not saved.
	Unsaved bool `json:"unsaved,omitempty"`
	// Editing says that another answer follows when all is saved, and Begun what will be
	// saved.
	Editing bool    `json:"editing,omitempty"`
	Begun   []Begun `json:"begun,omitempty"`
}

// left returns the part of the answer with what is not saved.
func (a *Answer) left() *kinds.LeftOut {
	if a.Status != nil && a.Status.Editing != nil {
		return &a.Status.Editing.LeftOut
	}
	return &a.Left
}

// textsAtOnce is the largest number of texts of a kind in a frame. Each has a path and a
// reason of some hundred bytes, at worst some thousand.
const textsAtOnce = 64

// frames splits an answer with many texts into several frames.
func (a Answer) frames() (all []any) {
	left := a.left()
	for len(left.Refused) > textsAtOnce {
		all = append(all, Answer{More: true, Left: kinds.LeftOut{Refused: left.Refused[:textsAtOnce]}})
		left.Refused = left.Refused[textsAtOnce:]
	}
	for len(left.Failed) > textsAtOnce {
		all = append(all, Answer{More: true, Left: kinds.LeftOut{Failed: left.Failed[:textsAtOnce]}})
		left.Failed = left.Failed[textsAtOnce:]
	}
	return append(all, a)
}

// NextAnswer reads the frames of an answer. It returns io.EOF if the mount closes the
// connection.
func NextAnswer(line *daemon.Line) (Answer, error) {
	refused, failed := []kinds.RefusedText{}, []kinds.RefusedText{}
	for {
		var a Answer
		if err := line.Next(&a); err != nil {
			return Answer{}, err
		}
		left := a.left()
		refused, failed = append(refused, left.Refused...), append(failed, left.Failed...)
		if !a.More {
			left.Refused, left.Failed = refused, failed
			return a, nil
		}
	}
}

// Begun describes edits that will be saved once nobody uses the mount any more.
type Begun struct {
	Path  string `json:"path"`
	Edits int64  `json:"edits"`
	// Converts is the layout that the save will give the source, or empty if it does not
	// change.
	Converts string `json:"converts,omitempty"`
}

// AnswerOf returns the answer about a save; tell makes the text of its error. reports is
// empty if there was nothing to save.
func AnswerOf(reports []save.Report, left kinds.LeftOut, err error, tell func(error) string) Answer {
	a := Answer{Saved: reports, Left: left}
	if err != nil {
		a.Error = tell(err)
		_, a.Unsaved = errors.AsType[*SaveError](err)
	}
	return a
}

// Wrote reports whether something was saved.
func (a *Answer) Wrote() bool {
	return slices.ContainsFunc(a.Saved, func(r save.Report) bool { return r.Path != "" })
}

// Talk sends a request to the mount with a [daemon.Name].
func Talk(name string, r daemon.Request) (a Answer, line *daemon.Line, err error) {
	line, err = daemon.Talk(name, r, func(l *daemon.Line) (err error) {
		a, err = NextAnswer(l)
		return err
	})
	return a, line, err
}

// answer does what a request asks for. stays says that the caller waits for the end of the
// mount.
func (m *Mount) answer(r daemon.Request) (a Answer, stays bool) {
	switch r.Do {
	case daemon.Status:
		return Answer{Status: m.status()}, false
	case daemon.Commit:
		return m.commit(), false
	case daemon.Unmount:
		if err := m.served.Unmount(r.Lazy); err != nil {
			return Answer{Error: err.Error(), Busy: errors.Is(err, syscall.EBUSY) || errors.Is(err, fs.ErrDetached)}, false
		}
		return m.granted(r.Lazy), true
	}
	return Answer{Error: fmt.Sprintf("unknown request %q", r.Do)}, false
}

// granted returns the answer to an unmount that will happen. A caller that does not wait for
// the end learns what there is to save.
func (m *Mount) granted(lazy bool) Answer {
	a := Answer{Editing: m.source.Sessions != nil}
	if !lazy || !a.Editing {
		return a
	}
	for _, e := range m.source.Sessions {
		if e.Pending() > 0 || e.Converts() != "" {
			a.Begun = append(a.Begun, Begun{e.Path(), e.Pending(), e.Converts()})
		}
	}
	a.Left, a.Kept = m.source.LeftOut(), kinds.RefusedPath()
	return a
}

// Listen starts to answer requests.
func (m *Mount) Listen() (*daemon.Control, error) {
	beside := ""
	if len(m.source.Sessions) > 1 {
		beside = m.source.Sessions[1].Path()
	}
	return daemon.Listen(m.opts.Dir, beside, func(r daemon.Request) ([]any, bool) {
		a, stays := m.answer(r)
		return a.frames(), stays
	}, m.opts.Logger)
}
