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
	// valued is src if src is Valued, else nil.
	valued Valued
	// empty is [Options.Empty].
	empty bool
	// sync, check and now are those of [EditOptions].
	sync, check func() error
	now         func() time.Time
	// tell reports a change to the watcher of the Tree, if the caller of the edit did not ask
	// for it by the node's number.
	tell func(nodes.Change)
	// times has the nodes whose time differs from the source's. A file that is being written has
	// its time in its file.
	times  *times
	limits Limits
	logger *slog.Logger

	// editing is held by every edit, also while the source decodes or writes its journal. It is
	// taken before mu, and before all locks of the source.
	editing lock
	// nextID is the next number to give. It is guarded by editing.
	nextID nodes.ID
	// mu guards everything below, and the files, only while memory is used. A holder of editing
	// may read without it what Forget doesn't change: all but files and dirs.
	mu sync.RWMutex
	// files has the files and directories of which the overlay knows more than the source. here
	// has all of these but directories that are gone, of which there may be many.
	files, here map[nodes.ID]*file
	// dirs has the directories that contain scratch files.
	dirs map[nodes.ID]*directory
	// shown has the files of the source that are not seen under their own number. The value is
	// the file that shows one, or nil if none does because a scratch file hides it.
	shown map[nodes.ID]*file
	// cursor is the cursor of the next scratch file.
	cursor uint64
	// bytes is the memory of all texts.
	bytes int64
}

var (
	_ nodes.Mutable = (*Tree)(nil)
	_ nodes.Xattrer = (*Tree)(nil)
)

// New returns the editable tree of a source.
func New(src Source, opts Options) *Tree {
	opts.SetDefaults(Limits{Texts: MaxTexts})
	t := &Tree{
		src: src, sync: opts.Sync, check: opts.Check, now: opts.Now, tell: func(nodes.Change) {}, times: newTimes(opts.Now), empty: opts.Empty, nextID: opts.FirstID, cursor: scratchCursor,
		limits: opts.Limits, logger: opts.Logger,
		files: map[nodes.ID]*file{}, here: map[nodes.ID]*file{}, dirs: map[nodes.ID]*directory{}, shown: map[nodes.ID]*file{},
	}
	t.valued, _ = src.(Valued)
	src.Watch(watcher{t})
	return t
}

// Alone calls f while nothing else is edited.
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
func (t *Tree) Sync(context.Context) error { return t.sync() }

// Watch implements [nodes.Mutable].
func (t *Tree) Watch(f func(nodes.Change)) { t.tell = f }

// Usage returns the usage of the source, with the scratch files counted as nodes.
func (t *Tree) Usage() nodes.Usage {
	u := t.src.Usage()
	t.mu.RLock()
	defer t.mu.RUnlock()
	for _, d := range t.dirs {
		u.Nodes += int64(d.order.Len())
	}
	return u
}

// Loose returns the files that are not the source's, apart from those with a refused text.
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

// path returns the path of a file. The caller holds mu.
func (t *Tree) path(f *file) string {
	dir, path := t.where(f.id)
	for dir != 0 && dir != nodes.Root {
		var name string
		dir, name = t.where(dir)
		path = name + "/" + path
	}
	return path
}

// where returns the directory of a node and the node's name there. The caller holds mu.
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

// seen is the state of a file at one moment.
type seen struct {
	kind    nodes.Kind
	size    int64
	held    bool
	mtime   time.Time
	removed bool
	// If no text is held, then of is the file of the source that it shows. was is its content if
	// it is removed.
	of  nodes.ID
	was Content
}

// isElsewhere reports whether the source's file with this number is hidden, or is shown under
// another number. The caller holds mu.
func (t *Tree) isElsewhere(id nodes.ID) bool {
	f, apart := t.shown[id]
	return apart && (f == nil || f.id != id)
}

// look returns what the overlay knows of a node beyond the source.
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

// Of returns the number by which the source knows a node, or 0 if the node is none of the
// source's: a file that was renamed onto one of the source keeps its own number.
func (t *Tree) Of(id nodes.ID) nodes.ID {
	t.mu.RLock()
	defer t.mu.RUnlock()
	switch f := t.files[id]; {
	case f == nil:
		return id
	case f.isSource():
		return f.of
	}
	return 0
}

// Extra returns what goes with the content of a file. ok is false if the file is one of the source.
func (t *Tree) Extra(id nodes.ID) (extra any, ok bool) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	f := t.files[id]
	if f == nil {
		return nil, false
	}
	return f.extra, !f.isSource()
}

// SetExtra sets what goes with the content of a file, which the next put uses. For a file of the source that is not
// being written, it puts at once what the file shows.
func (t *Tree) SetExtra(ctx context.Context, id nodes.ID, extra any) error {
	t.editing.Lock()
	defer t.editing.Unlock()
	f := t.fileOf(id)
	if f == nil {
		f = sourceFile(id, id)
	}
	if f.isSource() && !f.Dirty() && !f.undecided {
		return t.putAnew(ctx, f, extra)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	f.extra = extra
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
	case s.held: // a writer began after the check for a text
		return t.ReadAt(ctx, id, p, off)
	case s.of != 0:
		return t.src.ReadAt(ctx, s.of, p, off)
	case off < 0:
		return 0, fmt.Errorf("negative offset %d", off)
	}
	return s.was.ReadAt(ctx, p, off)
}

// readText reads the text of a file that holds one. It copies under the lock because writers
// change the text in place.
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

// know puts a file on the list. The caller holds mu.
func (t *Tree) know(f *file) { t.files[f.id], t.here[f.id] = f, f }

// forget takes a file off the list. The caller holds mu.
func (t *Tree) forget(id nodes.ID) {
	delete(t.files, id)
	delete(t.here, id)
}

// Forget implements [nodes.Mutable].
func (t *Tree) Forget(id nodes.ID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if f := t.files[id]; f != nil && f.removed && !f.Open() {
		t.forget(id)
		delete(t.dirs, id)
		t.times.Drop(id)
	}
}
