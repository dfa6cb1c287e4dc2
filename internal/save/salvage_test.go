package save

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lorefs/internal/journal"
)

// Of a damaged journal, what lies ahead of the damage is made again if that is wanted,
// and the journal is kept.
func TestSalvage(t *testing.T) {
	f := newFolder(t)
	f.mustOpen()
	for i := range 9 {
		f.edit("ab"[i%2:i%2+1], strings.Repeat("x", 100))
	}
	path := f.set.Journal()
	f.crash()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const fromEnd = 650 // in the middle of the records, which have some 120 bytes
	b[len(b)-fromEnd] ^= 1
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := f.open(); !errors.Is(err, journal.ErrDamaged) {
		t.Fatalf("got %v, want ErrDamaged", err)
	}
	if now, err := os.ReadFile(path); err != nil || !slices.Equal(now, b) || !strings.HasPrefix(f.journals(), "damaged") {
		t.Errorf("the journal was touched: %v, %s", err, f.journals())
	}
	f.opts.Salvage = true
	for range 2 { // the second time there is nothing to be done
		f.mustOpen()
		if n := f.set.Replayed(); n != 3 || f.texts["a"] != "a."+strings.Repeat("x", 200) {
			t.Errorf("%d edits: %q", n, f.texts)
		}
		f.crash()
	}
	if kept, err := os.ReadFile(path + ".damaged"); err != nil || !slices.Equal(kept, b) {
		t.Errorf("the damaged journal is not kept: %v", err)
	}
	f.mustOpen()
	f.mustSave("a")
	f.mustSave("b")
	f.close()
	if left, err := filepath.Glob(filepath.Join(filepath.Dir(path), "*")); err != nil || len(left) != 1 {
		t.Errorf("left behind: %q, %v", left, err)
	}
}
