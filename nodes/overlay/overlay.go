package overlay

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"lorefs/nodes"
)

// Tree is a Source with scratch files and directories. It is safe for parallel use.
type Tree struct {
	src Source
	// valued is src if it is Valued, or nil.
	valued Valued
	// empty is [Options.Empty].
	empty bool
	now   func() time.Time
	// tell tells of a change that nobody asked for by its number.
	tell func(nodes.Change)
	// times are those of nodes that have another one than their source tells; a file that is
	// written to has its own, see file.
	times  *times
	limits Limits
	logger *slog.Logger

	// editing is held by whoever changes something, also while the source decodes or logs.
	// It is taken before mu, and before all locks of the source.
	editing lock
	// nextID is the next number that is given. It is guarded by editing.
	nextID nodes.ID
	// mu guards everything below, and the files, for as long as memory is looked
	// at. Who holds editing may read without it, but for what Forget changes: files.
	mu sync.RWMutex
	// files are those files and directories of which there is more to know than the
	// source does.
	files map[nodes.ID]*file
	// dirs are the directories that such are in.
	dirs map[nodes.ID]*directory
	// shown are the files of the source that are not to be seen under their own number: by
	// which file they are shown, nil if by none because one hides them.
	shown map[nodes.ID]*file
	// cursor is that of the next scratch file.
	cursor uint64
	// bytes is how much memory all texts take.
	bytes int64
}

var (
	_ nodes.Mutable = (*Tree)(nil)
	_ nodes.Xattrer = (*Tree)(nil)
)

// New makes the editable tree of a source.
func New(src Source, opts Options) *Tree {
	if opts.Now == nil {
		opts.Now = time.Now
	}
	t := &Tree{
		src: src, now: opts.Now, tell: func(nodes.Change) {}, times: newTimes(opts.Now), empty: opts.Empty, nextID: opts.FirstID, cursor: scratchCursor,
		limits: opts.Limits, logger: opts.Logger,
		files: map[nodes.ID]*file{}, dirs: map[nodes.ID]*directory{}, shown: map[nodes.ID]*file{},
	}
	t.valued, _ = src.(Valued)
	src.Watch(watcher{t})
	return t
}

// Alone calls f while nothing is edited.
func (t *Tree) Alone(f func() error) error {
	t.editing.Lock()
	defer t.editing.Unlock()
	return f()
}

// SetModTime implements [nodes.Mutable].
func (t *Tree) SetModTime(ctx context.Context, id nodes.ID, mtime time.Time) error {
	attr, err := t.Attr(ctx, id)
	if err != nil {
		return err
	}
	if !attr.Writable {
		return nodes.ErrReadOnly
	}
	t.times.Set(id, mtime)
	return nil
}

// Sync implements [nodes.Mutable].
func (t *Tree) Sync(context.Context) error { return t.src.Sync() }

// Watch implements [nodes.Mutable].
func (t *Tree) Watch(f func(nodes.Change)) { t.tell = f }

// Usage counts the scratch files as well.
func (t *Tree) Usage() nodes.Usage {
	u := t.src.Usage()
	t.mu.RLock()
	defer t.mu.RUnlock()
	for _, d := range t.dirs {
		u.Nodes += int64(d.order.Len())
	}
	return u
}

// Loose gives the files that are none of the source's, apart from texts that were refused.
func (t *Tree) Loose() (loose Loose) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	for _, f := range t.files {
		if !f.removed && f.kind != nodes.Dir && f.problem == nil && !f.isSource() {
			loose.Add(t.path(f))
		}
	}
	loose.Sort()
	return loose
}

// path spells that of a file. The caller holds mu.
func (t *Tree) path(f *file) string {
	dir, path := t.where(f.id)
	for dir != 0 && dir != nodes.Root {
		var name string
		dir, name = t.where(dir)
		path = name + "/" + path
	}
	return path
}

// where is the directory of a node, and its name there. The caller holds mu.
func (t *Tree) where(id nodes.ID) (dir nodes.ID, name string) {
	switch f := t.files[id]; {
	case f == nil:
		return t.src.Where(id)
	case f.isSource():
		return t.src.Where(f.of)
	default:
		return f.dir, f.name
	}
}

