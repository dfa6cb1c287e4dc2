package folderedit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"lorefs/internal/links"
	"lorefs/internal/pending"
	"lorefs/internal/replace"
	"lorefs/internal/source"
)

// File is a file that is to be saved.
type File struct {
	// Name is its name in the folder.
	Name string
	// Size is about how many bytes it will have.
	Size int64
	// Write writes it, and Verify looks at what was written. Both may be called a
	// second time, for another place.
	Write  func(ctx context.Context, w io.Writer) error
	Verify func(f *os.File) error
}

// Saved says what was saved of a file.
type Saved struct {
	// Edits is how many the file holds that the one before did not, Bytes its size.
	Edits, Bytes int64
	// Info is what the new file looks like.
	Info os.FileInfo
	// Backup is the path of the file before, empty if it was not kept.
	Backup string
}

// Save puts a new file in the place of one that was edited. Other files may be saved
// at the same time, but this one is neither saved nor edited meanwhile.
//
// If it fails, the file is as it was and its edits stay in the journal, unless the
// error matches [replace.ErrUnsynced]: then the new file is in place, as Saved says,
// and nothing can be edited any more; the journal stays, and the next session decides.
// If the file is not the one any more that was edited, the error is a
// [*pending.ConflictError] as far as that is possible, and matches
// [source.ErrChanged].
//
// A journal that fails is no reason not to save: it is needed only if the process
// dies meanwhile.
func (s *Session) Save(ctx context.Context, f File) (Saved, error) {
	now, err := s.edited(f.Name)
	if err != nil {
		return Saved{}, err
	}
	s.edits.SyncToSave()
	saved := Saved{Edits: now.edits}
	err = s.mustBe(f.Name, now.base) // early, as writing takes long
	if err == nil {
		err = s.store(ctx, f, now.base, &saved)
	}
	switch {
	case errors.Is(err, source.ErrChanged):
		return Saved{}, s.rescue(ctx, f, now.conflict, err)
	case errors.Is(err, replace.ErrUnsynced):
		// Nobody knows which of the two files a power cut would leave, so that edits
		// could belong to either.
		s.mu.Lock()
		defer s.mu.Unlock()
		s.failed = fmt.Errorf("%w: mount it anew to go on", err)
		return saved, err
	case err != nil:
		return Saved{}, err
	}
	return saved, nil
}

// store puts a new file in the place of the one that base identifies.
func (s *Session) store(ctx context.Context, f File, base pending.Identity, saved *Saved) error {
	var out *pending.Summer
	err := replace.Replace(ctx, filepath.Join(s.dir, f.Name), replace.Options{
		Size: f.Size, NoBackup: s.opts.NoBackup, Before: s.opts.before, Logger: s.opts.Logger,
		Check: func() error { return s.mustBe(f.Name, base) },
		Ready: func(info os.FileInfo) error {
			saved.Info, saved.Bytes = info, info.Size()
			s.edits.Announce(aboutFile(recordSaving, f.Name, out.Identity()))
			return nil
		},
	}, func(w io.Writer) error {
		out = pending.NewSummer(w)
		return f.Write(ctx, out)
	}, f.Verify)
	if !s.opts.NoBackup && saved.Info != nil {
		saved.Backup = s.backupOf(f.Name)
	}
	if err == nil {
		s.done(f.Name, out.Identity())
	}
	return err
}

// backupOf is where [replace.Replace] has put the file before.
func (s *Session) backupOf(name string) string {
	path := filepath.Join(s.dir, name)
	if whole, err := links.Resolve(path); err == nil {
		path = whole
	}
	return path + ".bak"
}

// rescue writes what was edited to a file of its own, as somebody else has taken the
// place of the file. kept is the path of the one that holds all of it already, if
// there is one.
func (s *Session) rescue(ctx context.Context, f File, kept string, changed error) error {
	path := filepath.Join(s.dir, f.Name)
	if kept == "" {
		var err error
		if kept, err = s.edits.Rescue(path, func(to string) error { return s.writeNew(ctx, f, path, to) }); err != nil {
			return fmt.Errorf("%w; nor could what was edited be written elsewhere: %w", changed, err)
		}
		s.mu.Lock()
		s.files[f.Name].conflict = kept
		s.mu.Unlock()
	}
	return &pending.ConflictError{File: path, Path: kept, Err: changed}
}

// writeNew writes a file where there is none, like the one at path if that can be read.
// The journal is told of it, so that it has done its duty once somebody puts the new
// file in the place of that one.
func (s *Session) writeNew(ctx context.Context, f File, path, to string) error {
	var like *os.File
	if there, err := source.Open(path); err == nil {
		defer there.Close() // It was only read.
		like = there.Opened()
	}
	var out *pending.Summer
	return replace.Create(ctx, to, like, replace.Options{
		Size: f.Size, Before: s.opts.before, Private: true, Logger: s.opts.Logger,
		Ready: func(os.FileInfo) error {
			s.edits.Announce(aboutFile(recordSaving, f.Name, out.Identity()))
			return nil
		},
	}, func(w io.Writer) error {
		out = pending.NewSummer(w)
		return f.Write(ctx, out)
	}, f.Verify)
}

// Settle tells that a file holds all its edits as it is.
func (s *Session) Settle(name string) error {
	now, err := s.edited(name)
	if err == nil {
		err = s.mustBe(name, now.base)
	}
	if err == nil {
		s.done(name, now.base)
	}
	return err
}

// edited is what is known of a file that was edited.
func (s *Session) edited(name string) (fileState, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f := s.files[name]; f != nil && f.edits > 0 {
		return *f, nil
	}
	return fileState{}, fmt.Errorf("%s was not edited", name)
}

// mustBe is an error if a file is another one now.
func (s *Session) mustBe(name string, want pending.Identity) error {
	path := filepath.Join(s.dir, name)
	now, err := identify(path)
	if err == nil && now == want {
		return nil
	}
	return errors.Join(fmt.Errorf("%s: %w", path, source.ErrChanged), err)
}

// done goes on with the file that is in place.
func (s *Session) done(name string, id pending.Identity) {
	s.edits.Announce(aboutFile(recordDone, name, id))
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.files, name)
	s.retire()
}
