package dctree_test

import (
	"errors"
	"testing"

	"lorefs/nodes"
)

var errFull = errors.New("the disk is full")

// No edit of any kind happens if it can't be logged.
func TestLogIsFull(t *testing.T) {
	const dir = "Weapon/Item/"
	for what, edit := range map[string]func(t *testing.T, e *edited) error{
		"write":        func(t *testing.T, e *edited) error { return e.write(t, e.mustAt(t, dir+"id"), "7\n") },
		"remove":       func(t *testing.T, e *edited) error { return e.remove(t, dir+"id") },
		"rename":       func(t *testing.T, e *edited) error { return e.rename(t, dir+"id", dir+"new") },
		"replace":      func(t *testing.T, e *edited) error { return e.rename(t, dir+"id", dir+"name") },
		"rename aside": func(t *testing.T, e *edited) error { return e.rename(t, dir+".text", dir+"name") },
		"remove aside": func(t *testing.T, e *edited) error { return e.remove(t, dir+".text") },
		"replace aside": func(t *testing.T, e *edited) error {
			return e.rename(t, dir+"id", dir+".text")
		},
		"exchange": func(t *testing.T, e *edited) error {
			return e.Rename(t.Context(), e.mustAt(t, "Weapon/Item"), "id", e.mustAt(t, "Weapon/Item.1"), "id", nodes.RenameExchange)
		},
		"mkdir": func(t *testing.T, e *edited) error {
			_, err := e.Mkdir(t.Context(), e.mustAt(t, "Weapon"), "Part")
			return err
		},
		"move a node": func(t *testing.T, e *edited) error { return e.rename(t, "Weapon/Item", "Weapon/Thing") },
		"remove a node": func(t *testing.T, e *edited) error {
			return e.Remove(t.Context(), e.mustAt(t, "Weapon"), "Empty", nodes.Dir)
		},
		"replace a node": func(t *testing.T, e *edited) error { return e.rename(t, "Weapon/Item", "Weapon/Empty") },
		"swap nodes": func(t *testing.T, e *edited) error {
			sheet := e.mustAt(t, "Weapon")
			return e.Rename(t.Context(), sheet, "Item", sheet, "Item.1", nodes.RenameExchange)
		},
		"type": func(t *testing.T, e *edited) error { return e.setType(t, dir+"id", "string") },
		"flags": func(t *testing.T, e *edited) error {
			return e.SetXattr(t.Context(), e.mustAt(t, "Weapon/Item"), "user.lorefs.flags", []byte("1"))
		},
	} {
		t.Run(what, func(t *testing.T) {
			e := editable(t, weapon())
			_, err := e.Mkdir(t.Context(), e.mustAt(t, "Weapon"), "Empty")
			must(t, err)
			must(t, e.rename(t, dir+"__value__", dir+".text"))
			want := shown(t, e)
			e.full = errFull
			if err := edit(t, e); !errors.Is(err, errFull) {
				t.Errorf("%v, want that the disk is full", err)
			}
			differ(t, "after it", shown(t, e), want)
			e.full = nil
			must(t, edit(t, e))
			after, err := reopen(e.save(t))
			must(t, err)
			differ(t, "of what was logged", shown(t, after), reopened(t, e.replayed(t).save(t)))
		})
	}
}

// Close makes durable the value that it stored, fsync all edits.
func TestSync(t *testing.T) {
	e := editable(t, weapon())
	w := e.open(t, e.mustAt(t, "Weapon/Item/id"))
	flush := func(what string, want int) {
		t.Helper()
		e.syncs = 0
		must(t, w.Flush(t.Context()))
		if e.syncs != want {
			t.Errorf("%s: %d syncs, want %d", what, e.syncs, want)
		}
	}
	flush("as it was", 0)
	must(t, w.Truncate(t.Context(), 0))
	flush("empty", 0)
	_, err := w.WriteAt(t.Context(), []byte("7\n"), 0)
	must(t, err)
	flush("written", 1)
	e.syncs, e.full = 0, errFull
	if err := w.Sync(t.Context()); !errors.Is(err, errFull) || e.syncs != 1 {
		t.Errorf("fsync: %v, %d syncs", err, e.syncs)
	}
	if err := e.Sync(t.Context()); !errors.Is(err, errFull) {
		t.Errorf("sync: %v", err)
	}
	must(t, w.Release())
}
