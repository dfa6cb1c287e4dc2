package editing

import (
	"context"
	"errors"
	"fmt"

	"lorefs/nodes"
)

// File is what a Writer asks of a file, under one handle of it. All but Touched and
// Settle are called by who holds Editing, and may take Mu.
type File interface {
	// Hold is called if no text is held, and sees to it that one is; see [Owner.Hold].
	Hold(ctx context.Context) error
	// Room tells whether the text can get a size in bytes: [nodes.ErrTooLarge],
	// [nodes.ErrNoSpace].
	Room(size int64) error
	// Touched is told that the text was changed. Mu is held.
	Touched()
	// Incomplete tells of a file that nobody has written to that it is to be committed
	// nevertheless when it is closed: a new one, of which nothing is known so far but
	// its name.
	Incomplete() bool
	// Commit makes the text the content of the file that it is. Whether or not that
	// goes well, the text is clean then, unless ctx has ended.
	Commit(ctx context.Context) error
	// Settle is told that the last Writer was released. Mu is held.
	Settle()
}

// Refuser is a File that need not wait for the close to refuse a text: most programs
// look at an error of write(2), but not at one of close(2).
type Refuser interface {
	File
	// Refuse is the error if by p at off, which is not empty, the text becomes what can't
	// be committed whatever follows.
	Refuse(p []byte, off int64) error
	// Revert makes the file what it was before it was written to.
	Revert()
}

// errRefused is the answer to the close of a file to which a write was refused.
var errRefused = fmt.Errorf("%w: a part of it was refused", nodes.ErrInvalid)

// Writer is one handle of a Text. It is safe for parallel use.
type Writer struct {
	owner *Owner
	text  *Text
	file  File
}

var _ nodes.Writer = (*Writer)(nil)

// Open makes a Writer of a text. The caller holds Editing and Mu.
func (o *Owner) Open(text *Text, file File) *Writer {
	text.writers++
	return &Writer{o, text, file}
}

// WriteAt implements [nodes.Writer].
func (w *Writer) WriteAt(ctx context.Context, p []byte, off int64) (int, error) {
	end := off + int64(len(p))
	if off < 0 || end < off {
		return 0, fmt.Errorf("%w: %d bytes at %d", nodes.ErrTooLarge, len(p), off)
	}
	w.owner.editing.Lock()
	defer w.owner.editing.Unlock()
	if err := w.hold(ctx); err != nil {
		return 0, err
	}
	if len(p) > 0 {
		if err := w.file.Room(max(end, w.text.Size())); err != nil {
			return 0, err
		}
		if err := w.refuse(p, off); err != nil {
			return 0, err
		}
	}
	w.owner.mu.Lock()
	defer w.owner.mu.Unlock()
	w.text.write(p, off)
	w.file.Touched()
	return len(p), nil
}

func (w *Writer) hold(ctx context.Context) error {
	if w.owner.isHeld(w.text) {
		return nil
	}
	return w.file.Hold(ctx)
}

// refuse asks a Refuser.
func (w *Writer) refuse(p []byte, off int64) error {
	r, ok := w.file.(Refuser)
	if !ok {
		return nil
	}
	err := r.Refuse(p, off)
	if err != nil {
		w.owner.mu.Lock()
		defer w.owner.mu.Unlock()
		w.text.refuse()
	}
	return err
}

// Truncate implements [nodes.Writer].
func (w *Writer) Truncate(ctx context.Context, size int64) error {
	if size < 0 {
		return fmt.Errorf("%w: a file of %d bytes", nodes.ErrInvalid, size)
	}
	w.owner.editing.Lock()
	defer w.owner.editing.Unlock()
	if size == 0 {
		w.owner.HoldAs(w.text, nil) // nothing of it is wanted
	}
	if err := w.hold(ctx); err != nil {
		return err
	}
	if err := w.file.Room(size); err != nil {
		return err
	}
	w.owner.mu.Lock()
	defer w.owner.mu.Unlock()
	w.text.truncate(size)
	w.file.Touched()
	return nil
}

// Flush implements [nodes.Writer].
func (w *Writer) Flush(ctx context.Context) error {
	committed, err := w.flush(ctx)
	if committed && err == nil {
		err = w.owner.Sync()
	}
	return err
}

func (w *Writer) flush(ctx context.Context) (committed bool, err error) {
	w.owner.editing.Lock()
	defer w.owner.editing.Unlock()
	switch w.look() {
	case refused:
		return false, w.revert()
	case written:
		return true, w.file.Commit(ctx)
	case clean, cut:
	}
	return false, nil
}

// look gives the state of the text, which may become clean at any time.
func (w *Writer) look() state {
	w.owner.mu.RLock()
	defer w.owner.mu.RUnlock()
	return w.text.state
}

// revert gives up a text of which a part was refused.
func (w *Writer) revert() error {
	w.file.(Refuser).Revert() // nobody else refuses
	return errRefused
}

// Sync implements [nodes.Writer].
func (w *Writer) Sync(ctx context.Context) error {
	_, err := w.flush(ctx)
	return errors.Join(err, w.owner.Sync())
}

// Release implements [nodes.Writer].
func (w *Writer) Release() error {
	w.owner.editing.Lock()
	defer w.owner.editing.Unlock()
	if w.leave() {
		return nil
	}
	err := w.last()
	w.owner.mu.Lock()
	defer w.owner.mu.Unlock()
	w.file.Settle()
	return err
}

// leave tells whether others still have the text open.
func (w *Writer) leave() bool {
	w.owner.mu.Lock()
	defer w.owner.mu.Unlock()
	w.text.writers--
	return w.text.writers > 0
}

// last flushes what the last Writer leaves.
func (w *Writer) last() error {
	switch s := w.look(); {
	case s == refused:
		return w.revert()
	case s != clean, w.file.Incomplete():
		return w.file.Commit(context.Background())
	}
	return nil
}

// CheckSize is the [nodes.ErrTooLarge] of a text above most bytes.
func CheckSize(size, most int64) error {
	if size > most {
		return fmt.Errorf("%w: a text of %d bytes, where %d are the most", nodes.ErrTooLarge, size, most)
	}
	return nil
}
