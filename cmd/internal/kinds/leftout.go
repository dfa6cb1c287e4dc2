package kinds

import (
	"errors"
	"fmt"

	"lorefs/cmd/internal/save"
	"lorefs/internal/source"
	"lorefs/nodes"
	"lorefs/nodes/overlay"
)

// LeftOut lists what a mount shows and a save does not write.
type LeftOut struct {
	// Refused are texts that can't become the content of their files.
	Refused []RefusedText `json:"refused"`
	// Failed are texts without a mistake that could not be taken: the journal had no space
	// for them, or another program has changed the source.
	Failed []RefusedText `json:"failed"`
	// Scratch are files of editors. Strays are all other files without a value, such as new
	// files and files that are no part of the source.
	Scratch SomeFiles `json:"scratch"`
	Strays  SomeFiles `json:"strays"`
}

// RefusedText is a text that was not saved, and why.
type RefusedText struct {
	Path string `json:"path"`
	// Line and Column count from 1. They are 0 if the reason has no place in the text.
	Line   int    `json:"line"`
	Column int    `json:"column"`
	Reason string `json:"reason"`
}

// SomeFiles counts files and names the first of them.
type SomeFiles struct {
	Count int      `json:"count"`
	Names []string `json:"names"`
}

// mostNames is the largest number of files that SomeFiles names.
const mostNames = 5

func (s *SomeFiles) add(files []string) {
	s.Count += len(files)
	s.Names = append(s.Names, files[:min(len(files), mostNames-len(s.Names))]...)
}

// LeftOut returns what none of the sessions would save.
func (s *Source) LeftOut() LeftOut {
	l := LeftOut{
		Refused: []RefusedText{}, Failed: []RefusedText{},
		Scratch: SomeFiles{Names: []string{}}, Strays: SomeFiles{Names: []string{}},
	}
	for _, e := range s.Sessions {
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

// isFailure reports whether a text without a mistake could not be taken.
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

// String returns FILE:LINE:COLUMN: REASON, as compilers report mistakes.
func (t *RefusedText) String() string {
	if t.Line == 0 {
		return fmt.Sprintf("%s: %s", t.Path, t.Reason)
	}
	return fmt.Sprintf("%s:%d:%d: %s", t.Path, t.Line, t.Column, t.Reason)
}

// Texts returns the number of texts that were not saved.
func (l *LeftOut) Texts() int { return len(l.Refused) + len(l.Failed) }
