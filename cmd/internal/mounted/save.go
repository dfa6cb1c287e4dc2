package mounted

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"lorefs/cmd/internal/budget"
	"lorefs/cmd/internal/daemon"
	"lorefs/cmd/internal/kinds"
	"lorefs/cmd/internal/save"
	"lorefs/internal/cores"
	"lorefs/internal/shown"
)

// saves has the results of the last save, and the progress of the one that runs.
type saves struct {
	// running is held while the editors save: each is to do that once at a time, and what the
	// process may have meanwhile is to be set back to what it was.
	running sync.Mutex

	mu sync.Mutex
	// reports are the reports of the sessions that the save reached.
	reports []save.Report
	// failed is why the last attempt failed, or nil.
	failed error
	// now describes the save that runs, or is nil.
	now *SaveStatus
}

// SaveStatus describes a save that runs.
type SaveStatus struct {
	Since time.Time `json:"since"`
	save.Progress
}

func (s *saves) begin() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = &SaveStatus{Since: time.Now().UTC(), Progress: save.Progress{Stage: save.Writing}}
}

func (s *saves) show(p save.Progress) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now.Progress = p
}

// status returns what runs, or nil.
func (s *saves) status() *SaveStatus {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.now == nil {
		return nil
	}
	now := *s.now
	return &now
}

func (s *saves) remember(reports []save.Report, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reports, s.failed, s.now = reports, err, nil
}

func (s *saves) last() []save.Report {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.reports
}

func (s *saves) problem() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failed
}

// SaveError says which edits and texts were not saved.
type SaveError struct {
	// Failed are the sessions that could not save.
	Failed []*kinds.UnsavedError
	// Left has the texts that can't be saved. They stay in the mount while the source is
	// mounted. Once it has Ended, they are in the folders Kept, and Lost is the error for
	// texts that are lost.
	Left  kinds.LeftOut
	Ended bool
	Kept  []string
	Lost  error
}

func (e *SaveError) Error() string { return errors.Join(e.Unwrap()...).Error() }

// Unwrap returns the errors of the sessions and of the texts.
func (e *SaveError) Unwrap() []error {
	var errs []error
	for _, f := range e.Failed {
		errs = append(errs, f)
	}
	if e.Lost != nil {
		errs = append(errs, e.Lost)
	}
	if n := e.Left.Texts(); n > 0 {
		errs = append(errs, fmt.Errorf("%s not saved", shown.Plural(n, "text")))
	}
	return errs
}

// orNil returns nil if everything was saved.
func (e *SaveError) orNil() error {
	if len(e.Failed) == 0 && e.Lost == nil && e.Left.Texts() == 0 {
		return nil
	}
	return e
}

// Save saves what was edited, after the mount is gone, and tells those who wait for that. It
// can be called once. The error is a [*SaveError].
func (m *Mount) Save(ctx context.Context) error {
	defer close(m.saved)
	if m.source.Sessions == nil {
		return nil
	}
	var how save.How
	if r := m.ending.Load(); r != nil {
		if r.Discard {
			return m.discard()
		}
		how = howOf(r)
	}
	how.Last = true
	err := m.saveAll(ctx, how)
	m.last = AnswerOf(m.saves.last(), m.source.LeftOut(), err, m.opts.Tell)
	return err
}

// howOf returns how a request wants to save.
func howOf(r *daemon.Request) save.How { return save.How{Repack: r.Repack, VerifyAll: r.VerifyAll} }

func (m *Mount) saveAll(ctx context.Context, how save.How) error {
	e := SaveError{Ended: true}
	// Texts come first, since they are quick to write.
	e.Kept, e.Lost = m.source.KeepTexts(ctx, filepath.Base(m.opts.Path), time.Now(), m.opts.Logger)
	e.Left = m.source.LeftOut()
	e.Failed = m.save(ctx, how)
	return e.orNil()
}

// commit saves while the source stays mounted.
func (m *Mount) commit(how save.How) Answer {
	if m.source.Sessions == nil {
		return Answer{Error: fmt.Sprintf("%s is mounted read-only", m.opts.Dir)}
	}
	failed := m.save(context.Background(), how)
	e := SaveError{Failed: failed, Left: m.source.LeftOut()}
	return AnswerOf(m.saves.last(), e.Left, e.orNil(), m.opts.Tell)
}

// save saves all sessions.
func (m *Mount) save(ctx context.Context, how save.How) []*kinds.UnsavedError {
	m.saves.running.Lock()
	defer m.saves.running.Unlock()
	m.saves.begin()
	defer cores.Share()() // with those who write meanwhile
	reports, failed := m.source.Save(ctx, how, m.saves.show)
	budget.Free()
	for _, err := range failed {
		m.opts.Logger.Error("the edits were not saved", "err", err)
	}
	m.saves.remember(reports, (&SaveError{Failed: failed}).orNil())
	return failed
}
