package dcsave

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"lorefs/datacenter"
	"lorefs/datacenter/edit"
	"lorefs/internal/app/save"
	"lorefs/internal/source"
)

// Check implements [save.Edited].
func (s *Session) Check() error { return s.src.CheckNow() }

// Snapshot implements [save.Edited].
func (s *Session) Snapshot() (save.Snapshot, error) {
	w := &whole{Snapshot: s.draft.Snapshot(), s: s}
	s.edits = w.Pending()
	return w, nil
}

// onFirst is a Session whose edits, all since it began, are written on top of the first file. A
// file that was saved since may not be readable any more.
type onFirst struct{ *Session }

// Snapshot implements [save.Edited].
func (s onFirst) Snapshot() (save.Snapshot, error) {
	return &whole{Snapshot: s.draft.Snapshot().OnFirst(), s: s.Session}, nil
}

// whole writes a new file by packing the whole draft.
type whole struct {
	*edit.Snapshot
	s *Session
	// written is what was written last. to is the file that was read back and checked; after a
	// successful Rebase it is the earlier base.
	written *edit.Written
	to      *base
	index   heldIndex
}

// base is a file that a draft is based on.
type base struct {
	file *datacenter.File
	from *source.File
}

func (b *base) close() error {
	if b == nil {
		return nil
	}
	return b.from.Close()
}

// Size returns the size of the edited file, as an estimate.
func (w *whole) Size() int64 { return w.s.src.Size() }

// Write implements [save.Snapshot].
func (w *whole) Write(ctx context.Context, to io.Writer) (err error) {
	opts := w.s.opts.Write
	opts.Progress = ProgressOf(w.s.show).Writing
	w.written, err = w.Snapshot.Write(ctx, opts, to)
	return err
}

// Check opens the new file and compares it with the draft. The file stays open, since Rebase bases
// the draft on it.
func (w *whole) Check(ctx context.Context, f *os.File) error {
	if err := errors.Join(w.to.close(), w.open(ctx, f)); err != nil { // closes that of an earlier place
		return fmt.Errorf("reading back what was written: %w", err)
	}
	w.written.Progress = ProgressOf(w.s.show).Comparing
	return w.written.Compare(ctx, w.to.file)
}

func (w *whole) open(ctx context.Context, f *os.File) error {
	w.to = nil
	from, err := source.Open(f.Name())
	if err != nil {
		return err
	}
	w.to = &base{from: from}
	info, err := f.Stat()
	if err == nil && !os.SameFile(from.Info(), info) {
		err = fmt.Errorf("%s: %w", f.Name(), source.ErrChanged)
	}
	if err != nil {
		return err
	}
	opts := w.s.opts.Reopen()
	opts.ModTime = info.ModTime()
	opts.Progress = ProgressOf(w.s.show).Reading
	if w.index = (heldIndex{IndexStore: opts.Index}); opts.Index != nil {
		opts.Index = &w.index
	}
	w.to.file, err = datacenter.Open(ctx, from, info.Size(), opts)
	return err
}

// Rebase implements [save.Snapshot]. Reads don't wait for it, and may see either file in place.
func (w *whole) Rebase(ctx context.Context, publish func(later [][]byte) error) error {
	info := w.to.from.Info()
	w.s.src.Expect(info)
	next, err := newDescriber(w.to.file, w.to.from.Intact)
	if err == nil {
		err = w.s.draft.Rebase(ctx, w.written, w.to.file, func(later [][]byte) error {
			return w.s.notes.rebase(next, later, publish)
		})
	}
	if err != nil && !save.IsInPlace(err) {
		w.s.src.Expect(nil)
		return err
	}
	w.s.src.Adopt(info)
	if err == nil {
		w.s.base, w.to = w.to, w.s.base // Close closes the earlier base
		w.s.layout.Store(int64(w.s.opts.Write.Layout))
	}
	return err
}

// Index stores the index of the new file.
func (w *whole) Index() error { return w.index.save() }

// Close closes the snapshot, and the file that nothing is based on any more.
func (w *whole) Close() {
	w.Snapshot.Close()
	w.s.reading.Lock()
	defer w.s.reading.Unlock()
	_ = w.to.close() // It was only read.
}

// heldIndex holds back an index until its file is in place.
type heldIndex struct {
	datacenter.IndexStore
	key  string
	data []byte
}

// Save implements [datacenter.IndexStore].
func (h *heldIndex) Save(key string, data []byte) error {
	h.key, h.data = key, data
	return nil
}

func (h *heldIndex) save() error {
	if h.data == nil {
		return nil
	}
	return h.IndexStore.Save(h.key, h.data)
}
