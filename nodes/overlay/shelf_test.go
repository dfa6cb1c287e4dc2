package overlay_test

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"lorefs/nodes"
	"lorefs/nodes/nodetest"
	"lorefs/nodes/overlay"
)

// shelf is a source: a directory with two files, which accept any text that doesn't begin with
// an exclamation mark.
type shelf struct {
	overlay.Watcher
	now func() time.Time

	mu    sync.Mutex
	texts map[nodes.ID]string
	times map[nodes.ID]time.Time
}

const (
	box, one, two = nodes.Root + 1, nodes.Root + 2, nodes.Root + 3
	firstID       = nodes.ID(100)
)

var (
	shelfTime = time.Date(2020, 2, 2, 2, 2, 2, 0, time.UTC)
	errStays  = fmt.Errorf("%w: it is of the shelf", nodes.ErrNotPermitted)
	names     = map[nodes.ID]string{box: "box", one: "one", two: "two"}
	inside    = map[nodes.ID][]nodes.ID{nodes.Root: {box}, box: {one, two}}
)

func newShelf(limits overlay.Limits) (*overlay.Tree, *shelf) {
	s := &shelf{now: time.Now, texts: map[nodes.ID]string{one: "1", two: "2"}, times: map[nodes.ID]time.Time{}}
	return overlay.New(s, overlay.Options{
		FirstID: firstID, Empty: true, EditOptions: overlay.EditOptions{Now: s.now, Limits: limits},
	}), s
}

var roomy = overlay.Limits{Text: 1 << 20, Texts: 1 << 20}

func (s *shelf) Attr(_ context.Context, id nodes.ID) (nodes.Attr, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	text, ok := s.texts[id]
	switch {
	case ok:
		return nodes.Attr{Kind: nodes.File, Size: int64(len(text)), ModTime: s.time(id), Writable: true}, nil
	case inside[id] != nil:
		return nodes.Attr{Kind: nodes.Dir, ModTime: shelfTime, Writable: id == box}, nil
	}
	return nodes.Attr{}, nodes.NotExist(id)
}

func (s *shelf) time(id nodes.ID) time.Time {
	if at, ok := s.times[id]; ok {
		return at
	}
	return shelfTime
}

func (s *shelf) Lookup(ctx context.Context, dir nodes.ID, name string) (nodes.Entry, error) {
	for e, err := range s.ReadDir(ctx, dir, 0) {
		if err != nil || e.Name == name {
			e.Next = 0
			return e, err
		}
	}
	return nodes.Entry{}, nodes.NotExist(name)
}

