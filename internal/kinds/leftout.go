package kinds

import (
	"errors"
	"fmt"

	"lorefs/internal/save"
	"lorefs/internal/source"
	"lorefs/nodes"
	"lorefs/nodes/overlay"
)

// LeftOut is what lies in a mount and is not saved with it.
type LeftOut struct {
	// Refused are texts that can't become what their files hold.
	Refused []RefusedText `json:"refused"`
	// Failed are texts with which nothing is wrong, but that could not be taken: the journal
	// had no space for them, or the source was changed by another program.
	Failed []RefusedText `json:"failed"`
	// Scratch are editors' files, Strays all others without a value, such as new files and
	// those that are no part of the source.
	Scratch SomeFiles `json:"scratch"`
	Strays  SomeFiles `json:"strays"`
}

// RefusedText tells of a text that is not saved.
type RefusedText struct {
	Path string `json:"path"`
	// Line and Column count from 1. They are 0 if no place in the text is to blame.
	Line   int    `json:"line"`
	Column int    `json:"column"`
	Reason string `json:"reason"`
}

// SomeFiles are counted, and some are named.
type SomeFiles struct {
	Count int      `json:"count"`
	Names []string `json:"names"`
}

// mostNames is how many are named.
const mostNames = 5

func (s *SomeFiles) add(files []string) {
	s.Count += len(files)
	s.Names = append(s.Names, files[:min(len(files), mostNames-len(s.Names))]...)
}

// LeftOut is what all editors leave out.
func (s *Source) LeftOut() LeftOut {
	l := LeftOut{
		Refused: []RefusedText{}, Failed: []RefusedText{},
		Scratch: SomeFiles{Names: []string{}}, Strays: SomeFiles{Names: []string{}},
	}
	for _, e := range s.Editors {
		for _, r := range e.Refused() {
			if isFailure(r.Problem) {
				l.Failed = append(l.Failed, tellRefused(&r))
			} else {
				l.Refused = append(l.Refused, tellRefused(&r))
			}
		}
		loose := e.Loose()
		l.Scratch.add(loose.Scratch)
		l.Strays.add(loose.Strays)
	}
	return l
}

// isFailure tells why a text was not taken from what is wrong with the text itself.
func isFailure(problem error) bool {
	_, unjournalled := errors.AsType[*save.AppendError](problem)
	return unjournalled || errors.Is(problem, source.ErrChanged) || errors.Is(problem, nodes.ErrChanged)
}

// placed is an error that knows its place in a text.
type placed interface {
	error
	Place() (line, column int, what string)
}

func tellRefused(r *overlay.Refused) RefusedText {
	t := RefusedText{Path: r.Path, Reason: r.Problem.Error()}
	if p, ok := errors.AsType[placed](r.Problem); ok {
		t.Line, t.Column, t.Reason = p.Place()
	} else if a, ok := errors.AsType[*save.AppendError](r.Problem); ok {
		t.Reason = a.Error()
	}
	return t
}

// String is as compilers tell of a mistake: FILE:LINE:COLUMN: REASON.
func (t *RefusedText) String() string {
	if t.Line == 0 {
		return fmt.Sprintf("%s: %s", t.Path, t.Reason)
	}
	return fmt.Sprintf("%s:%d:%d: %s", t.Path, t.Line, t.Column, t.Reason)
}

// Texts is how many texts are not saved.
func (l *LeftOut) Texts() int { return len(l.Refused) + len(l.Failed) }
