package dctree_test

import (
	"errors"
	"testing"

	"lorefs/nodes"
)

// An attribute whose file was renamed to a scratch file still exists after a crash, until it is
// written anew, its scratch file is removed or replaced, or the tree is saved.
func TestHidden(t *testing.T) {
	const name, aside, other = "Weapon/Item/name", "Weapon/Item/name~", "Weapon/Item.1/"
	for what, tt := range map[string]struct {
		do func(t *testing.T, e *edited)
		// crash and save are the content of name afterwards, empty if it doesn't exist.
		crash, save string
	}{
		"renamed":       {func(*testing.T, *edited) {}, "sword\n", ""},
		"written anew":  {func(t *testing.T, e *edited) { must(t, e.write(t, e.create(t, name), "new\n")) }, "new\n", "new\n"},
		"not yet":       {func(t *testing.T, e *edited) { e.create(t, name) }, "sword\n", ""},
		"renamed back":  {func(t *testing.T, e *edited) { must(t, e.rename(t, aside, name)) }, "sword\n", "sword\n"},
		"removed":       {func(t *testing.T, e *edited) { must(t, e.remove(t, aside)) }, "", ""},
		"elsewhere":     {func(t *testing.T, e *edited) { must(t, e.rename(t, aside, other+"name")) }, "", ""},
		"replaced":      {func(t *testing.T, e *edited) { must(t, e.rename(t, other+"id", aside)) }, "", ""},
		"aside further": {func(t *testing.T, e *edited) { must(t, e.rename(t, aside, other+".name")) }, "sword\n", ""},
		"by another": {func(t *testing.T, e *edited) {
			must(t, e.write(t, e.create(t, "Weapon/Item/.new"), "new\n"))
			must(t, e.rename(t, "Weapon/Item/.new", name))
			must(t, e.remove(t, aside))
		}, "new\n", "new\n"},
		"twice": {func(t *testing.T, e *edited) {
			must(t, e.write(t, e.create(t, name), "new\n"))
			must(t, e.rename(t, name, other+".name"))
			must(t, e.remove(t, aside)) // it hides nothing any more
		}, "new\n", ""},
	} {
		t.Run(what, func(t *testing.T) {
			e := editable(t, weapon())
			must(t, e.rename(t, name, aside))
			if _, err := e.at(name); !errors.Is(err, nodes.ErrNotExist) {
				t.Errorf("it is there: %v", err)
			}
			tt.do(t, e)
			saved, err := reopen(e.replayed(t).save(t))
			must(t, err)
			saved.holds(t, name, tt.crash)
			if saved, err = reopen(e.save(t)); err != nil {
				t.Fatal(err)
			}
			saved.holds(t, name, tt.save)
			if _, err := e.at(aside); err == nil { // the scratch file still has the text
				must(t, e.rename(t, aside, name))
			}
		})
	}
}

func (e *edited) holds(t *testing.T, path, want string) {
	t.Helper()
	entry, err := e.at(path)
	if want == "" && errors.Is(err, nodes.ErrNotExist) {
		return
	}
	if err != nil {
		t.Errorf("%s: %v", path, err)
	} else if got := e.text(t, entry.ID); got != want {
		t.Errorf("%s: %q, want %q", path, got, want)
	}
}

// A directory whose only attribute is hidden counts as empty, and can be removed.
func TestHiddenInDirectories(t *testing.T) {
	e := editable(t, weapon())
	must(t, e.rename(t, "Weapon/Item/name", "Weapon/Item.1/name~"))
	must(t, e.rename(t, "Weapon/Item", "Weapon/Old"))
	must(t, e.rename(t, "Weapon/Item.1/name~", "Weapon/Old/name"))
	must(t, e.rename(t, "Weapon/Old/name", "Weapon/Item.1/name~"))
	for _, name := range []string{"id", "rate", "rare", "__value__"} {
		must(t, e.remove(t, "Weapon/Old/"+name))
	}
	must(t, e.Remove(t.Context(), e.mustAt(t, "Weapon"), "Old", nodes.Dir))
	must(t, e.rename(t, "Weapon/Item.1/name~", "Weapon/Item.1/name2"))
	must(t, e.rename(t, "Weapon/Item.1", "Weapon/Item"))
	e.survives(t)
}

// After a crash an added attribute keeps its spelling when the node of its name goes.
func TestMarkAfterReplay(t *testing.T) {
	e := editable(t, weapon())
	must(t, e.write(t, e.create(t, "Weapon/@Item"), "1\n"))
	e = e.replayed(t)
	id := e.mustAt(t, "Weapon/@Item")
	must(t, e.rename(t, "Weapon/Item", "Weapon/Thing"))
	if got := e.mustAt(t, "Weapon/@Item"); got != id {
		t.Errorf("number %d, was %d", got, id)
	}
	if _, err := e.at("Weapon/Item"); !errors.Is(err, nodes.ErrNotExist) {
		t.Error(err)
	}
	shown(t, e)
}

// A node can get the former name of an attribute if the attribute comes back as @name.
func TestAttributeGivesWay(t *testing.T) {
	e := editable(t, weapon())
	must(t, e.rename(t, "Weapon/Item/name", "Weapon/Item/.name"))
	_, err := e.Mkdir(t.Context(), e.mustAt(t, "Weapon/Item"), "name")
	must(t, err)
	must(t, e.rename(t, "Weapon/Item/.name", "Weapon/Item/@name"))
	e.survives(t)
}

// An attribute can't be made in both spellings at the same time.
func TestTwoSpellings(t *testing.T) {
	e := editable(t, weapon())
	e.create(t, "Weapon/Item/new")
	if _, err := e.Create(t.Context(), e.mustAt(t, "Weapon/Item"), "@new"); !errors.Is(err, nodes.ErrExist) {
		t.Error(err)
	}
}

// TestHiddenGivesWay checks that a hidden attribute stays hidden when a node gets its name, and
// that it is not lost.
func TestHiddenGivesWay(t *testing.T) {
	e := editable(t, weapon())
	must(t, e.rename(t, "Weapon/Item/name", "Weapon/Item/name~"))
	must(t, e.rename(t, "Weapon/Item.1", "Weapon/Item/name"))
	for _, path := range []string{"Weapon/Item/@name", "Weapon/Item/name/name"} {
		if _, err := e.at(path); (err == nil) != (path == "Weapon/Item/name/name") {
			t.Errorf("%s: %v", path, err)
		}
	}
	must(t, e.rename(t, "Weapon/Item/name~", "Weapon/Item/@name"))
	e.holds(t, "Weapon/Item/@name", "sword\n")
}
