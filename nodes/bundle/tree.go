package bundle

import (
	"context"
	"fmt"
	"iter"
	"sort"
	"strconv"
	"sync"
	"time"

	"lorefs/nodes"
)

// Options are the options of New.
type Options struct {
	// ModTime is the time of everything, SourceSize the size of the source for statfs(2).
	ModTime    time.Time
	SourceSize int64
	// Check returns an error if the source is no longer what it was when it was opened. It is
	// called before anything is read. Default: nothing is checked.
	Check func() error
}

// Tree is the folder of the files that a source holds. It is safe for parallel use.
type Tree struct {
	opts Options
	// writable is set for the tree of an Editable.
	writable bool

	// mu guards everything below, and the members. Nothing is read from the source under it.
	mu sync.RWMutex
	// list has the files sorted by their places.
	list   []*member
	byID   map[nodes.ID]*member
	byName map[string]*member
	// size of the source, in bytes.
	size int64
}

// member is a file of the folder.
type member struct {
	id   nodes.ID
	name string
	// place is where it is listed.
	place   uint64
	content *content
	modTime time.Time
}

// firstID is the number of the file at place 0.
const firstID = nodes.Root + 1

var _ nodes.Tree = (*Tree)(nil)

// New returns the folder of the files.
func New(files Files, opts Options) *Tree {
	if opts.Check == nil {
		opts.Check = func() error { return nil }
	}
	n := files.Len()
	t := &Tree{
		opts: opts, size: opts.SourceSize, list: make([]*member, n), byID: make(map[nodes.ID]*member, n), byName: make(map[string]*member, n),
	}
	members, contents := make([]member, n), make([]content, n)
	for i := range members {
		contents[i] = content{files: files, at: i, size: files.Size(i)}
		members[i] = member{
			id: firstID + nodes.ID(i), name: files.Name(i), place: uint64(i), content: &contents[i], modTime: opts.ModTime,
		}
		m := &members[i]
		t.list[i], t.byID[m.id], t.byName[m.name] = m, m, m
	}
	return t
}

// Usage implements [nodes.Tree].
func (t *Tree) Usage() nodes.Usage {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return nodes.Usage{Bytes: t.size, Nodes: int64(len(t.list)) + 1}
}

func (t *Tree) check(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return t.opts.Check()
}

// file returns a file as it is now.
func (t *Tree) file(id nodes.ID) (member, error) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	switch m := t.byID[id]; {
	case m != nil:
		return *m, nil
	case id == nodes.Root:
		return member{}, fmt.Errorf("%v: %w", id, nodes.ErrIsDir)
	}
	return member{}, nodes.NotExist(id)
}

// mustBeRoot returns an error unless an ID is that of the root, the only directory.
func (t *Tree) mustBeRoot(dir nodes.ID) error {
	if dir == nodes.Root {
		return nil
	}
	if _, err := t.file(dir); err != nil {
		return err
	}
	return fmt.Errorf("%v: %w", dir, nodes.ErrNotDir)
}

// Attr implements [nodes.Tree].
func (t *Tree) Attr(ctx context.Context, id nodes.ID) (nodes.Attr, error) {
	if err := t.check(ctx); err != nil {
		return nodes.Attr{}, err
	}
	if id == nodes.Root {
		return nodes.Attr{Kind: nodes.Dir, ModTime: t.opts.ModTime, Writable: t.writable}, nil
	}
	m, err := t.file(id)
	if err != nil {
		return nodes.Attr{}, err
	}
	return nodes.Attr{Kind: nodes.File, Size: m.content.size, ModTime: m.modTime, Writable: t.writable}, nil
}

func (t *Tree) entry(m *member) nodes.Entry {
	return nodes.Entry{
		Name: m.name, ID: m.id, Kind: nodes.File, Size: m.content.size, ModTime: m.modTime, Writable: t.writable,
	}
}

// Lookup implements [nodes.Tree].
func (t *Tree) Lookup(ctx context.Context, dir nodes.ID, name string) (nodes.Entry, error) {
	if err := t.check(ctx); err != nil {
		return nodes.Entry{}, err
	}
	if err := t.mustBeRoot(dir); err != nil {
		return nodes.Entry{}, err
	}
	t.mu.RLock()
	defer t.mu.RUnlock()
	if m := t.byName[name]; m != nil {
		return t.entry(m), nil
	}
	return nodes.Entry{}, nodes.NotExist(strconv.Quote(name))
}

// listPart is how many entries are listed under the lock at once.
const listPart = 256

// ReadDir implements [nodes.Tree]. A cursor is one more than the place of a file, so entries keep
// theirs when others come and go.
func (t *Tree) ReadDir(ctx context.Context, dir nodes.ID, cursor uint64) iter.Seq2[nodes.Entry, error] {
	return func(yield func(nodes.Entry, error) bool) {
		err := t.check(ctx)
		if err == nil {
			err = t.mustBeRoot(dir)
		}
		if err != nil {
			yield(nodes.Entry{}, err)
			return
		}
		var part [listPart]nodes.Entry
		for {
			n := t.fill(part[:], cursor)
			for _, e := range part[:n] {
				if !yield(e, nil) {
					return
				}
				cursor = e.Next
			}
			if n < len(part) {
				return
			}
		}
	}
}

// fill fills a part of the list, from a cursor on, and returns its length.
func (t *Tree) fill(part []nodes.Entry, cursor uint64) (n int) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	for _, m := range t.list[t.from(cursor):] {
		if n == len(part) {
			break
		}
		part[n] = t.entry(m)
		part[n].Next = m.place + 1
		n++
	}
	return n
}

// from returns the index of the first file at a place or behind it. The caller holds mu.
func (t *Tree) from(place uint64) int {
	return sort.Search(len(t.list), func(i int) bool { return t.list[i].place >= place })
}

// ReadAt implements [nodes.Tree].
func (t *Tree) ReadAt(ctx context.Context, file nodes.ID, p []byte, off int64) (int, error) {
	if err := t.check(ctx); err != nil {
		return 0, err
	}
	m, err := t.file(file)
	if err != nil {
		return 0, err
	}
	return m.content.ReadAt(p, off)
}
