package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"lorefs/datacenter"
	"lorefs/internal/pending"
	"lorefs/internal/replace"
	"lorefs/internal/session"
	"lorefs/internal/source"
)

const (
	// savingCache is how much of the source is kept inflated while it is saved.
	savingCache = 64 << 20
	// saveMemory is what the process may have meanwhile: the new file in its
	// inflated form, where each part of it went, and room for garbage.
	saveMemory = 670 << 20
)

// saves remembers what came of saving.
type saves struct {
	mu     sync.Mutex
	report *session.Report
	// failed is why the last attempt failed, or nil.
	failed error
}

func (s *saves) note(r session.Report, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.report, s.failed = &r, err
}

func (s *saves) last() *session.Report {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.report
}

func (s *saves) problem() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failed
}

// edit begins to edit the source.
func (m *mounting) edit(ctx context.Context) error {
	layout, err := datacenter.ParseLayout(m.flags.source.layout)
	if err != nil {
		return err
	}
	err = m.opened.edit(ctx, editOptions{
		layout: layout, noBackup: m.flags.noBackup, quality: m.flags.quality, log: m.log,
	})
	if err == nil && m.opened.editor.replayed() > 0 {
		m.log.Warn("edits of an earlier mount that were not saved are back",
			"edits", m.opened.editor.replayed(), "journal", m.opened.editor.journal())
	}
	return err
}

// save writes back what was edited, when the mount is gone.
func (m *mounting) save(ctx context.Context) error {
	if m.opened.editor == nil {
		return nil
	}
	kept, err := m.keepRefused(time.Now()) // first, as it is quick
	m.kept = kept
	return errors.Join(m.saveBy(ctx, true), err)
}

// saveBy writes back what was edited. The error of a failure has exitUnsaved, and
// says where the edits are.
func (m *mounting) saveBy(ctx context.Context, last bool) error {
	// Saving goes through all of the source once or twice: to keep blocks for
	// later would only take room from what it makes.
	budget := m.opened.blocks.SetBudget(min(int64(m.flags.source.cacheSize), savingCache))
	limit := debug.SetMemoryLimit(saveMemory)
	r, err := m.opened.editor.save(ctx, last)
	debug.SetMemoryLimit(limit)
	m.opened.blocks.SetBudget(budget)
	debug.FreeOSMemory()
	if err != nil {
		err = m.unsaved(err)
		m.log.Error("the edits were not saved", "err", err)
	}
	m.saves.note(r, err)
	return err
}

// mostNames is how many files are named that were not saved.
const mostNames = 5

// unsaved is the error of a save that failed.
func (m *mounting) unsaved(err error) error {
	outcome := "was not saved"
	if errors.Is(err, replace.ErrUnsynced) {
		outcome = "may not be saved for good"
	}
	e := &commandError{code: exitUnsaved, err: fmt.Errorf("%s %s: %w", m.source, outcome, err)}
	for _, c := range pending.Conflicts(err) {
		e.hint += fmt.Sprintf("to go on with it, put %s in the place of %s; ", c.Path, c.File)
	}
	if journal := m.opened.editor.journal(); journal != "" {
		e.hint += fmt.Sprintf("the edits are kept in %s; mount --rw brings them back", journal)
		if errors.Is(err, source.ErrChanged) {
			e.hint += ", once the file is back that they were made on"
		}
	}
	return e
}

// commit is save for one who waits.
func (m *mounting) commit() answer {
	if m.opened.editor == nil {
		return answer{Error: fmt.Sprintf("%s is mounted read-only", m.dir)}
	}
	err := m.saveBy(context.Background(), false)
	return answerOf(m.saves.last(), err)
}

// lastAnswer tells those who wait for the end what came of the last save, and
// what was left out of it.
func (m *mounting) lastAnswer(err error) answer {
	a := answerOf(m.saves.last(), err)
	if m.opened.editor != nil {
		a.Left, a.Names = m.opened.editor.unsaved(mostNames)
		a.Kept = m.kept
	}
	return a
}

// answerOf tells of a save. Nothing was to be saved if r is nil.
func answerOf(r *session.Report, err error) answer {
	a := answer{Saved: r}
	if err != nil {
		a.Error = errorText(err)
		a.Unsaved = true
	}
	return a
}

// saved turns an answer into what a command says and returns.
func (a *answer) saved(w io.Writer) error {
	if a.Left > 0 {
		_, err := fmt.Fprintf(w, "not saved: %d files that hold no value, such as %s\n", a.Left, strings.Join(a.Names, ", "))
		if err != nil {
			return err
		}
	}
	if a.Kept != "" {
		if _, err := fmt.Fprintf(w, "the texts that were refused are kept in %s\n", a.Kept); err != nil {
			return err
		}
	}
	switch {
	case a.Unsaved:
		return &commandError{code: exitUnsaved, err: errors.New(a.Error)}
	case a.Error != "":
		return errors.New(a.Error)
	case a.Saved == nil:
		return nil
	case a.Saved.Path == "":
		_, err := fmt.Fprintln(w, "nothing was edited that is not saved")
		return err
	}
	_, err := fmt.Fprintf(w, "saved %d edits to %s: %d bytes in %.1f s\n",
		a.Saved.Edits, a.Saved.Path, a.Saved.Bytes, a.Saved.Seconds)
	if err == nil && a.Saved.Backup != "" {
		_, err = fmt.Fprintf(w, "the file before is %s\n", a.Saved.Backup)
	}
	if err == nil && a.Saved.Problem != "" {
		_, err = fmt.Fprintln(w, a.Saved.Problem)
	}
	return err
}