// seen is a file as it was at some moment.
type seen struct {
	kind    nodes.Kind
	size    int64
	held    bool
	mtime   time.Time
	removed bool
	// of is the file of the source that it shows, was what it shows if it is none any
	// more; both only if no text is held.
	of  nodes.ID
	was Content
}

// isElsewhere tells of a number of the source that the file which has it is not to be seen
// under it any more. The caller holds mu.
func (t *Tree) isElsewhere(id nodes.ID) bool {
	f, apart := t.shown[id]
	return apart && (f == nil || f.id != id)
}

// look gives what there is beyond the source of a node.
func (t *Tree) look(id nodes.ID) (s seen, known bool, err error) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	f := t.files[id]
	switch {
	case f != nil:
	case t.isElsewhere(id):
		return s, false, nodes.NotExist(id)
	default:
		return s, false, nil
	}
	return seen{
		kind: f.kind, size: f.Size(), held: f.Held(), mtime: f.mtime, removed: f.removed, of: f.of, was: f.was,
	}, true, nil
}

// Note gives what is noted of a file; ok is false if it is one of the source.
func (t *Tree) Note(id nodes.ID) (note any, ok bool) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	f := t.files[id]
	if f == nil {
		return nil, false
	}
	return f.note, !f.isSource()
}

// SetNote notes something of a file for when it is put. What the source has is put at once, as
// the file shows it.
func (t *Tree) SetNote(ctx context.Context, id nodes.ID, note any) error {
	t.editing.Lock()
	defer t.editing.Unlock()
	f := t.fileOf(id)
	if f == nil {
		f = sourceFile(id, id)
	}
	if f.isSource() && !f.Dirty() {
		return t.putAnew(ctx, f, note)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	f.note = note
	return nil
}

// Attr implements [nodes.Tree].
func (t *Tree) Attr(ctx context.Context, id nodes.ID) (nodes.Attr, error) {
	if err := ctx.Err(); err != nil {
		return nodes.Attr{}, err
	}
	attr, err := t.attr(ctx, id)
	if err != nil {
		return nodes.Attr{}, err
	}
	attr.ModTime = t.times.Of(id, attr.ModTime)
	return attr, nil
}

func (t *Tree) attr(ctx context.Context, id nodes.ID) (nodes.Attr, error) {
	s, known, err := t.look(id)
	attr := nodes.Attr{Kind: s.kind, Size: s.size, ModTime: s.mtime, Writable: true, Removed: s.removed}
	switch {
	case err != nil:
	case !known:
		return t.src.Attr(ctx, id)
	case s.held || s.kind == nodes.Dir:
	case s.of != 0:
		return t.src.Attr(ctx, s.of)
	default:
		attr.ModTime = s.was.ModTime()
		attr.Size, err = s.was.Size(ctx)
	}
	return attr, err
}

// ReadAt implements [nodes.Tree].
func (t *Tree) ReadAt(ctx context.Context, id nodes.ID, p []byte, off int64) (int, error) {
	if n, ok, err := t.readText(id, p, off); ok {
		return n, err
	}
	s, known, err := t.look(id)
	switch {
	case err != nil:
		return 0, err
	case !known:
		return t.src.ReadAt(ctx, id, p, off)
	case s.kind == nodes.Dir:
		return 0, fmt.Errorf("%v: %w", id, nodes.ErrIsDir)
	case s.held: // since a moment ago
		return t.ReadAt(ctx, id, p, off)
	case s.of != 0:
		return t.src.ReadAt(ctx, s.of, p, off)
	case off < 0:
		return 0, fmt.Errorf("negative offset %d", off)
	}
	return s.was.ReadAt(ctx, p, off)
}

// readText reads a text that is held. Writers change it in place, so that it is copied
// under the lock.
func (t *Tree) readText(id nodes.ID, p []byte, off int64) (n int, ok bool, err error) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	f := t.files[id]
	if f == nil || !f.Held() {
		return 0, false, nil
	}
	if off < 0 {
		return 0, true, fmt.Errorf("negative offset %d", off)
	}
	n, err = f.ReadAt(p, off)
	return n, true, err
}

// Forget implements [nodes.Mutable].
func (t *Tree) Forget(id nodes.ID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if f := t.files[id]; f != nil && f.removed && !f.Open() {
		delete(t.files, id)
		delete(t.dirs, id)
		t.times.Drop(id)
	}
}
