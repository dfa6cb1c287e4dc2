package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"lorefs/datacenter"
	"lorefs/internal/kinds"
	"lorefs/internal/pending"
	"lorefs/internal/replace"
	"lorefs/internal/session"
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
	reports []session.Report
	// failed is why the last attempt failed, or nil.
	failed error
}

func (s *saves) note(reports []session.Report, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reports, s.failed = reports, err
}

func (s *saves) last() []session.Report {
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
	err = edit(ctx, m.opened, kinds.EditOptions{
		Layout: layout, NoBackup: m.flags.noBackup, Quality: m.flags.quality, Logger: m.log,
	})
	for _, e := range m.opened.Editors {
		if e.Replayed() > 0 {
			m.log.Warn("edits of an earlier mount that were not saved are back",
				"edits", e.Replayed(), "journal", e.Journal())
		}
	}
	return err
}

// save writes back what was edited, when the mount is gone.
func (m *mounting) save(ctx context.Context) error {
	if m.opened.Editors == nil {
		return nil
	}
	texts := m.keepTexts(ctx) // first, as it is quick
	return both(m.saveBy(ctx, true), texts)
}

// keepTexts keeps what would go with the mount. The error tells of all texts that are not
// saved, and of those that are lost.
func (m *mounting) keepTexts(ctx context.Context) error {
	folders, lost := m.opened.KeepTexts(ctx, filepath.Base(m.source), time.Now(), m.log)
	hint := ""
	if len(folders) > 0 {
		hint = "kept in " + strings.Join(folders, " and ")
	}
	if lost != nil {
		lost = &commandError{code: exitUnsaved, err: lost}
	}
	left := m.opened.LeftOut()
	return both(unsavedTexts(&left, hint), lost)
}

// saveBy writes back what was edited. The error of a failure has exitUnsaved, and
// says where the edits are.
func (m *mounting) saveBy(ctx context.Context, last bool) error {
	// Saving goes through all of the source once or twice: to keep blocks for
	// later would only take room from what it makes.
	budget := m.opened.Blocks.SetBudget(min(int64(m.flags.source.cacheSize), savingCache))
	limit := debug.SetMemoryLimit(saveMemory)
	reports, err := save(ctx, m.opened, last)
	debug.SetMemoryLimit(limit)
	m.opened.Blocks.SetBudget(budget)
	debug.FreeOSMemory()
	if err != nil {
		m.log.Error("the edits were not saved", "err", err)
	}
	m.saves.note(reports, err)
	return err
}

// save has each editor save what is its own, whatever becomes of the others.
func save(ctx context.Context, s *kinds.Source, last bool) ([]session.Report, error) {
	reports, errs := s.Save(ctx, last)
	var failed *commandError
	for _, e := range errs {
		failed = failed.and(unsaved(e.Editor, e.Err))
	}
	if failed == nil {
		return reports, nil
	}
	return reports, failed
}

// unsaved is the error of a save that failed.
func unsaved(editor kinds.Editor, err error) *commandError {
	outcome := "was not saved"
	if errors.Is(err, replace.ErrUnsynced) {
		outcome = "may not be saved for good"
	}
	e := &commandError{code: exitUnsaved, err: fmt.Errorf("%s %s: %w", editor.Path(), outcome, err)}
	for _, c := range pending.Conflicts(err) {
		e.hint += fmt.Sprintf("to go on with it, put %s in the place of %s; ", c.Path, c.File)
	}
	if journal := editor.Journal(); journal != "" {
		e.hint += fmt.Sprintf("the edits are kept in %s; mount --rw brings them back", journal)
		if errors.Is(err, source.ErrChanged) {
			e.hint += ", once the file is back that they were made on"
		}
	}
	return e
}

// commit is save for one who waits.
func (m *mounting) commit() answer {
	if m.opened.Editors == nil {
		return answer{Error: fmt.Sprintf("%s is mounted read-only", m.dir)}
	}
	err := m.saveBy(context.Background(), false)
	left := m.opened.LeftOut()
	n := left.Texts()
	texts := unsavedTexts(&left, fmt.Sprintf("kept in the mount, in memory: save %[1]s anew or remove %[1]s there; at the end %[2]s put into %[3]s",
		shown.Verb(n, "it", "them"), shown.They(n), kinds.RefusedPath()))
	return answerOf(m.saves.last(), left, both(err, texts))
}

// answerOf tells of a save. Nothing was to be saved if there are no reports.
func answerOf(reports []session.Report, left kinds.LeftOut, err error) answer {
	a := answer{Saved: reports, Left: left}
	if err != nil {
		a.Error, a.Unsaved = errorText(err), exitCode(err) == exitUnsaved
	}
	return a
}

// told prints what an answer says, the texts first that were not saved, and gives the error
// of the command.
func (a *answer) told(w io.Writer) error {
	printTexts(w, &a.Left, ": ")
	err := a.printSaved(w)
	printFiles(w, &a.Left, ": ")
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
	return slices.ContainsFunc(a.Saved, func(r session.Report) bool { return r.Path != "" })
}

// printSaved tells what was saved.
func (a *answer) printSaved(w io.Writer) error {
	for _, r := range a.Saved {
		if r.Path == "" {
			continue
		}
		text := fmt.Sprintf("saved %s to %s: %d bytes in %.1f s\n", shown.Plural(r.Edits, "edit"), shown.Text(r.Path), r.Bytes, r.Seconds)
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
