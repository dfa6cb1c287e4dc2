package save

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lorefs/internal/disk"
	"lorefs/internal/journal"
)

// journal returns the path of the source's journal.
func (f *folder) journal() string {
	f.t.Helper()
	path, err := f.kind.JournalPath(f.source())
	if err != nil {
		f.t.Fatal(err)
	}
	return path
}

// describe describes the journal, as Find does.
func (f *folder) describe() Journal {
	f.t.Helper()
	j, err := Kinds{f.kind}.Find(f.journal())
	if err != nil {
		f.t.Fatal(err)
	}
	return j
}

// bytes returns the content of the journal, and setBytes replaces it.
func (f *folder) bytes() []byte {
	f.t.Helper()
	b, err := os.ReadFile(f.journal())
	if err != nil {
		f.t.Fatal(err)
	}
	return b
}

func (f *folder) setBytes(b []byte) {
	f.t.Helper()
	if err := os.WriteFile(f.journal(), b, 0o600); err != nil {
		f.t.Fatal(err)
	}
}

// kept checks that the nth journal that was put aside has these bytes, and that it is listed.
func (f *folder) kept(nth int, want []byte) {
	f.t.Helper()
	path := f.journal() + ".damaged"
	if nth > 0 {
		path += fmt.Sprintf(".%d", nth)
	}
	if b, err := os.ReadFile(path); err != nil || !bytes.Equal(b, want) {
		f.t.Errorf("what is kept is another: %v", err)
	}
	j, err := Kinds{f.kind}.Find(path)
	if err != nil || j.State != StateDamaged || j.Unreadable == 0 || j.Source != f.source() {
		f.t.Errorf("%+v, %v", j, err)
	}
}

// wantReplayed opens the source after a crash, checks how many edits are replayed, saves, and
// checks the content.
func (f *folder) wantReplayed(edits int, want string) {
	f.t.Helper()
	f.mustOpen()
	if n := f.set.Replayed(); n != edits {
		f.t.Errorf("made %d edits again, want %d", n, edits)
	}
	if edits > 0 {
		f.mustSave("a")
	}
	f.close()
	f.holds("a", want)
	if _, err := os.Lstat(f.journal()); err == nil {
		f.t.Error("there is a journal still")
	}
}

// TestTorn checks that a torn record is dropped: no user was told that it is safe. The journal is
// kept, since the bytes may be something else.
func TestTorn(t *testing.T) {
	ofBoth(t, func(t *testing.T, kind *Kind) {
		f := newFolderOf(t, kind)
		for i := range 2 {
			f.mustOpen()
			f.edit("a", "1")
			if err := f.log("a", "2"); err != nil {
				t.Fatal(err)
			}
			torn := f.bytes() // before it is synced
			torn = torn[:len(torn)-1]
			f.crash()
			f.setBytes(torn)
			if got := f.describe(); got.State != StateOpen || got.Unreadable == 0 || got.Edits != 1 {
				t.Errorf("%+v", got)
			}
			f.wantReplayed(1, "a.1")
			f.kept(i, torn)
			f.put("a", "a.")
		}
	})
}

