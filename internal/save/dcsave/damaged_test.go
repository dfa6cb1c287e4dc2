package dcsave

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"slices"
	"strings"
	"testing"

	"lorefs/internal/journal"
	"lorefs/internal/save"
)

// copyOf is what a file holds now.
func copyOf(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// A record that was not finished is no loss: nobody was told that it is kept. But it is,
// as it may be something else.
func TestTorn(t *testing.T) {
	p := newPlace(t, 0)
	for i := range 2 {
		e := p.mustOpen(Options{})
		e.mustSet("A", fmt.Sprint("a", i))
		if err := e.Sync(); err != nil {
			t.Fatal(err)
		}
		e.mustSet("B", "b1")
		torn := copyOf(t, p.journal()) // before it is synced
		e.close()
		torn = torn[:len(torn)-3]
		if err := os.WriteFile(p.journal(), torn, 0o600); err != nil {
			t.Fatal(err)
		}
		if got := p.describe(); got.State != save.StateOpen || got.Unreadable == 0 || got.Edits != 1 {
			t.Errorf("%+v", got)
		}
		wantReplayed(p, false, first().With("A", fmt.Sprint("a", i)))
		kept := p.journal() + ".damaged" + map[bool]string{true: ".1"}[i == 1]
		if !bytes.Equal(copyOf(t, kept), torn) {
			t.Error("what is kept is another")
		}
		j, err := all.Find(kept)
		if err != nil || j.State != save.StateDamaged || j.Unreadable == 0 || j.Source != p.path {
			t.Errorf("%+v, %v", j, err)
		}
		p.put(build(first(), 0))
	}
}

// A record that was synced is not torn, whatever became of it, and nothing is dropped
// that was.
func TestSyncedRecordLost(t *testing.T) {
	for what, damaged := range map[string]func(b []byte) []byte{
		"flipped": func(b []byte) []byte { b[len(b)-1] ^= 1; return b },
		"cut":     func(b []byte) []byte { return b[:len(b)-1] },
		"zeros":   func(b []byte) []byte { clear(b[len(b)-60:]); return b },
	} {
		t.Run(what, func(t *testing.T) {
			p := newPlace(t, 0)
			e := p.mustOpen(Options{})
			for i := range 20 {
				e.mustSet("A", fmt.Sprint("a", i))
				if err := e.Sync(); err != nil {
					t.Fatal(err)
				}
			}
			e.close()
			b := damaged(copyOf(t, p.journal()))
			if err := os.WriteFile(p.journal(), b, 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := p.open(Options{})
			if !errors.Is(err, journal.ErrDamaged) || !strings.Contains(err.Error(), "bytes are unreadable") {
				t.Errorf("%v", err)
			}
			if !bytes.Equal(copyOf(t, p.journal()), b) {
				t.Error("the journal was changed")
			}
			got := p.describe()
			if got.State != save.StateDamaged || got.Unreadable == 0 || got.Edits == 0 || got.Edits > 19 {
				t.Errorf("%+v", got)
			}
			e = p.mustOpen(Options{Salvage: true})
			if e.Replayed() != got.Edits {
				t.Errorf("replayed %d edits, want %d", e.Replayed(), got.Edits)
			}
			e.close()
			if !bytes.Equal(copyOf(t, p.journal()+".damaged"), b) {
				t.Error("what is kept is another")
			}
		})
	}
}

// plainJournal makes a journal of the version before, of the header and the records of
// one of this version, as its documentation drew it.
func plainJournal(t *testing.T, path string) []byte {
	t.Helper()
	c, err := journal.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	le, table := binary.LittleEndian, crc32.MakeTable(crc32.Castagnoli)
	mark := []byte("mark")
	b := slices.Concat([]byte("lorefs-j\x01\x00\x00\x00"), mark, le.AppendUint32(nil, uint32(len(c.Header()))))
	b = append(le.AppendUint32(b, crc32.Checksum(slices.Concat(b, c.Header()), table)), c.Header()...)
	for r, err := range c.Records() {
		if err != nil {
			t.Fatal(err)
		}
		head := le.AppendUint32(slices.Clone(mark), uint32(len(r)))
		sum := crc32.Checksum(slices.Concat(head, le.AppendUint64(nil, uint64(len(b))), r), table)
		b = slices.Concat(b, head, le.AppendUint32(nil, sum), r)
	}
	return b
}

// A journal of the version before is made again. What looks torn in it may be what was
// synced, so that it is kept.
func TestPlainJournal(t *testing.T) {
	for _, torn := range []int{0, 3} {
		p := newPlace(t, 0)
		e := p.mustOpen(Options{})
		e.mustSet("A", "a1")
		e.mustSet("B", "b1")
		e.close()
		b := plainJournal(t, p.journal())
		b = b[:len(b)-torn]
		if err := os.WriteFile(p.journal(), b, 0o600); err != nil {
			t.Fatal(err)
		}
		if got := p.describe(); got.State != save.StateOpen || (got.Unreadable > 0) != (torn > 0) {
			t.Errorf("%+v", got)
		}
		e = p.mustOpen(Options{})
		e.mustSet("C", "c1")
		e.close()
		want := first().With("A", "a1").With("C", "c1")
		if torn == 0 {
			want["B"] = "b1"
		}
		wantReplayed(p, false, want)
		kept, err := os.ReadFile(p.journal() + ".damaged")
		if (err == nil) != (torn > 0) || torn > 0 && !bytes.Equal(kept, b) {
			t.Errorf("%d bytes torn; kept: %v", torn, err)
		}
	}
}

// What a later version adds and who does not know it can do without is passed over.
func TestOptionalRecords(t *testing.T) {
	p := newPlace(t, 0)
	e := p.mustOpen(Options{})
	e.mustSet("A", "a1")
	e.close()
	c, err := journal.Read(p.journal())
	if err != nil {
		t.Fatal(err)
	}
	head, records := slices.Clone(c.Header()), []string{"nnames"}
	for r, err := range c.Records() {
		if err != nil {
			t.Fatal(err)
		}
		records = append(records, string(r), "ovalues before")
	}
	if err := errors.Join(c.Close(), os.Remove(p.journal()), writeJournal(p.journal(), string(head), records...)); err != nil {
		t.Fatal(err)
	}
	if got := p.describe(); got.State != save.StateOpen || got.Edits != 1 {
		t.Errorf("%+v", got)
	}
	wantReplayed(p, false, first().With("A", "a1"))
}
