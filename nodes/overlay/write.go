package overlay

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"lorefs/nodes"
)

// OpenWrite implements [nodes.Mutable].
func (t *Tree) OpenWrite(ctx context.Context, id nodes.ID) (nodes.Writer, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	t.editing.Lock()
	defer t.editing.Unlock()
	f, err := t.open(ctx, id)
	if err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.know(f)
	f.writers++
	return &writer{t: t, f: f}, nil
}

// open returns a file that can be written to. The caller holds editing.
func (t *Tree) open(ctx context.Context, id nodes.ID) (*file, error) {
	_, _, err := t.look(id)
	f, of := t.fileOf(id), id
	if f != nil {
		of = f.of
	}
	switch {
	case err != nil:
		return nil, err
	case f != nil && f.kind == nodes.Dir:
		return nil, fmt.Errorf("%v: %w", id, nodes.ErrIsDir)
	case of != 0:
		if err := t.src.Open(ctx, of); err != nil {
			return nil, err
		}
		if err := t.check(); err != nil {
			return nil, err
		}
	}
	if f == nil {
		f = sourceFile(id, id)
	}
	return f, nil
}

// writer is a handle of a file that is open for writing.
type writer struct {
	t *Tree
	f *file
	// raw is the text that this handle has put. Later writes change raw, and not the text as the
	// source spells it since.
	raw []byte
}

var _ nodes.Writer = (*writer)(nil)

// WriteAt implements [nodes.Writer].
func (w *writer) WriteAt(ctx context.Context, p []byte, off int64) (int, error) {
	end := off + int64(len(p))
	if off < 0 || end < off {
		return 0, fmt.Errorf("%w: %d bytes at %d", nodes.ErrTooLarge, len(p), off)
	}
	w.t.editing.Lock()
	defer w.t.editing.Unlock()
	if err := w.hold(ctx); err != nil {
		return 0, err
	}
	if len(p) > 0 {
		if err := w.t.room(w.f, max(end, w.f.Size())); err != nil {
			return 0, err
		}
		if err := w.refuse(p, off); err != nil {
			return 0, err
		}
	}
	w.change(func() { w.f.write(p, off) })
	return len(p), nil
}

// hold makes the file hold its text.
func (w *writer) hold(ctx context.Context) error {
	if w.raw != nil {
		w.t.holdAs(w.f, w.raw)
	}
	return w.t.hold(ctx, w.f)
}

// change changes the text of the file by f.
func (w *writer) change(f func()) {
	w.t.mu.Lock()
	defer w.t.mu.Unlock()
	f()
	w.raw = nil
	w.t.touch(w.f)
	w.t.count(w.f)
}

// refuse returns an error if, with p at off, the text can't become a value however it continues.
// It does so for a write that reaches the end of the text. Most programs check the error of
// write(2), but not that of close(2).
func (w *writer) refuse(p []byte, off int64) error {
	t, f, size := w.t, w.f, w.f.Size()
	if t.valued == nil || f.of == 0 && !f.fresh || off > size || off+int64(len(p)) < size {
		return nil
	}
	begin := slices.Concat(f.Bytes()[:off], p)
	err := t.valued.Refuse(f.place(), begin, f.from())
	if err != nil {
		t.mu.Lock()
		defer t.mu.Unlock()
		f.refuse()
	}
	return err
}

// Truncate implements [nodes.Writer].
func (w *writer) Truncate(ctx context.Context, size int64) error {
	if size < 0 {
		return fmt.Errorf("%w: a file of %d bytes", nodes.ErrInvalid, size)
	}
	w.t.editing.Lock()
	defer w.t.editing.Unlock()
	if size == 0 {
		w.t.holdAs(w.f, nil) // the old text is not needed
	}
	if err := w.hold(ctx); err != nil {
		return err
	}
	if err := w.t.room(w.f, size); err != nil {
		return err
	}
	w.change(func() { w.f.truncate(size) })
	return nil
}

// Flush implements [nodes.Writer]. It says nothing of an empty text that the source refuses,
// because it can't know whether more follows.
func (w *writer) Flush(ctx context.Context) error {
	put, waits, err := w.put(ctx)
	switch {
	case waits && errors.Is(err, nodes.ErrInvalid):
		return nil
	case put && err == nil:
		return w.t.sync()
	}
	return err
}

// put puts a text that the source does not have. waits reports whether it is an empty text that
// waits for more.
func (w *writer) put(ctx context.Context) (put, waits bool, err error) {
	w.t.editing.Lock()
	defer w.t.editing.Unlock()
	switch f := w.f; {
	case f.state == refused:
		return false, false, w.revert()
	case f.state == written:
		return true, false, w.commit(ctx)
	case f.state == cut, w.t.mayBeEmpty(f):
		isNew := f.pending || f.fresh
		put, err := w.t.putEmpty(ctx, f)
		if isNew && errors.Is(err, nodes.ErrInvalid) {
			err = nil // nothing of it would be lost
		}
		return put, true, err
	}
	return false, false, nil
}

// errRefused is returned by Flush and Release after a write was refused.
var errRefused = fmt.Errorf("%w: a part of it was refused", nodes.ErrInvalid)

// revert drops a text that lacks a refused write.
func (w *writer) revert() error {
	w.t.revert(w.f)
	return errRefused
}

