package overlay_test

import (
	"context"
	"slices"
	"testing"

	"lorefs/nodes"
	"lorefs/nodes/nodetest"
	"lorefs/nodes/overlay"
)

// growing is a shelf that a file called new can be added to.
type growing struct{ *shelf }

func (g growing) Name(ctx context.Context, dir nodes.ID, name string) (overlay.Name, error) {
	at, err := g.shelf.Name(ctx, dir, name)
	at.File.Own = name == "new"
	return at, err
}

// at is the tree of a growing, and what it has told its watcher.
type at struct {
	*overlay.Tree
	t    *testing.T
	told []nodes.Change
}

func newAt(t *testing.T) *at {
	_, s := newShelf(roomy)
	a := &at{t: t, Tree: overlay.New(growing{s}, overlay.Options{FirstID: firstID, EditOptions: overlay.EditOptions{Limits: roomy, Now: s.now}})}
	a.Watch(func(c nodes.Change) { a.told = append(a.told, c) })
	return a
}

// write writes a text and does not close the file.
func (a *at) write(id nodes.ID, text string) nodes.Writer {
	a.t.Helper()
	w, err := a.OpenWrite(a.t.Context(), id)
	if err == nil {
		err = w.Truncate(a.t.Context(), 0)
	}
	if err == nil {
		_, err = w.WriteAt(a.t.Context(), []byte(text), 0)
	}
	if err != nil {
		a.t.Fatal(err)
	}
	return w
}

func (a *at) want(what string, got []string, want ...string) {
	a.t.Helper()
	if !slices.Equal(got, want) {
		a.t.Errorf("%s: %q, want %q", what, got, want)
	}
}

func (a *at) shows(id nodes.ID, want string) {
	a.t.Helper()
	if got, err := nodetest.ReadFile(a.t.Context(), a, id); string(got) != want || err != nil {
		a.t.Errorf("%d shows %q, %v; want %q", id, got, err, want)
	}
}

// TestTakeBackOpen takes back while programs have files open: what nobody has flushed stays, and
// the handles go on.
func TestTakeBackOpen(t *testing.T) {
	a := newAt(t)
	first, other := a.write(one, "!bad"), a.write(two, "begun")
	if err := first.Flush(t.Context()); err == nil {
		t.Fatal("a bad text was taken")
	}
	a.want("not flushed", a.Unflushed(), "box/two")
	a.want("not flushed in one", a.Unflushed(one))
	a.want("taken back in two", a.TakeBack(two))
	a.shows(one, "!bad")
	a.told = nil
	a.want("taken back", a.TakeBack(), "box/one")
	if !slices.Equal(a.told, []nodes.Change{{ID: one}}) {
		t.Errorf("told of %v", a.told)
	}
	a.shows(one, "1")
	a.shows(two, "begun")
	if _, err := first.WriteAt(t.Context(), []byte("7"), 0); err != nil {
		t.Error(err)
	}
	a.want("not flushed", a.Unflushed(box), "box/one", "box/two")
	for _, w := range []nodes.Writer{first, other} {
		if err := w.Release(); err != nil {
			t.Error(err)
		}
	}
	a.shows(one, "7")
	a.shows(two, "begun")
	a.want("not flushed", a.Unflushed())
	if len(a.Refused()) != 0 {
		t.Errorf("refused: %v", a.Refused())
	}
}

// TestTakeBackNew takes back the text of a file that the source never had, but not that of a
// scratch file.
func TestTakeBackNew(t *testing.T) {
	a := newAt(t)
	for _, name := range []string{"new", "scrap"} {
		e, err := a.Create(t.Context(), box, name)
		if err != nil {
			t.Fatal(err)
		}
		w := a.write(e.ID, "!bad")
		if err := w.Flush(t.Context()); (err == nil) == (name == "new") {
			t.Errorf("%s: %v", name, err)
		}
		if err := w.Release(); err != nil {
			t.Error(err)
		}
	}
	a.told = nil
	a.want("taken back", a.TakeBack(box), "box/new")
	if len(a.told) != 2 || a.told[0] != (nodes.Change{Dir: box, Name: "new"}) {
		t.Errorf("told of %v", a.told)
	}
	if e, err := a.Lookup(t.Context(), box, "new"); err == nil {
		t.Errorf("there is still %+v", e)
	}
	a.want("loose", a.Loose().Strays, "box/scrap")
}
