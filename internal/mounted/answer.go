package mounted

import (
	"errors"
	"fmt"
	"slices"
	"syscall"

	"lorefs/fs"
	"lorefs/internal/daemon"
	"lorefs/internal/kinds"
	"lorefs/internal/save"
)

// Answer is what a mount says to a request. Error is empty if all is well.
type Answer struct {
	// More tells that this is a part of an answer, which the next frames go on with.
	More   bool    `json:"more,omitempty"`
	Error  string  `json:"error,omitempty"`
	Busy   bool    `json:"busy,omitempty"`
	Status *Status `json:"status,omitempty"`
	// Saved are what was saved by each session, none if nothing can be.
	Saved []save.Report `json:"saved,omitempty"`
	// Left is what was not saved with it.
	Left kinds.LeftOut `json:"left,omitzero"`
	// Kept is the folder that texts are put into at the end that were not saved.
	Kept string `json:"kept,omitempty"`
	// Unsaved tells that Error is why something was not saved.
	Unsaved bool `json:"unsaved,omitempty"`
	// Editing tells that an answer follows when all is saved, Begun what is about to be.
	Editing bool    `json:"editing,omitempty"`
	Begun   []Begun `json:"begun,omitempty"`
}

// left is where the answer has what is not saved.
func (a *Answer) left() *kinds.LeftOut {
	if a.Status != nil && a.Status.Editing != nil {
		return &a.Status.Editing.LeftOut
	}
	return &a.Left
}

// textsAtOnce is how many texts of a kind a frame tells of at most. Each has a path and a
// reason of some hundred bytes, of some thousand at worst.
const textsAtOnce = 64

// frames are as many as the texts of an answer take.
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

// NextAnswer reads the frames of an answer. At the end, and within it, it gives io.EOF.
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

// Begun tells of edits that are saved once nobody uses the mount any more.
type Begun struct {
	Path  string `json:"path"`
	Edits int64  `json:"edits"`
	// Converts is the layout that saving makes of the source, empty if it stays.
	Converts string `json:"converts,omitempty"`
}

// AnswerOf tells of a save, and by tell of what failed. Nothing was to be saved if there are
// no reports.
func AnswerOf(reports []save.Report, left kinds.LeftOut, err error, tell func(error) string) Answer {
	a := Answer{Saved: reports, Left: left}
	if err != nil {
		a.Error = tell(err)
		_, a.Unsaved = errors.AsType[*SaveError](err)
	}
	return a
}

// Wrote tells whether something was saved.
func (a *Answer) Wrote() bool {
	return slices.ContainsFunc(a.Saved, func(r save.Report) bool { return r.Path != "" })
}

// Talk asks the mount on name, a [daemon.Name].
func Talk(name string, r daemon.Request) (a Answer, line *daemon.Line, err error) {
	line, err = daemon.Talk(name, r, func(l *daemon.Line) (err error) {
		a, err = NextAnswer(l)
		return err
	})
	return a, line, err
}

// answer does what a request asks for. Who was granted an unmount stays to be told of the
// end.
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

// granted is the answer to an unmount that was granted. Who does not wait for the end is
// told what there is to save.
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

// Listen lets the mount be asked.
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