// Sync implements [nodes.Writer].
func (w *writer) Sync(ctx context.Context) error {
	_, _, err := w.put(ctx)
	return errors.Join(err, w.t.sync())
}

// Release implements [nodes.Writer].
func (w *writer) Release() error {
	put, err := w.release()
	if put && err == nil {
		err = w.t.sync()
	}
	return err
}

func (w *writer) release() (put bool, err error) {
	w.t.editing.Lock()
	defer w.t.editing.Unlock()
	if w.leave() {
		return false, nil
	}
	put, err = w.last()
	w.t.mu.Lock()
	defer w.t.mu.Unlock()
	w.t.decide(w.f)
	w.t.settle(w.f)
	return put, err
}

// leave takes the writer off the text, and reports whether others still have it open.
func (w *writer) leave() bool {
	w.t.mu.Lock()
	defer w.t.mu.Unlock()
	w.f.writers--
	return w.f.Open()
}

// last commits what the last writer leaves.
func (w *writer) last() (put bool, err error) {
	switch f := w.f; {
	case f.state == refused:
		return false, w.revert()
	case f.Dirty(), w.t.mayBeEmpty(f):
		return true, w.commit(context.Background())
	}
	return false, nil
}

// mayBeEmpty reports whether a file that nobody has written to can become one of the source, see
// [Options.Empty].
func (t *Tree) mayBeEmpty(f *file) bool {
	return t.empty && (f.pending || f.fresh) && f.Size() == 0
}

func (w *writer) commit(ctx context.Context) error {
	text := w.f.Bytes()
	err := w.t.commit(ctx, w.f)
	if err == nil && !w.f.Held() && w.t.valued == nil {
		w.raw = text
	}
	return err
}

// revert makes a file what it was before it was written to.
func (t *Tree) revert(f *file) {
	t.mu.Lock()
	if f.isSource() {
		f.Drop()
		f.extra = nil
	} else {
		f.Empty()
	}
	t.count(f)
	t.mu.Unlock()
	t.tell(nodes.Change{ID: f.id})
}

// commit puts the text of a file into the source. If that fails, the file shows the text
// nevertheless, unless the source is Valued. The caller holds editing.
func (t *Tree) commit(ctx context.Context, f *file) error {
	at, said := t.times.Own(f.id)
	of, err := t.store(ctx, f)
	switch {
	case err == nil:
	case t.valued != nil:
		t.revert(f)
		return err
	case ctx.Err() != nil:
		return err // a later commit tries again
	}
	stored := of != 0 && err == nil
	t.mu.Lock()
	if stored {
		t.becomes(f, of)
	} else {
		f.pending = false
		f.Tried(err)
		t.count(f)
	}
	t.mu.Unlock()
	if stored {
		t.written(f, at, said)
	}
	return err
}

// putEmpty puts an empty text. Its writers may go on, so they still decide what a new file is. If
// the source refuses the text, the file keeps it and waits for more. The caller holds editing.
func (t *Tree) putEmpty(ctx context.Context, f *file) (put bool, err error) {
	at, said := t.times.Own(f.id)
	isNew, extra := f.fresh || f.undecided, f.extra
	of, err := t.store(ctx, f)
	if of == 0 || err != nil {
		return false, err
	}
	t.mu.Lock()
	t.becomes(f, of)
	if isNew {
		f.undecided, f.extra = true, extra
	}
	t.mu.Unlock()
	t.written(f, at, said)
	return true, nil
}

// decide records that the writers of a new file are done. The caller holds mu.
func (t *Tree) decide(f *file) {
	if f.undecided {
		f.undecided, f.extra = false, nil
	}
}

// putAnew puts the unchanged content of a file of the source with another extra. The caller holds
// editing.
func (t *Tree) putAnew(ctx context.Context, f *file, extra any) error {
	err := t.hold(ctx, f)
	if err != nil {
		return err
	}
	t.mu.Lock()
	f.extra = extra
	t.mu.Unlock()
	of, err := t.store(ctx, f)
	t.mu.Lock()
	defer t.mu.Unlock()
	if err != nil {
		f.extra = nil
		t.settle(f)
		return err
	}
	t.becomes(f, of)
	t.times.Touch(f.id)
	return nil
}

// written records that a file of the source was written to. said reports whether the writer had
// set a time, which is at. The source may spell the text in another way now, so the watcher of
// the Tree is told; a Valued source does that itself.
func (t *Tree) written(f *file, at time.Time, said bool) {
	if !said {
		at = f.mtime
	}
	t.times.Set(f.id, at)
	if t.valued == nil {
		t.tell(nodes.Change{ID: f.id})
	}
}

// store puts the text of a file into the source. of is the source's file, or 0 for a scratch
// file.
func (t *Tree) store(ctx context.Context, f *file) (of nodes.ID, err error) {
	to, from := f.place(), f.from()
	switch {
	case f.of != 0:
		of, err = t.src.Put(ctx, to, f.Bytes(), from)
		return of, err
	case !f.fresh:
		return 0, nil
	}
	// The source may have got the file meanwhile.
	name, err := t.src.Name(ctx, f.dir, f.name)
	if err != nil {
		return 0, err
	}
	to.ID = name.ID
	of, err = t.src.Put(ctx, to, f.Bytes(), from)
	if err == nil {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.lost(name.TwinID)
	}
	return of, err
}
