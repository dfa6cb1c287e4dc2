package dcsave

import (
	"context"
	"fmt"
	"io"
	"os"

	"lorefs/datacenter"
	"lorefs/internal/save"
)

// edited is a draft that is being saved. Nobody edits it meanwhile.
type edited struct {
	s *Session
	w *datacenter.Saving
}

// Check is [save.Edited]'s.
func (e *edited) Check() error { return e.s.src.CheckNow() }

// Snapshot is [save.Edited]'s.
func (e *edited) Snapshot() (save.Snapshot, error) { return &whole{edited: *e}, nil }

// whole makes a new file by packing all of the draft.
type whole struct {
	edited
	// info describes the file that was checked last.
	info os.FileInfo
}

// Size is about that of the file that was edited.
func (w *whole) Size() int64 { return w.s.src.Size() }

// Write is [save.Snapshot]'s.
func (w *whole) Write(ctx context.Context, to io.Writer) error { return w.w.Write(ctx, to) }

// Check opens the new file and compares it with the draft.
func (w *whole) Check(ctx context.Context, f *os.File) (err error) {
	if w.info, err = f.Stat(); err != nil {
		return err
	}
	opts := w.s.opts.Reopen()
	opts.ModTime = w.info.ModTime()
	g, err := datacenter.Open(ctx, f, w.info.Size(), opts)
	if err != nil {
		return fmt.Errorf("reading back what was written: %w", err)
	}
	return w.w.Compare(ctx, g)
}

// Index has nothing to do: Check has kept the index.
func (w *whole) Index() error { return nil }

// Rebase is [save.Snapshot]'s. Whoever reads meanwhile may find either file.
func (w *whole) Rebase(_ context.Context, publish func(later [][]byte) error) error {
	w.s.src.Expect(w.info)
	err := publish(nil)
	if err != nil && !save.IsInPlace(err) {
		w.s.src.Expect(nil)
		return err
	}
	w.s.src.Adopt(w.info)
	if err == nil {
		w.s.layout.Store(int64(w.s.opts.Write.Layout))
	}
	return err
}
