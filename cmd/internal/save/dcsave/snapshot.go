package dcsave

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sync/errgroup"

	"lorefs/cmd/internal/save"
	"lorefs/datacenter"
	"lorefs/datacenter/edit"
	"lorefs/datacenter/splice"
	"lorefs/internal/source"
)

// Check implements [save.Edited].
func (s *Session) Check() error { return s.src.CheckNow() }

// Snapshot implements [save.Edited].
func (s *Session) Snapshot() (save.Snapshot, error) {
	w := &snapshot{Snapshot: s.draft.Snapshot(), s: s, maySplice: !s.how.Repack}
	s.edits = w.Pending()
	return w, nil
}

// snapshot writes a new file. It changes only what was edited in the bytes of the base, that is, it
// splices the file, or else it packs the whole draft.
type snapshot struct {
	*edit.Snapshot
	s *Session
	// maySplice is set until something speaks against splicing. spliced is what came of it, or nil
	// if the file was packed.
	maySplice bool
	spliced   *splice.Spliced
	// spared is called at the end of a save that needs memory for a whole file; it is nil in others.
	spared func()
	// written describes the file that was written last. to is the file that was read back and checked; after a
	// successful Rebase it is the earlier base.
	written *edit.Written
	to      *base
	index   laterIndex
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
func (w *snapshot) Size() int64 { return w.s.src.Size() }

// Write implements [save.Snapshot].
func (w *snapshot) Write(ctx context.Context, to io.Writer) error {
	if w.spliced = nil; w.maySplice {
		err := w.splice(ctx, to)
		if !errors.Is(err, splice.ErrWhole) {
			return err
		}
		w.s.opts.Logger.Debug("the file is packed as a whole", "why", err)
		w.maySplice = false
	}
	return w.pack(ctx, to)
}

// splice writes the file by splicing. Unless that can't be done at all, or writing fails, every
// error means that the file has to be packed.
func (w *snapshot) splice(ctx context.Context, to io.Writer) (err error) {
	out := &countingWriter{to: to, show: w.showSplicing(save.Writing, 0)}
	out.show(0)
	w.written, w.spliced, err = w.Splice(ctx, w.s.opts.Write, out)
	switch {
	case err == nil:
		w.s.opts.Logger.Debug(splicedMessage, "bytes", out.n)
		return nil
	case out.err != nil, ctx.Err() != nil:
		return err
	case errors.Is(err, splice.ErrWhole) && out.n == 0:
		return err
	}
	return w.anotherWay(err)
}

// splicedMessage is logged when a file was spliced.
const splicedMessage = "the file was spliced"

// splicingParts is the number of parts of a save that splices: to write the file, and to check it.
const splicingParts = 2

// showSplicing returns a function to be called with how many bytes of the file a part of such a save
// has got through. The old file's size stands for that of the new one.
func (w *snapshot) showSplicing(stage string, part int64) func(done int64) {
	size := w.Size()
	return func(done int64) {
		w.s.show(save.Progress{Stage: stage, Done: part*size + min(done, size), Total: splicingParts * size})
	}
}

// countingWriter counts what it writes, shows it, and keeps the error.
type countingWriter struct {
	to   io.Writer
	show func(n int64)
	n    int64
	err  error
}

// Write implements [io.Writer].
func (w *countingWriter) Write(p []byte) (n int, err error) {
	n, err = w.to.Write(p)
	w.n += int64(n)
	w.show(w.n)
	if err != nil {
		w.err = err
	}
	return n, err
}

// anotherWay returns the error for a spliced file with which something is wrong.
func (w *snapshot) anotherWay(err error) error {
	w.maySplice = false
	return fmt.Errorf("%w: splicing the file: %w", save.ErrAnotherWay, err)
}

// pack writes the file by packing the whole draft.
func (w *snapshot) pack(ctx context.Context, to io.Writer) (err error) {
	w.spare()
	opts := w.s.opts.Write
	opts.Progress = ProgressOf(w.s.show).Writing
	w.written, err = w.Snapshot.Write(ctx, opts, to)
	return err
}

// spare frees memory for a whole file.
func (w *snapshot) spare() {
	if w.spared == nil {
		w.spared = w.s.opts.Spare()
	}
}

// Check opens the new file and compares it with the draft. The file stays open, since Rebase bases
// the draft on it.
func (w *snapshot) Check(ctx context.Context, f *os.File, id save.Identity) error {
	if err := errors.Join(w.to.close(), w.reopen(f)); err != nil { // closes that of an earlier place
		return fmt.Errorf("reading back what was written: %w", err)
	}
	if w.spliced == nil {
		return w.checkPacked(ctx)
	}
	w.showSplicing(save.Checking, 1)(0)
	err := w.checkSpliced(ctx, id)
	if err != nil && ctx.Err() == nil {
		err = w.anotherWay(err)
	}
	return err
}

// checkPacked reads the whole file and compares it with the draft.
func (w *snapshot) checkPacked(ctx context.Context) (err error) {
	if w.to.file, err = datacenter.Open(ctx, w.to.from, w.to.from.Size(), w.options()); err != nil {
		return fmt.Errorf("reading back what was written: %w", err)
	}
	w.written.Progress = ProgressOf(w.s.show).Comparing
	return w.written.Compare(ctx, w.to.file)
}

// checkSpliced checks that the file is what was written, and that what is new in it is what was to
// be written. What was there before is equal because its bytes are. If all of the file is to be read
// back, it is also checked as a packed one is.
func (w *snapshot) checkSpliced(ctx context.Context, id save.Identity) error {
	var sum [sha256.Size]byte
	if n, err := hex.Decode(sum[:], []byte(id.SHA256)); err != nil || n != len(sum) || id.Size != w.to.from.Size() {
		return fmt.Errorf("BUG: %+v of %d bytes", id, w.to.from.Size())
	}
	// At the same time, the index is made and what was to be written is compared with the draft. What
	// one core does alone, to make the draft that goes on with the file, begins before the last work of
	// all cores.
	opts := w.options()
	group, checking := errgroup.WithContext(ctx)
	group.Go(func() error { return w.spliced.CheckBytes(checking, w.to.from, sum) })
	group.Go(func() (err error) {
		if w.to.file, err = w.spliced.Open(w.to.from, w.to.from.Size(), opts); err != nil {
			return err
		}
		if err := w.written.CompareSpliced(checking, w.spliced.Wanted(w.to.file)); err != nil {
			return err
		}
		group.Go(func() error { return w.written.PrepareRebase(w.to.file) })
		return w.spliced.CheckData(checking, w.to.from)
	})
	if err := group.Wait(); err != nil || !w.s.how.VerifyAll {
		return err
	}
	w.spare()
	opts.Index = nil
	all, err := datacenter.Open(ctx, w.to.from, w.to.from.Size(), opts)
	if err != nil {
		return err
	}
	w.written.Progress = ProgressOf(w.s.show).Comparing
	return w.written.Compare(ctx, all)
}

// reopen opens the new file.
func (w *snapshot) reopen(f *os.File) error {
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
	return err
}

// options returns the options for opening the new file, whose index is held back.
func (w *snapshot) options() datacenter.Options {
	opts := w.s.opts.Reopen()
	opts.Layout = w.s.opts.Write.Layout // a small file may fit two
	opts.ModTime = w.to.from.Info().ModTime()
	opts.Progress = ProgressOf(w.s.show).Reading
	if w.index = (laterIndex{IndexStore: opts.Index}); opts.Index != nil {
		opts.Index = &w.index
	}
	return opts
}

// Rebase implements [save.Snapshot]. Reads don't wait for it, and may see either file in place.
func (w *snapshot) Rebase(ctx context.Context, publish func(later [][]byte) error) error {
	info := w.to.from.Info()
	w.s.src.Expect(info)
	err := w.s.draft.Rebase(ctx, w.written, w.to.file, publish)
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

// Index stores the index of the new file. It is called after Rebase.
func (w *snapshot) Index() error {
	err := w.index.save()
	if w.spliced == nil || w.s.opts.Carry == nil {
		return err
	}
	from := w.s.first
	if w.to != nil {
		from = w.to.file
	}
	return errors.Join(err, w.s.opts.Carry(from, w.s.base.file, w.spliced.Sheets()))
}

// Close closes the snapshot, and the file that nothing is based on any more.
func (w *snapshot) Close() {
	w.Snapshot.Close()
	if w.spared != nil {
		w.spared()
	}
	w.s.reading.Lock()
	defer w.s.reading.Unlock()
	_ = w.to.close() // It was only read.
}

// laterIndex holds back an index until its file is in place.
type laterIndex struct {
	datacenter.IndexStore
	key  string
	data []byte
}

// Save implements [datacenter.IndexStore].
func (h *laterIndex) Save(key string, data []byte) error {
	h.key, h.data = key, data
	return nil
}

func (h *laterIndex) save() error {
	if h.data == nil {
		return nil
	}
	return h.IndexStore.Save(h.key, h.data)
}
