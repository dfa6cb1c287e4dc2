package editing

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"lorefs/nodes"
)

// Owner is the tree that Writers belong to.
type Owner struct {
	// Editing and Mu are the tree's locks, see the package.
	Editing *sync.Mutex
	Mu      *sync.RWMutex
	// Sync makes durable what was committed. It is called without a lock.
	Sync func() error
}

// File is what a Writer asks of a file, under one handle of it. All but Touched and
// Settle are called by who holds Editing, and may take Mu.
type File interface {
	// Hold sees to it that the text is held; if it was not, with all that the file
	// shows.
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
	w.owner.Editing.Lock()
	defer w.owner.Editing.Unlock()
	if err := w.file.Hold(ctx); err != nil {
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
	w.owner.Mu.Lock()
	defer w.owner.Mu.Unlock()
	w.text.write(p, off)
	w.file.Touched()
	return len(p), nil
}

// refuse asks a Refuser.
func (w *Writer) refuse(p []byte, off int64) error {
	r, ok := w.file.(Refuser)
	if !ok {
		return nil
	}
	err := r.Refuse(p, off)
	if err != nil {
		w.owner.Mu.Lock()
		defer w.owner.Mu.Unlock()
		w.text.refuse()
	}
	return err
}

// Truncate implements [nodes.Writer].
func (w *Writer) Truncate(ctx context.Context, size int64) error {
	if size < 0 {
		return fmt.Errorf("%w: a file of %d bytes", nodes.ErrInvalid, size)
	}
	w.owner.Editing.Lock()
	defer w.owner.Editing.Unlock()
	if size == 0 {
		w.holdNothing()
	}
	if err := w.file.Hold(ctx); err != nil {
		return err
	}
	if err := w.file.Room(size); err != nil {
		return err
	}
	w.owner.Mu.Lock()
	defer w.owner.Mu.Unlock()
	w.text.truncate(size)
	w.file.Touched()
	return nil
}

// holdNothing holds a text of which nothing is wanted, so that it need not be made.
func (w *Writer) holdNothing() {
	w.owner.Mu.Lock()
	defer w.owner.Mu.Unlock()
	if !w.text.held {
		w.text.Hold(nil)
	}
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
	w.owner.Editing.Lock()
	defer w.owner.Editing.Unlock()
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
	w.owner.Mu.RLock()
	defer w.owner.Mu.RUnlock()
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
	w.owner.Editing.Lock()
	defer w.owner.Editing.Unlock()
	if w.leave() {
		return nil
	}
	err := w.last()
	w.owner.Mu.Lock()
	defer w.owner.Mu.Unlock()
	w.file.Settle()
	return err
}

// leave tells whether others still have the text open.
func (w *Writer) leave() bool {
	w.owner.Mu.Lock()
	defer w.owner.Mu.Unlock()
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

// ReadAll reads all of a file: what File.Hold needs.
func ReadAll(ctx context.Context, t nodes.Tree, file nodes.ID) ([]byte, error) {
	attr, err := t.Attr(ctx, file)
	if err != nil {
		return nil, err
	}
	b := make([]byte, attr.Size)
	if n, err := t.ReadAt(ctx, file, b, 0); n < len(b) {
		return nil, fmt.Errorf("read %d bytes of %d: %w", n, len(b), err)
	}
	return b, nil
}

// CheckSize is the [nodes.ErrTooLarge] of a text above most bytes.
func CheckSize(size, most int64) error {
	if size > most {
		return fmt.Errorf("%w: a text of %d bytes, where %d are the most", nodes.ErrTooLarge, size, most)
	}
	return nil
}
