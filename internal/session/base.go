package session

import (
	"context"
	"fmt"
	"os"
	"sync/atomic"

	"lorefs/datacenter"
	"lorefs/internal/source"
)

// newBase is the file that was written, as it was opened to be read back. It is what the
// draft is based on once it is in place.
type newBase struct {
	file *datacenter.File
	// at is what it is read from: the file that is being written and then, as that is
	// closed, the same one in its place.
	at atomic.Pointer[source.File]
	to *os.File
}

// ReadAt is [io.ReaderAt].
func (b *newBase) ReadAt(p []byte, off int64) (int, error) {
	if at := b.at.Load(); at != nil {
		return at.ReadAt(p, off)
	}
	return b.to.ReadAt(p, off)
}

// rebase goes on with the file that was put in place, which info describes. Nothing was
// edited since it was written.
func (s *Session) rebase(ctx context.Context, w *datacenter.Written, b *newBase, info os.FileInfo) error {
	at, err := source.Open(s.path)
	if err != nil {
		return err
	}
	if !os.SameFile(at.Info(), info) || at.Size() != info.Size() {
		_ = at.Close()
		return fmt.Errorf("%s: %w: another file has taken its place", s.path, source.ErrChanged)
	}
	b.at.Store(at)
	err = s.draft.Rebase(context.WithoutCancel(ctx), w, b.file, func([][]byte) error { return nil })
	if err != nil {
		_ = at.Close()
		return err
	}
	old := s.base
	s.base = b
	return old.close()
}

func (b *newBase) close() error {
	if b == nil {
		return nil
	}
	return b.at.Load().Close()
}
