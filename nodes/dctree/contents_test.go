package dctree_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"lorefs/nodes"
)

// A file shows the text of its value. If the text that was written differs from that, the file
// shows the value's text after the close.
func TestContents(t *testing.T) {
	for _, tt := range []struct{ file, text, shown, typ string }{
		{"id", "5", "5\n", "int"},
		{"id", " 5\r\n", "5\n", "int"},
		{"id", "+05\n", "5\n", "int"},
		{"rate", "1e3", "1000\n", "float"},
		{"rare", "0\n", "false\n", "bool"},
		{"name", "bare", "bare", "string"},
		{"name", "", "", "string"},
		{"name", "\n", "\n", "string"},
		{"name", "line\n\n", "line\n\n", "string"},
		{"name", "a\r\n", "a\r\n", "string"},
		{"__value__", "7", "7", "string"},
		{"new", "5\n", "5\n", "int"},
		{"new", "05\n", "05\n", "string"},
		{"new", "0.5\n", "0.5\n", "float"},
		{"new", ".5\n", ".5\n", "string"},
		{"new", "true\n", "true\n", "bool"},
		{"new", "True\n", "True\n", "string"},
		{"new", "-0\n", "-0\n", "float"},
		{"new", "", "", "string"},
		{"new", "한\xed\xa0\x80\n", "한\xed\xa0\x80\n", "string"},
	} {
		t.Run(fmt.Sprintf("%s %q", tt.file, tt.text), func(t *testing.T) {
			e := editable(t, weapon())
			var id nodes.ID
			if tt.file == "new" {
				id = e.create(t, "Weapon/Item/new")
			} else {
				id = e.mustAt(t, "Weapon/Item/"+tt.file)
			}
			must(t, e.write(t, id, tt.text))
			if got, typ := e.text(t, id), typeOf(t, e, id); got != tt.shown || typ != tt.typ {
				t.Errorf("it shows %q of type %s, want %q of type %s", got, typ, tt.shown, tt.typ)
			}
			if told := len(e.changes) > 0; told != (tt.text != tt.shown) {
				t.Errorf("changes %+v", e.changes)
			}
			e.survives(t)
		})
	}
}

func TestAppend(t *testing.T) {
	e := editable(t, weapon())
	for _, tt := range []struct{ file, more, want string }{
		{"name", " two\n", "sword\n two\n"},
		{"id", "7\n", ""},
		{"rare", "x", ""},
	} {
		id := e.mustAt(t, "Weapon/Item/"+tt.file)
		before := e.text(t, id)
		w := e.open(t, id)
		_, err := w.WriteAt(t.Context(), []byte(tt.more), int64(len(before)))
		if flushed := w.Flush(t.Context()); err == nil {
			err = flushed
		}
		must(t, w.Release())
		if tt.want == "" {
			tt.want = before
			if !errors.Is(err, nodes.ErrInvalid) {
				t.Errorf("%s: %v, want ErrInvalid", tt.file, err)
			}
		} else if err != nil {
			t.Error(err)
		}
		if got := e.text(t, id); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.file, got, tt.want)
		}
	}
}

// A shell checks the error of write(2) only, so a text that can't become a value is refused
// there.
func TestRefusedEarly(t *testing.T) {
	for _, tt := range []struct {
		file, text string
		early      bool
	}{
		{"id", "x", true},
		{"id", "x\n", true},
		{"id", "1x", true},
		{"id", "-", false},
		{"id", "-\n", true},
		{"id", "\n", true}, // a shell writes this for a variable that is not set
		{"id", "\xc2", true},
		{"rate", "1e", false},
		{"rate", "1e\n", true},
		{"rate", "#", true},
		{"rate", "0x1", false},
		{"rare", "tr", false},
		{"rare", "tr\n", true},
		{"rare", "yes", true},
		{"name", "\x00", false},
	} {
		e := editable(t, weapon())
		w := e.open(t, e.mustAt(t, "Weapon/Item/"+tt.file))
		must(t, w.Truncate(t.Context(), 0))
		n, err := w.WriteAt(t.Context(), []byte(tt.text), 0)
		if errors.Is(err, nodes.ErrInvalid) != tt.early || (err == nil) != (n == len(tt.text)) {
			t.Errorf("%s: a write of %q gives %d, %v; want it refused: %v", tt.file, tt.text, n, err, tt.early)
		}
		if err := w.Release(); !errors.Is(err, nodes.ErrInvalid) {
			t.Errorf("%s: the release after %q gives %v", tt.file, tt.text, err)
		}
		if got, want := e.text(t, e.mustAt(t, "Weapon/Item/"+tt.file)), editable(t, weapon()); got != want.text(t, want.mustAt(t, "Weapon/Item/"+tt.file)) {
			t.Errorf("%s: %q afterwards", tt.file, got)
		}
	}
}

// The first half of a text must not become the value if the second half is refused.
func TestRefusedHalfWay(t *testing.T) {
	e := editable(t, weapon())
	id := e.mustAt(t, "Weapon/Item/id")
	w := e.open(t, id)
	must(t, w.Truncate(t.Context(), 0))
	_, err := w.WriteAt(t.Context(), []byte("12"), 0)
	must(t, err)
	if _, err = w.WriteAt(t.Context(), []byte("x\n"), 2); !errors.Is(err, nodes.ErrInvalid) {
		t.Errorf("the second write: %v", err)
	}
	if err := w.Flush(t.Context()); !errors.Is(err, nodes.ErrInvalid) {
		t.Errorf("flush: %v", err)
	}
	if got := e.text(t, id); got != "1\n" {
		t.Errorf("it shows %q", got)
	}
	_, err = w.WriteAt(t.Context(), []byte("44"), 0) // the program tries again
	must(t, err)
	must(t, w.Flush(t.Context()))
	must(t, w.Release())
	if got := e.text(t, id); got != "44\n" {
		t.Errorf("it shows %q", got)
	}
}

func TestTooLarge(t *testing.T) {
	e := editable(t, weapon())
	id := e.mustAt(t, "Weapon/Item/name")
	w := e.open(t, id)
	_, err := w.WriteAt(t.Context(), []byte("x"), 1<<62)
	if !errors.Is(err, nodes.ErrTooLarge) {
		t.Errorf("write: %v", err)
	}
	if err := w.Truncate(t.Context(), 1<<40); !errors.Is(err, nodes.ErrTooLarge) {
		t.Errorf("truncate: %v", err)
	}
	must(t, w.Release())
	if err := e.write(t, id, strings.Repeat("x", 1<<20)); !errors.Is(err, nodes.ErrTooLarge) {
		t.Errorf("a long string: %v", err)
	}
	must(t, e.write(t, id, strings.Repeat("한", 1<<20-1)))
	e.survives(t)
}
