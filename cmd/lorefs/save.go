package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"lorefs/datacenter"
	"lorefs/internal/replace"
	"lorefs/internal/save"
	"lorefs/internal/shown"
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
	mu sync.Mutex
	// reports are those of the editors, as far as it came.
	reports []save.Report
	// failed is why the last attempt failed, or nil.
	failed error
}

func (s *saves) note(reports []save.Report, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reports, s.failed = reports, err
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

// edit begins to edit the source.
func (m *mounting) edit(ctx context.Context) error {
	layout, err := datacenter.ParseLayout(m.flags.source.layout)
	if err != nil {
		return err
	}
	err = m.opened.edit(ctx, editOptions{
		layout: layout, noBackup: m.flags.noBackup, quality: m.flags.quality, log: m.log,
	})
	for _, e := range m.opened.editors {
		if e.replayed() > 0 {
			m.log.Warn("edits of an earlier mount that were not saved are back",
				"edits", e.replayed(), "journal", e.journal())
		}
	}
	return err
}

// save writes back what was edited, when the mount is gone.
func (m *mounting) save(ctx context.Context) error {
	if m.opened.editors == nil {
		return nil
	}
	texts := m.keepTexts(ctx, time.Now()) // first, as it is quick
	return both(m.saveBy(ctx, true), texts)
}

// saveBy writes back what was edited. The error of a failure has exitUnsaved, and
// says where the edits are.
func (m *mounting) saveBy(ctx context.Context, last bool) error {
	// Saving goes through all of the source once or twice: to keep blocks for
	// later would only take room from what it makes.
	budget := m.opened.blocks.SetBudget(min(int64(m.flags.source.cacheSize), savingCache))
	limit := debug.SetMemoryLimit(saveMemory)
	reports, err := m.opened.save(ctx, last)
	debug.SetMemoryLimit(limit)
	m.opened.blocks.SetBudget(budget)
	debug.FreeOSMemory()
	if err != nil {
		m.log.Error("the edits were not saved", "err", err)
	}
	m.saves.note(reports, err)
	return err
}

// save has each editor save what is its own, whatever becomes of the others.
func (s *opened) save(ctx context.Context, last bool) ([]save.Report, error) {
	var reports []save.Report
	var failed *commandError
	for _, e := range s.editors {
		r, err := e.save(ctx, last)
		reports = append(reports, r)
		if err != nil {
			failed = failed.and(unsaved(e, err))
		}
	}
	if failed == nil {
		return reports, nil
	}
	return reports, failed
}

// unsaved is the error of a save that failed.
func unsaved(editor sourceEditor, err error) *commandError {
	outcome := "was not saved"
	if errors.Is(err, replace.ErrUnsynced) {
		outcome = "may not be saved for good"
	}
	e := &commandError{code: exitUnsaved, err: fmt.Errorf("%s %s: %w", editor.path(), outcome, err)}
	for _, c := range save.Conflicts(err) {
		e.hint += fmt.Sprintf("to go on with it, put %s in the place of %s; ", c.Path, c.File)
	}
	if journal := editor.journal(); journal != "" {
		e.hint += fmt.Sprintf("the edits are kept in %s; mount --rw brings them back", journal)
		if errors.Is(err, source.ErrChanged) {
			e.hint += ", once the file is back that they were made on"
		}
	}
	return e
}

// commit is save for one who waits.
func (m *mounting) commit() answer {
	if m.opened.editors == nil {
		return answer{Error: fmt.Sprintf("%s is mounted read-only", m.dir)}
	}
	err := m.saveBy(context.Background(), false)
	left := m.opened.leftOut()
	n := left.texts()
	texts := left.unsavedTexts(fmt.Sprintf("kept in the mount, in memory: save %[1]s anew or remove %[1]s there; at the end %[2]s put into %[3]s",
		verb(n, "it", "them"), they(n), refusedPath()))
	return answerOf(m.saves.last(), left, both(err, texts))
}

// answerOf tells of a save. Nothing was to be saved if there are no reports.
func answerOf(reports []save.Report, left leftOut, err error) answer {
	a := answer{Saved: reports, Left: left}
	if err != nil {
		a.Error, a.Unsaved = errorText(err), exitCode(err) == exitUnsaved
	}
	return a
}

// told prints what an answer says, the texts first that were not saved, and gives the error
// of the command.
func (a *answer) told(w io.Writer) error {
	a.Left.printTexts(w, ": ")
	err := a.printSaved(w)
	a.Left.printFiles(w, ": ")
	switch {
	case a.Unsaved:
		return errors.Join(err, &commandError{code: exitUnsaved, err: errors.New(a.Error)})
	case a.Error != "":
		return errors.Join(err, errors.New(a.Error))
	case a.Saved != nil && !a.wrote():
		_, err := fmt.Fprintln(w, "nothing was edited that is not saved")
		return err
	}
	return err
}

// wrote tells whether something was saved.
func (a *answer) wrote() bool {
	return slices.ContainsFunc(a.Saved, func(r save.Report) bool { return r.Path != "" })
}

// printSaved tells what was saved.
func (a *answer) printSaved(w io.Writer) error {
	for _, r := range a.Saved {
		if r.Path == "" {
			continue
		}
		text := fmt.Sprintf("saved %s to %s: %d bytes in %.1f s\n", plural(r.Edits, "edit"), shown.Text(r.Path), r.Bytes, r.Seconds)
		if r.Backup != "" {
			text += fmt.Sprintf("the file before is %s\n", shown.Text(r.Backup))
		}
		if r.Problem != "" {
			text += shown.Text(r.Problem) + "\n"
		}
		if _, err := io.WriteString(w, text); err != nil {
			return err
		}
	}
	return nil
}
