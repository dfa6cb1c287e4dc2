package folderedit

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"

	"lorefs/internal/replace"
	"lorefs/internal/source"
)

// File is a file that is to be saved.
type File struct {
	// Name is its name in the folder.
	Name string
	// Size is about how many bytes it will have.
	Size int64
	// Write writes it, and Verify looks at what was written.
	Write  func(ctx context.Context, w io.Writer) error
	Verify func(f *os.File) error
}

// Saved says what was saved of a file.
type Saved struct {
	// Edits is how many the file holds that the one before did not, Bytes its size.
	Edits, Bytes int64
	// Info is what the new file looks like.
	Info os.FileInfo
}

// Save puts a new file in the place of one that was edited. If it fails, the file
// is as it was and its edits stay in the journal, unless the error matches
// [replace.ErrUnsynced]: then the new file is in place, as Saved says, and nothing
// can be edited any more; the journal stays, and the next session decides. An error
// matches [source.ErrChanged] if the file is not the one any more that was edited.
//
// A journal that fails is no reason not to save: it is needed only if the process
// dies meanwhile.
func (s *Session) Save(ctx context.Context, f File) (Saved, error) {
	s.saving.Lock()
	defer s.saving.Unlock()
	path := filepath.Join(s.dir, f.Name)
	base, edits, err := s.edited(f.Name)
	if err != nil {
		return Saved{}, err
	}
	if err := s.Sync(); err != nil {
		s.opts.Logger.Warn("the journal fails: a power cut before all is saved would lose edits", "err", err)
	}
	check := func() error { return mustBe(path, base) }
	if err := check(); err != nil { // early, as writing takes long
		return Saved{}, err
	}
	out := &summer{hash: sha256.New()}
	saved := Saved{Edits: edits}
	err = replace.Replace(ctx, path, replace.Options{
		Size: f.Size, NoBackup: s.opts.NoBackup, Check: check, Before: s.opts.before,
		Ready: func(info os.FileInfo) error {
			saved.Info = info
			s.tell(recordSaving, fileRecord{f.Name, out.identity()})
			return nil
		},
	}, func(w io.Writer) error {
		out.to = w
		return f.Write(ctx, out)
	}, f.Verify)
	if err != nil && !errors.Is(err, replace.ErrUnsynced) {
		return Saved{}, err
	}
	saved.Bytes = out.n
	if err == nil {
		s.done(f.Name, out.identity())
		return saved, nil
	}
	// Nobody knows which of the two files a power cut would leave, so that edits
	// could belong to either.
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failed = fmt.Errorf("%w: mount it anew to go on", err)
	return saved, err
}

// Settle tells that a file holds all its edits as it is.
func (s *Session) Settle(name string) error {
	base, _, err := s.edited(name)
	if err == nil {
		err = mustBe(filepath.Join(s.dir, name), base)
	}
	if err == nil {
		s.done(name, base)
	}
	return err
}

// edited is what is known of a file that was edited.
func (s *Session) edited(name string) (base identity, edits int64, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f := s.files[name]; f != nil {
		return f.base, f.edits, nil
	}
	return base, 0, fmt.Errorf("%s was not edited", name)
}

// mustBe is an error if a file is another one now.
func mustBe(path string, want identity) error {
	now, err := identify(path)
	if err == nil && now == want {
		return nil
	}
	return errors.Join(fmt.Errorf("%s: %w", path, source.ErrChanged), err)
}

// tell notes something about a file in the journal. Without the note, a process
// that dies before the journal is removed leaves a stale one: its edits are not
// lost, but somebody has to look at it.
func (s *Session) tell(kind byte, r fileRecord) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.journal == nil {
		return
	}
	err := s.note(kind, r)
	if err == nil {
		err = s.journal.Sync()
	}
	if err != nil {
		s.opts.Logger.Warn("the journal does not know what is saved", "file", r.File, "err", err)
	}
}

// done goes on with the file that is in place.
func (s *Session) done(name string, id identity) {
	s.tell(recordDone, fileRecord{name, id})
	s.mu.Lock()
	defer s.mu.Unlock()
	if f := s.files[name]; f != nil {
		f.base, f.edits, f.saved = id, 0, nil
	}
	s.retire()
}

// summer writes, and sums up what it writes.
type summer struct {
	to   io.Writer
	hash hash.Hash
	n    int64
}

func (s *summer) Write(p []byte) (int, error) {
	n, err := s.to.Write(p)
	s.hash.Write(p[:n])
	s.n += int64(n)
	return n, err
}

// identity is that of what was written so far.
func (s *summer) identity() identity {
	return identity{Size: s.n, SHA256: hex.EncodeToString(s.hash.Sum(nil))}
}