// TestDamaged checks that a record that was synced never counts as torn. Such a journal is refused
// and kept until the user salvages it.
func TestDamaged(t *testing.T) {
	for what, damaged := range map[string]func(b []byte) []byte{
		"flipped at the end":    func(b []byte) []byte { b[len(b)-1] ^= 1; return b },
		"flipped in the middle": func(b []byte) []byte { b[len(b)-300] ^= 1; return b },
		"cut":                   func(b []byte) []byte { return b[:len(b)-1] },
		"zeros":                 func(b []byte) []byte { clear(b[len(b)-60:]); return b },
	} {
		ofBoth(t, func(t *testing.T, kind *Kind) {
			f := newFolderOf(t, kind)
			f.mustOpen()
			for range 20 {
				f.edit("a", strings.Repeat("x", 50))
			}
			f.crash()
			b := damaged(f.bytes())
			f.setBytes(b)
			if err := f.open(); !errors.Is(err, journal.ErrDamaged) || !strings.Contains(err.Error(), f.journal()) ||
				!strings.Contains(err.Error(), "bytes are unreadable") {
				t.Errorf("%s: %v", what, err)
			}
			if !bytes.Equal(f.bytes(), b) {
				t.Error("the journal was changed")
			}
			got := f.describe()
			if got.State != StateDamaged || got.Unreadable == 0 || got.Edits < 10 || got.Edits > 19 || got.Problem == "" {
				t.Errorf("%s: %+v", what, got)
			}
			// The process may die during the salvage, and leave files behind.
			begun := filepath.Join(filepath.Dir(f.journal()), "."+filepath.Base(f.journal())+".1.tmp")
			if err := os.WriteFile(begun, []byte("half"), 0o600); err != nil {
				t.Fatal(err)
			}
			f.opts.Salvage = true
			f.mustOpen()
			f.crash()
			f.wantReplayed(got.Edits, "a."+strings.Repeat("x", 50*got.Edits)) // there is nothing to salvage any more
			f.kept(0, b)
			if _, err := os.Lstat(begun); err == nil {
				t.Error("what a salvage has left that did not end is left")
			}
		})
	}
}

// plain returns a journal of the version before with the header and the records of a journal of
// this version, made from the documentation of the format.
func plain(t *testing.T, path string) []byte {
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

// TestPlainJournal checks that a journal of the version before is renewed. It is kept if its end
// looks torn, since that may have been synced.
func TestPlainJournal(t *testing.T) {
	for _, torn := range []int{0, 1} {
		ofBoth(t, func(t *testing.T, kind *Kind) {
			f := newFolderOf(t, kind)
			f.mustOpen()
			f.edit("a", "1")
			f.edit("a", "2")
			f.crash()
			b := plain(t, f.journal())
			b = b[:len(b)-torn]
			f.setBytes(b)
			if got := f.describe(); got.State != StateOpen || (got.Unreadable > 0) != (torn > 0) {
				t.Errorf("%+v", got)
			}
			f.mustOpen()
			f.edit("a", "3")
			f.crash()
			f.wantReplayed(3-torn, map[int]string{0: "a.123", 1: "a.13"}[torn])
			if torn > 0 {
				f.kept(0, b)
			} else if _, err := os.Lstat(f.journal() + ".damaged"); err == nil {
				t.Error("what was not damaged is kept")
			}
		})
	}
}

// TestOptionalRecords checks that a reader ignores unknown records that a later version marks as
// optional.
func TestOptionalRecords(t *testing.T) {
	ofBoth(t, func(t *testing.T, kind *Kind) {
		f := newFolderOf(t, kind)
		f.mustOpen()
		f.edit("a", "1")
		f.crash()
		j, _, err := journal.Resume(disk.OS{}, f.journal())
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(j.Append([]byte("onothing that is known")), j.Close()); err != nil {
			t.Fatal(err)
		}
		if got := f.describe(); got.State != StateOpen || got.Edits != 1 {
			t.Errorf("%+v", got)
		}
		f.wantReplayed(1, "a.1")
	})
}

// TestUnusable checks that a file that is not a journal is kept and reported, and can be dropped.
func TestUnusable(t *testing.T) {
	for name, b := range map[string]string{"text": "no journal at all, but a text", "empty": "", "folder": ""} {
		ofBoth(t, func(t *testing.T, kind *Kind) {
			f := newFolderOf(t, kind)
			if name != "folder" {
				f.setBytes([]byte(b))
			} else if err := os.Mkdir(f.journal(), 0o700); err != nil {
				t.Fatal(err)
			}
			broken, ok := errors.AsType[*JournalError](f.open())
			if !ok || broken.Path != f.journal() || !errors.Is(broken, journal.ErrDamaged) {
				t.Errorf("%s: %v", name, broken)
			}
			got := f.describe()
			if got.State != StateDamaged || name == "text" && string(f.bytes()) != b {
				t.Errorf("%s: %+v", name, got)
			}
			if err := got.Drop(); err != nil {
				t.Errorf("%s can't be dropped: %v", name, err)
			}
		})
	}
}
