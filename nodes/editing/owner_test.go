package editing_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"lorefs/nodes"
	"lorefs/nodes/editing"
)

// place is a name of flat.
type place struct{ editing.Place }

// flat is a tree of one directory, in which names are IDs.
type flat struct {
	nodes.Tree // nothing but Attr is asked for
	editing.Methods[*place]
	editing sync.Mutex
	mu      sync.RWMutex
	owner   *editing.Owner
	entries map[string]nodes.Entry
	fail    error
}

func newFlat() *flat {
	f := &flat{entries: map[string]nodes.Entry{
		"file":  {ID: 2, Kind: nodes.File},
		"other": {ID: 3, Kind: nodes.File},
		"dir":   {ID: 4, Kind: nodes.Dir},
	}}
	f.owner = editing.NewOwner(f, &f.editing, &f.mu, nil, func() time.Time { return edited })
	f.Methods = editing.NewMethods(f.owner, editing.Own[*place]{
		Find: f.find, Remove: f.remove, Rename: f.rename, Exchange: f.exchange,
	})
	return f
}

var (
	source = time.Unix(1, 0)
	edited = time.Unix(2, 0)
	told   = time.Unix(3, 0)
)

// errDir is what a directory that is not there fails with, and errFails what edits do.
var (
	errDir   = errors.New("no such directory")
	errFails = errors.New("it fails")
)

const bad nodes.ID = 99

func (f *flat) Attr(_ context.Context, id nodes.ID) (nodes.Attr, error) {
	if id == bad {
		return nodes.Attr{}, errDir
	}
	return nodes.Attr{ModTime: f.owner.Times.Of(id, source), Writable: id != nodes.Root}, nil
}

func (f *flat) find(_ context.Context, dir nodes.ID, name string) (*place, error) {
	if dir == bad {
		return nil, errDir
	}
	e := f.entries[name]
	return &place{editing.Place{Name: name, ID: e.ID, Kind: e.Kind}}, nil
}

func (f *flat) remove(_ context.Context, at *place) error {
	if f.fail == nil {
		delete(f.entries, at.Name)
	}
	return f.fail
}

func (f *flat) rename(_ context.Context, from, to *place) error {
	if f.fail == nil {
		f.entries[to.Name] = f.entries[from.Name]
		delete(f.entries, from.Name)
	}
	return f.fail
}

func (f *flat) exchange(_ context.Context, from, to *place) error {
	f.entries[to.Name], f.entries[from.Name] = f.entries[from.Name], f.entries[to.Name]
	return f.fail
}

// want fails the test if a name is not that of a node, 0 for none.
func (f *flat) want(t *testing.T, name string, id nodes.ID) {
	t.Helper()
	if got := f.entries[name].ID; got != id {
		t.Errorf("%s is node %d, want %d", name, got, id)
	}
}

func TestRename(t *testing.T) {
	for _, c := range []struct {
		from, to string
		mode     nodes.RenameMode
		want     error
		// now is what has the new name then, before what has the old one.
		now, before nodes.ID
	}{
		{"file", "none", nodes.RenameReplace, nil, 2, 0},
		{"file", "other", nodes.RenameReplace, nil, 2, 0},
		{"file", "file", nodes.RenameReplace, nil, 2, 2},
		{"file", "dir", nodes.RenameReplace, nodes.ErrIsDir, 4, 2},
		{"dir", "file", nodes.RenameReplace, nodes.ErrNotDir, 2, 4},
		{"dir", "none", nodes.RenameReplace, nil, 4, 0},
		{"none", "file", nodes.RenameReplace, nodes.ErrNotExist, 2, 0},
		{"none", "none", nodes.RenameReplace, nodes.ErrNotExist, 0, 0},
		{"file", "none", nodes.RenameKeep, nil, 2, 0},
		{"file", "file", nodes.RenameKeep, nodes.ErrExist, 2, 2},
		{"file", "dir", nodes.RenameKeep, nodes.ErrExist, 4, 2},
		{"none", "file", nodes.RenameKeep, nodes.ErrNotExist, 2, 0},
		{"file", "dir", nodes.RenameExchange, nil, 2, 4},
		{"dir", "file", nodes.RenameExchange, nil, 4, 2},
		{"file", "file", nodes.RenameExchange, nil, 2, 2},
		{"file", "none", nodes.RenameExchange, nodes.ErrNotExist, 0, 2},
		{"none", "file", nodes.RenameExchange, nodes.ErrNotExist, 2, 0},
	} {
		t.Run(fmt.Sprintf("%s %s %d", c.from, c.to, c.mode), func(t *testing.T) {
			f := newFlat()
			if err := f.Rename(t.Context(), 5, c.from, 6, c.to, c.mode); !errors.Is(err, c.want) {
				t.Errorf("%v, want %v", err, c.want)
			}
			f.want(t, c.to, c.now)
			f.want(t, c.from, c.before)
			want := edited
			if c.want != nil || c.from == c.to {
				want = source
			}
			for _, dir := range []nodes.ID{5, 6} {
				if got := f.owner.Times.Of(dir, source); !got.Equal(want) {
					t.Errorf("directory %d has the time %v, want %v", dir, got, want)
				}
			}
		})
	}
}

