package dctree_test

import (
	"errors"
	"slices"
	"testing"

	"lorefs/nodes"
)

const inItem = "Weapon/Item/"

// setType sets a type as setfattr(1) does.
func (e *edited) setType(t *testing.T, path, typ string) error {
	t.Helper()
	return e.SetXattr(t.Context(), e.mustAt(t, path), "user.lorefs.type", []byte(typ))
}

func TestTypeByPath(t *testing.T) {
	e := editable(t, weapon())
	must(t, e.remove(t, inItem+"rate"))
	id := e.create(t, inItem+"rate")
	must(t, e.write(t, id, "7\n"))
	if got := typeOf(t, e, id); got != "float" {
		t.Error(got)
	}
	_, err := e.Mkdir(t.Context(), e.mustAt(t, "Weapon"), "Item.9")
	must(t, err)
	must(t, e.write(t, e.create(t, "Weapon/Item.9/rate"), "7\n"))
	if got := typeOf(t, e, e.mustAt(t, "Weapon/Item.9/rate")); got != "float" {
		t.Error(got)
	}
}

func TestTypeBeforeContent(t *testing.T) {
	e := editable(t, weapon())
	id := e.create(t, inItem+"new")
	must(t, e.setType(t, inItem+"new", "float"))
	must(t, e.write(t, id, "7\n"))
	if got := typeOf(t, e, id); got != "float" {
		t.Error(got)
	}
	e.survives(t)
}

func TestTypeAfterContent(t *testing.T) {
	e := editable(t, weapon())
	id := e.mustAt(t, inItem+"id")
	must(t, e.setType(t, inItem+"id", "string"))
	must(t, e.setType(t, inItem+"id", "bool"))
	if got := e.text(t, id); got != "true\n" || typeOf(t, e, id) != "bool" {
		t.Error(got)
	}
	if err := e.setType(t, inItem+"id", "int"); !errors.Is(err, nodes.ErrInvalid) {
		t.Errorf("true as an int: %v", err)
	}
	if err := e.setType(t, inItem+"id", "word"); !errors.Is(err, nodes.ErrInvalid) {
		t.Errorf("no type: %v", err)
	}
	if err := e.setType(t, inItem+"__value__", "int"); !errors.Is(err, nodes.ErrInvalid) {
		t.Errorf("the text as an int: %v", err)
	}
	e.survives(t)
}

func TestTypeWhileOpen(t *testing.T) {
	e := editable(t, weapon())
	id := e.mustAt(t, inItem+"id")
	w := e.open(t, id)
	must(t, w.Truncate(t.Context(), 0))
	must(t, e.setType(t, inItem+"id", "string"))
	_, err := w.WriteAt(t.Context(), []byte("word\n"), 0)
	must(t, err)
	must(t, w.Flush(t.Context()))
	must(t, w.Release())
	if got := e.text(t, id); got != "word\n" || typeOf(t, e, id) != "string" {
		t.Error(got)
	}
	e.survives(t)
}

func TestTypeWhileOpenInVain(t *testing.T) {
	e := editable(t, weapon())
	w := e.open(t, e.mustAt(t, inItem+"name"))
	must(t, w.Truncate(t.Context(), 0))
	_, err := w.WriteAt(t.Context(), []byte("word\n"), 0)
	must(t, err)
	must(t, e.setType(t, inItem+"name", "int"))
	if err := w.Flush(t.Context()); !errors.Is(err, nodes.ErrInvalid) {
		t.Error(err)
	}
	if got := typeOf(t, e, e.mustAt(t, inItem+"name")); got != "string" {
		t.Error(got)
	}
	must(t, w.Release())
}

func TestTypeOfRenamed(t *testing.T) {
	e := editable(t, weapon())
	must(t, e.rename(t, inItem+"id", inItem+"name"))
	if id := e.mustAt(t, inItem+"name"); e.text(t, id) != "1\n" || typeOf(t, e, id) != "string" {
		t.Error(e.describe(id))
	}
	if err := e.rename(t, inItem+"rate", inItem+"rare"); !errors.Is(err, nodes.ErrInvalid) {
		t.Errorf("0.5 as a bool: %v", err)
	}
	e.survives(t)
}

func TestKeysByPath(t *testing.T) {
	e := editable(t, items())
	dir, err := e.Mkdir(t.Context(), e.mustAt(t, "ItemData"), "Item.9")
	must(t, err)
	if keys, err := e.Xattr(t.Context(), dir.ID, "user.lorefs.keys"); err != nil || string(keys) != "id" {
		t.Errorf("keys %q, %v", keys, err)
	}
}

func TestKeysAndFlags(t *testing.T) {
	e := editable(t, weapon())
	id := e.mustAt(t, "Weapon/Item")
	must(t, e.SetXattr(t.Context(), id, "user.lorefs.keys", []byte("id, rate\n")))
	must(t, e.SetXattr(t.Context(), id, "user.lorefs.flags", []byte("1")))
	for name, value := range map[string]string{
		"user.lorefs.flags": "2", "user.lorefs.keys": "__value__",
	} {
		if err := e.SetXattr(t.Context(), id, name, []byte(value)); !errors.Is(err, nodes.ErrInvalid) {
			t.Errorf("%s %s: %v", name, value, err)
		}
	}
	if err := e.SetXattr(t.Context(), id, "user.other", nil); !errors.Is(err, nodes.ErrNotPermitted) {
		t.Error(err)
	}
	must(t, e.RemoveXattr(t.Context(), id, "user.lorefs.keys")) // does nothing
	if err := e.RemoveXattr(t.Context(), id, "user.other"); !errors.Is(err, nodes.ErrNoXattr) {
		t.Error(err)
	}
	for _, x := range []*edited{e, e.replayed(t)} {
		keys, _ := x.Xattr(t.Context(), id, "user.lorefs.keys")
		flags, _ := x.Xattr(t.Context(), id, "user.lorefs.flags")
		if string(keys) != "id rate" || string(flags) != "1" {
			t.Errorf("keys %q, flags %q", keys, flags)
		}
	}
}

// Attributes that come back have their old positions.
func TestOrderOfAttributes(t *testing.T) {
	e := editable(t, weapon())
	want := list(t, e, e.mustAt(t, "Weapon/Item"))
	for _, name := range []string{"rate", "__value__", "id"} {
		text := e.text(t, e.mustAt(t, "Weapon/Item/"+name))
		must(t, e.remove(t, "Weapon/Item/"+name))
		must(t, e.write(t, e.create(t, "Weapon/Item/"+name), text))
	}
	again, err := reopen(e.save(t))
	must(t, err)
	if got := list(t, again, again.mustAt(t, "Weapon/Item")); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