func (s *shelf) ReadDir(ctx context.Context, dir nodes.ID, cursor uint64) iter.Seq2[nodes.Entry, error] {
	return func(yield func(nodes.Entry, error) bool) {
		attr, err := s.Attr(ctx, dir)
		if err == nil && attr.Kind != nodes.Dir {
			err = nodes.ErrNotDir
		}
		if err != nil {
			yield(nodes.Entry{}, err)
			return
		}
		for i := int(cursor); i < len(inside[dir]); i++ {
			id := inside[dir][i]
			a, err := s.Attr(ctx, id)
			e := nodes.Entry{
				Name: names[id], ID: id, Kind: a.Kind, Size: a.Size, ModTime: a.ModTime, Writable: a.Writable, Next: uint64(i) + 1,
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

func (s *shelf) ReadAt(_ context.Context, id nodes.ID, p []byte, off int64) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	text, ok := s.texts[id]
	switch {
	case ok:
		return nodes.ReadContent(text, p, off)
	case inside[id] != nil:
		return 0, nodes.ErrIsDir
	}
	return 0, nodes.NotExist(id)
}

func (s *shelf) Usage() nodes.Usage { return nodes.Usage{Nodes: 4} }

func (s *shelf) Where(id nodes.ID) (dir nodes.ID, name string) {
	switch id {
	case nodes.Root:
		return 0, ""
	case box:
		return nodes.Root, "box"
	}
	return box, names[id]
}

func (s *shelf) Name(ctx context.Context, dir nodes.ID, name string) (overlay.Name, error) {
	at := overlay.Name{Text: name}
	if strings.HasPrefix(name, "no") {
		at.File.Err, at.Dir.Err = nodes.ErrInvalid, nodes.ErrInvalid
	}
	if dir == 0 {
		return at, nil
	}
	attr, err := s.Attr(ctx, dir)
	switch {
	case err != nil:
		return at, err
	case attr.Kind != nodes.Dir:
		return at, nodes.ErrNotDir
	case dir != box:
		return at, nodes.ErrReadOnly
	}
	for _, id := range inside[box] {
		if strings.EqualFold(names[id], name) {
			at = overlay.Name{Text: names[id], ID: id, Kind: nodes.File, Writable: true}
		}
	}
	return at, nil
}

func (s *shelf) Open(ctx context.Context, file nodes.ID) error {
	attr, err := s.Attr(ctx, file)
	if err == nil && attr.Kind == nodes.Dir {
		err = nodes.ErrIsDir
	}
	return err
}

func (s *shelf) Put(_ context.Context, to overlay.Place, text []byte, from overlay.From) (nodes.ID, error) {
	file := to.ID
	if from.Hidden != 0 {
		return 0, errStays
	}
	if bytes.HasPrefix(text, []byte("!")) {
		return 0, fmt.Errorf("%w: an exclamation mark", nodes.ErrInvalid)
	}
	s.mu.Lock()
	s.texts[file], s.times[file] = string(text), s.now()
	s.mu.Unlock()
	s.Changed(nodes.Change{ID: file})
	return file, nil
}

func (s *shelf) Mkdir(context.Context, nodes.ID, string) (nodes.ID, error) { return 0, errStays }
func (s *shelf) Move(context.Context, overlay.Move) error                  { return errStays }

func (s *shelf) Remove(context.Context, nodes.ID) error { return errStays }

func (s *shelf) Watch(w overlay.Watcher) { s.Watcher = w }

func (s *shelf) Now(_ context.Context, file nodes.ID) (overlay.Content, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return copied{s.texts[file], s.time(file)}, nil
}

// copied is the Content of a file as bytes.
type copied struct {
	text string
	at   time.Time
}

func (c copied) Size(context.Context) (int64, error) { return int64(len(c.text)), nil }
func (c copied) ModTime() time.Time                  { return c.at }

func (c copied) ReadAt(_ context.Context, p []byte, off int64) (int, error) {
	return nodes.ReadContent(c.text, p, off)
}

func TestMutable(t *testing.T) {
	nodetest.RunMutable(t, func(*testing.T) nodes.Mutable {
		tree, _ := newShelf(roomy)
		return tree
	}, nodetest.Edits{
		Dir: []string{"box"}, Files: [2]string{"x", "y"}, Dirs: [2]string{"d", "e"}, Valid: [2]string{"some", "other"},
	})
}

// Before the first edit, the overlay shows the same as its source.
func TestUntouched(t *testing.T) {
	tree, _ := newShelf(roomy)
	nodetest.Run(t, tree)
}

// Changes have the number under which the file is shown.
func TestTellsOfShown(t *testing.T) {
	tree, s := newShelf(roomy)
	var told []nodes.ID
	tree.Watch(func(c nodes.Change) { told = append(told, c.ID) })
	entry, err := tree.Create(t.Context(), box, "x")
	if err == nil {
		err = tree.Rename(t.Context(), box, "x", box, "one", nodes.RenameReplace)
	}
	if err != nil {
		t.Fatal(err)
	}
	told = nil
	s.Changed(nodes.Change{ID: one})
	s.Changed(nodes.Change{ID: two})
	if want := []nodes.ID{one, entry.ID, two}; !slices.Equal(told, want) {
		t.Errorf("told of %v, want %v", told, want)
	}
}
