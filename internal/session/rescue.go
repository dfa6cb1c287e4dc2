package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"lorefs/datacenter"
	"lorefs/internal/pending"
	"lorefs/internal/replace"
)

// rescue writes what was edited to a file of its own, if the source has changed
// but the file that was edited is still there for this process. Edits that were
// made after a commit are on top of a file that nobody else has any more: their
// journal could never be replayed. If that file was written over, the edits are kept
// as text.
func (s *Session) rescue(ctx context.Context, w *datacenter.Snapshot, changed error) error {
	if s.src.Intact() == nil {
		err := s.rescueFile(ctx, w.OnFirst(), changed)
		if s.src.Intact() == nil {
			return err
		}
	}
	path, err := s.keepText(w.Changes, changed)
	if err != nil || path == "" {
		return errors.Join(changed, err)
	}
	return &pending.TextError{File: s.path, Path: path, Err: changed}
}

// rescueFile is rescue as long as the file can be read that was edited.
func (s *Session) rescueFile(ctx context.Context, w *datacenter.Snapshot, changed error) error {
	if s.conflict != "" { // nothing can have been edited since
		return &pending.ConflictError{File: s.path, Path: s.conflict, Err: changed}
	}
	path, err := s.edits.Rescue(s.path, func(path string) error { return s.writeNew(ctx, w, path) })
	if err != nil {
		return fmt.Errorf("%w; nor could what was edited be written elsewhere: %w", changed, err)
	}
	s.conflict = path
	s.dropText()
	return &pending.ConflictError{File: s.path, Path: path, Err: changed}
}

// dropText removes the text of edits that a file has now. That it stays is no harm.
func (s *Session) dropText() {
	if s.text != "" {
		_ = os.Remove(s.text)
		s.text = ""
	}
}

// writeNew writes a file where there is none. The journal is told of it, so that it
// has done its duty once somebody puts the file in the place of the source.
func (s *Session) writeNew(ctx context.Context, w *datacenter.Snapshot, path string) error {
	var out *pending.Summer
	var written *datacenter.Written
	return replace.Create(ctx, path, s.src.Opened(), replace.Options{
		Size: s.src.Size(), Before: s.opts.before, Logger: s.opts.Logger,
		Ready: func(os.FileInfo) error {
			s.announce(out.Identity())
			return nil
		},
	}, func(to io.Writer) (err error) {
		out = pending.NewSummer(to)
		written, err = w.Write(ctx, s.opts.Write, out)
		return err
	}, func(f *os.File) error {
		_, err := s.verify(ctx, written, f)
		return err
	})
}
