package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"lorefs/datacenter"
	"lorefs/internal/pending"
	"lorefs/internal/replace"
	"lorefs/internal/source"
)

// Editor is what is edited with a draft: it lets nobody edit while store runs.
type Editor interface {
	Save(ctx context.Context, store func(*datacenter.Snapshot) error) error
}

// Report says what Save has done.
type Report struct {
	// Path is the file that was written, empty if there was nothing to save.
	Path string `json:"path,omitempty"`
	// Edits is how many it holds that the one before did not, Bytes its size.
	Edits int64 `json:"edits"`
	Bytes int64 `json:"bytes"`
	// Backup is the path of the file before, empty if it was not kept.
	Backup string `json:"backup,omitempty"`
	// Seconds is how long it took.
	Seconds float64 `json:"seconds"`
	// Problem is why nothing can be edited any more although all is saved, or empty.
	Problem string `json:"problem,omitempty"`
}

// Pending tells whether there is something to save.
func (s *Session) Pending() bool { return s.draft.Pending() > 0 || s.Converts() }

// Save writes what was edited in the place of the source, if anything was. If
// it fails, the source is as it was and the journal is kept, unless the error
// matches [replace.ErrUnsynced]: then the new file is in place, nothing can be
// edited, and saving again may make good for it. If the source is not the one any
// more that was edited, the error is a [*pending.ConflictError] as far as that is possible.
//
// A journal that fails is no reason not to save: it is needed only if the process
// dies meanwhile.
func (s *Session) Save(ctx context.Context, e Editor) (Report, error) {
	s.saving.Lock()
	defer s.saving.Unlock()
	s.isSaving.Store(true)
	defer s.isSaving.Store(false)
	began := time.Now()
	var r Report
	err := e.Save(ctx, func(w *datacenter.Snapshot) error {
		if !s.Pending() {
			return nil
		}
		r.Edits = s.draft.Pending()
		err := s.src.CheckNow() // early, as writing takes long
		if err == nil {
			err = s.store(ctx, w, &r)
		}
		if errors.Is(err, source.ErrChanged) {
			err = s.rescue(ctx, w, err)
		}
		return err
	})
	r.Seconds = time.Since(began).Seconds()
	return r, err
}

// store puts a new file in the place of the source.
func (s *Session) store(ctx context.Context, w *datacenter.Snapshot, r *Report) error {
	s.edits.SyncToSave()
	var out *pending.Summer
	var written *datacenter.Written
	var base *newBase
	var ready os.FileInfo
	err := replace.Replace(ctx, s.path, replace.Options{
		Size: s.src.Size(), NoBackup: s.opts.NoBackup || s.isUnsynced(),
		Check: s.src.CheckNow,
		Ready: func(info os.FileInfo) error {
			ready = info
			s.src.Expect(info) // whoever reads meanwhile may find either file
			s.announce(out.Identity())
			return nil
		},
		Before: s.opts.before,
		Logger: s.opts.Logger,
	}, func(to io.Writer) (err error) {
		out = pending.NewSummer(to)
		written, err = w.Write(ctx, s.opts.Write, out)
		return err
	}, func(f *os.File) (err error) {
		base, err = s.verify(ctx, written, f)
		return err
	})
	if err != nil && !errors.Is(err, replace.ErrUnsynced) {
		s.src.Expect(nil)
		return err
	}
	id := out.Identity()
	r.Path, r.Bytes = s.path, id.Size
	if !s.opts.NoBackup {
		r.Backup = s.path + ".bak"
	}
	problem := s.adopt(id, ready, err)
	if err == nil && problem == nil {
		problem = s.goOn(s.rebase(ctx, written, base, ready))
	}
	if problem != nil {
		r.Problem = problem.Error()
	}
	return err
}

// goOn tells why nothing can be edited any more, if there is a reason.
func (s *Session) goOn(err error) error {
	if err == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failed = fmt.Errorf("it can't be edited any more: %w: mount it anew to go on", err)
	return s.failed
}

// isUnsynced tells whether the file in place is one that is to be saved again:
// the one before it is the backup then.
func (s *Session) isUnsynced() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.unsynced
}

// verify reads back what was written and compares it with the draft.
func (s *Session) verify(ctx context.Context, w *datacenter.Written, f *os.File) (*newBase, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	opts := s.opts.Reopen()
	opts.ModTime = info.ModTime()
	b := &newBase{to: f}
	if b.file, err = datacenter.Open(ctx, b, info.Size(), opts); err != nil {
		return nil, fmt.Errorf("reading back what was written: %w", err)
	}
	return b, w.Compare(ctx, b.file)
}

// announce notes in the journal what the source is about to become.
func (s *Session) announce(id pending.Identity) {
	b, err := json.Marshal(id)
	if err != nil {
		panic(fmt.Sprintf("BUG: %+v is no JSON: %v", id, err))
	}
	s.edits.Announce(append([]byte{recordSaving}, b...))
}

// adopt goes on with the file that was put in place. If that may not outlast a
// power cut, the journal stays, and nothing can be added to it until the file was
// saved once more: to rename it anew is the only way to have the folder synced
// for certain. The error tells why nothing can be edited although all is saved.
func (s *Session) adopt(id pending.Identity, info os.FileInfo, unsynced error) error {
	s.src.Adopt(info)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.id = id
	s.unsynced, s.failed = unsynced != nil, nil
	lockErr := s.edits.LockAgain()
	if unsynced != nil {
		s.failed = fmt.Errorf("%w: save again to go on", unsynced)
		return nil
	}
	s.layout = s.opts.Write.Layout
	s.edits.Retire()
	if lockErr != nil {
		s.failed = fmt.Errorf("it can't be edited any more: %w: mount it anew to go on", lockErr)
	}
	return s.failed
}