func TestRemove(t *testing.T) {
	for _, c := range []struct {
		name string
		kind nodes.Kind
		want error
	}{
		{"file", nodes.File, nil},
		{"dir", nodes.Dir, nil},
		{"file", nodes.Dir, nodes.ErrNotDir},
		{"dir", nodes.File, nodes.ErrIsDir},
		{"none", nodes.File, nodes.ErrNotExist},
		{"none", nodes.Dir, nodes.ErrNotExist},
	} {
		f := newFlat()
		id := f.entries[c.name].ID
		if err := f.Remove(t.Context(), 5, c.name, c.kind); !errors.Is(err, c.want) {
			t.Errorf("remove %s as a %v: %v, want %v", c.name, c.kind, err, c.want)
		}
		want := source
		if c.want == nil {
			id, want = 0, edited
		}
		f.want(t, c.name, id)
		if got := f.owner.Times.Of(5, source); !got.Equal(want) {
			t.Errorf("remove %s as a %v: the directory has the time %v, want %v", c.name, c.kind, got, want)
		}
	}
}

// What fails leaves all as it was, also the times.
func TestFails(t *testing.T) {
	f := newFlat()
	if err := f.Rename(t.Context(), bad, "file", 5, "none", 0); !errors.Is(err, errDir) {
		t.Errorf("rename from nowhere: %v, want %v", err, errDir)
	}
	if err := f.Rename(t.Context(), 5, "file", bad, "none", 0); !errors.Is(err, errDir) {
		t.Errorf("rename to nowhere: %v, want %v", err, errDir)
	}
	if err := f.Remove(t.Context(), bad, "file", nodes.File); !errors.Is(err, errDir) {
		t.Errorf("remove from nowhere: %v, want %v", err, errDir)
	}
	f.fail = errFails
	if err := f.Rename(t.Context(), 5, "file", 5, "none", 0); !errors.Is(err, errFails) {
		t.Errorf("rename: %v, want %v", err, errFails)
	}
	if err := f.Remove(t.Context(), 5, "file", nodes.File); !errors.Is(err, errFails) {
		t.Errorf("remove: %v, want %v", err, errFails)
	}
	if got := f.owner.Times.Of(5, source); !got.Equal(source) {
		t.Errorf("the directory has the time %v, want %v", got, source)
	}
}

func TestSetModTime(t *testing.T) {
	f := newFlat()
	if err := f.SetModTime(t.Context(), 2, told); err != nil || !f.owner.Times.Of(2, source).Equal(told) {
		t.Errorf("%v, %v; want %v", f.owner.Times.Of(2, source), err, told)
	}
	if err := f.SetModTime(t.Context(), nodes.Root, told); !errors.Is(err, nodes.ErrReadOnly) {
		t.Errorf("of what can't be written to: %v, want %v", err, nodes.ErrReadOnly)
	}
	if err := f.SetModTime(t.Context(), bad, told); !errors.Is(err, errDir) {
		t.Errorf("of what is not there: %v, want %v", err, errDir)
	}
}

func TestWatch(t *testing.T) {
	f := newFlat()
	f.owner.Tell(nodes.Change{ID: 2}) // nobody watches
	var got []nodes.Change
	f.Watch(func(c nodes.Change) { got = append(got, c) })
	f.owner.Tell(nodes.Change{ID: 3})
	if !slices.Equal(got, []nodes.Change{{ID: 3}}) {
		t.Errorf("was told %v", got)
	}
	if err := f.Sync(t.Context()); err != nil {
		t.Errorf("sync: %v", err)
	}
}

func TestOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var o editing.Order[uint64]
		var want []uint64
		for next := range uint64(rapid.IntRange(1, 200).Draw(t, "steps")) {
			if cursor := rapid.Uint64Range(0, next).Draw(t, "cursor"); rapid.Bool().Draw(t, "take") {
				o.Take(cursor)
				want = slices.DeleteFunc(want, func(v uint64) bool { return v == cursor })
			} else {
				o.Put(next, &next)
				want = append(want, next)
			}
			from := rapid.Uint64Range(0, next+1).Draw(t, "from")
			var got []uint64
			for v := range o.From(from) {
				got = append(got, *v)
			}
			first, _ := slices.BinarySearch(want, from)
			if !slices.Equal(got, want[first:]) || o.Len() != len(want) {
				t.Fatalf("from %d: %v of %d, want %v of %d", from, got, o.Len(), want[first:], len(want))
			}
		}
	})
}

// What has gone is forgotten once most has.
func TestOrderForgets(t *testing.T) {
	const all, kept = 1000, 10
	var o editing.Order[int]
	for i := range all {
		o.Put(uint64(i), &i)
	}
	for i := range all {
		if i%(all/kept) != 0 {
			o.Take(uint64(i))
			o.Take(uint64(i)) // it has gone already
		}
	}
	o.Take(all)
	var got []int
	for v := range o.From(0) {
		got = append(got, *v)
	}
	if want := []int{0, 100, 200, 300, 400, 500, 600, 700, 800, 900}; !slices.Equal(got, want) || o.Len() != kept {
		t.Errorf("%v of %d, want %v of %d", got, o.Len(), want, kept)
	}
	for v := range o.From(101) {
		if *v != 200 {
			t.Errorf("from 101: %d, want 200", *v)
		}
		break
	}
}

func TestTimes(t *testing.T) {
	times := editing.NewTimes(func() time.Time { return edited })
	want := func(id nodes.ID, want time.Time) {
		t.Helper()
		if got := times.Of(id, source); !got.Equal(want) {
			t.Errorf("node %d has the time %v, want %v", id, got, want)
		}
	}
	times.Touch(2, 3)
	times.Set(4, told)
	want(2, edited)
	want(3, edited)
	want(4, told)
	want(5, source)
	times.Drop(3)
	times.Touch(4)
	want(3, source)
	want(4, edited)
}
