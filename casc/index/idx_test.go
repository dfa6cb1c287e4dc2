package index_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"lorefs/casc/casctest"
	"lorefs/casc/casctest/write"
	"lorefs/casc/index"
	"lorefs/casc/internal/format"
	"lorefs/casc/keys"
)

func TestIdx(t *testing.T) {
	for _, n := range []int{0, 1, 2, 100, 3000} {
		entries := casctest.IdxEntries(n, uint64(n))
		for version, data := range map[int][]byte{
			7: write.Idx(3, entries, nil), 5: write.Idx5(3, entries[:n/3], entries[n/3:]),
		} {
			x := casctest.ParseIdx(t, data)
			if x.Version != version || x.Bucket != 3 || len(x.Problems) > 0 {
				t.Errorf("version %d: %+v", version, x)
			}
			for _, e := range entries {
				if got, ok := casctest.FindIdx(t, x, e.Key); !ok || got != e || !got.Local() {
					t.Fatalf("version %d: %+v, want %+v", version, got, e)
				}
			}
			if len(casctest.AllIdx(t, x)) != n {
				t.Errorf("version %d: not %d entries", version, n)
			}
			if _, ok := casctest.FindIdx(t, x, keys.Short{1, 2, 3}); ok {
				t.Errorf("version %d: an unknown key was found", version)
			}
		}
	}
}

// TestIdxUneven has keys that are not evenly spread.
func TestIdxUneven(t *testing.T) {
	for _, first := range []byte{0, 1, 0x80, 0xFE, 0xFF} {
		for _, same := range []int{1, 3, 7} {
			entries := casctest.IdxEntries(300, uint64(same))
			known := map[keys.Short]bool{}
			for i := range entries {
				for j := range same {
					entries[i].Key[j] = first
				}
				if i%50 == 0 { // some elsewhere
					entries[i].Key[0] = byte(i)
				}
				known[entries[i].Key] = true
			}
			x := casctest.ParseIdx(t, write.Idx(3, entries, nil))
			for _, e := range entries {
				if got, ok := casctest.FindIdx(t, x, e.Key); !ok || got.Key != e.Key {
					t.Fatalf("%x: %+v, %v", e.Key, got, ok)
				}
				e.Key[8]++
				if _, ok := casctest.FindIdx(t, x, e.Key); ok != known[e.Key] {
					t.Fatalf("%x: found is %v", e.Key, ok)
				}
			}
			for _, key := range []keys.Short{{}, {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF}} {
				if _, ok := casctest.FindIdx(t, x, key); ok != known[key] {
					t.Errorf("%x: found is %v", key, ok)
				}
			}
		}
	}
}

func TestIdxUpdates(t *testing.T) {
	entries := casctest.IdxEntries(60, 1)
	moved, removed, absent, added, last := entries[3], entries[4], entries[5], casctest.IdxEntries(1, 2)[0], entries[6]
	moved.Off++
	removed.Status, absent.Status = 3, 7
	first := last
	first.Off, last.Off = 1, 2
	updates := append(casctest.IdxEntries(40, 3), first, moved, removed, absent, added, last)
	x := casctest.ParseIdx(t, write.Idx(0, entries, updates))
	for _, want := range []index.IdxEntry{moved, removed, absent, added, last, entries[0]} {
		got, ok := casctest.FindIdx(t, x, want.Key)
		if !ok || got != want || got.Local() != (want.Status == 0) {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
	all := map[keys.Short]index.IdxEntry{}
	for _, e := range casctest.AllIdx(t, x) {
		if _, twice := all[e.Key]; twice {
			t.Errorf("%x twice", e.Key)
		}
		all[e.Key] = e
	}
	if len(all) != 60+40+1 || all[moved.Key] != moved {
		t.Errorf("%d entries", len(all))
	}
}

// TestIdxUpdateOfAnyPage puts the update section where either description says.
func TestIdxUpdateOfAnyPage(t *testing.T) {
	updates := casctest.IdxEntries(3, 1)
	near := write.Idx(0, casctest.IdxEntries(10, 2), updates)
	far := append(slices.Clone(near[:0x1000]), make([]byte, 0xF000)...)
	far = append(far, near[0x1000:]...)
	for name, data := range map[string][]byte{"0x1000": near, "0x10000": far} {
		if e, ok := casctest.FindIdx(t, casctest.ParseIdx(t, data), updates[2].Key); !ok || e != updates[2] {
			t.Errorf("at %s: %+v", name, e)
		}
	}
}

// TestIdxChanges writes to an open file. Entries that changed are an error.
func TestIdxChanges(t *testing.T) {
	entries := casctest.IdxEntries(5000, 1)
	for what, change := range map[string]func(data []byte) []byte{
		"written": func(data []byte) []byte {
			for i := range data {
				data[i]++
			}
			return data
		},
		"cut": func(data []byte) []byte { return data[:0x100] },
	} {
		src := &changing{write.Idx(3, entries, nil)}
		x, err := index.NewIdx(src, int64(len(src.data)), index.IdxOptions{})
		if err != nil {
			t.Fatal(err)
		}
		before := entries[1]
		casctest.FindIdx(t, x, before.Key)
		src.data = change(src.data)
		if got, ok := casctest.FindIdx(t, x, before.Key); !ok || got != before {
			t.Errorf("%s: what was read is not kept: %+v", what, got)
		}
		failed := 0
		for _, e := range entries {
			got, ok, err := x.Find(e.Key)
			if err != nil {
				failed++
			} else if !ok || got != e {
				t.Fatalf("%s: %+v, want %+v", what, got, e)
			}
		}
		if failed < len(entries)/2 {
			t.Errorf("%s: only %d entries fail", what, failed)
		}
		for _, err = range x.Entries() { //nolint:revive // the last one counts
		}
		if err == nil {
			t.Errorf("%s: all entries are there", what)
		}
	}
}

// changing is a file whose content changes.
type changing struct{ data []byte }

func (c *changing) ReadAt(p []byte, off int64) (int, error) {
	return bytes.NewReader(c.data).ReadAt(p, off)
}

func TestIdxErrors(t *testing.T) {
	good := write.Idx(3, casctest.IdxEntries(20, 1), casctest.IdxEntries(2, 2))
	five := write.Idx5(3, casctest.IdxEntries(20, 1), nil)
	patch := func(data []byte, off int, with ...byte) []byte {
		data = slices.Clone(data)
		copy(data[off:], with)
		return data
	}
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"empty":        {nil, "casc: idx: offset 0x0: 0 bytes are no header"},
		"header size":  {patch(good, 0, 17), "casc: idx: offset 0x0: a header of 0x11 bytes, expected 0x10"},
		"header":       {patch(good, 10, 4), "casc: idx: offset 0x4: the header has the hash"},
		"entries":      {patch(good, 0x30, 1, 2, 3), "casc: idx: offset 0x24: the entries have the hash"},
		"entries size": {patch(good, 0x20, 0xff), "casc: idx: offset 0x20: 511 bytes of entries in a file of"},
		"cut":          {good[:0x100], "casc: idx: offset 0x20: 360 bytes of entries in a file of 256"},
		"order":        {unsorted(), "casc: idx: offset 0x3a: entry 1 is not behind the one before it"},
		"five, header": {patch(five, 4, 1), "casc: idx: offset 0x2c: the header has the hash"},
		"five, run":    {patch(five, 0x31, 1, 2, 3), "casc: idx: offset 0x24: run 0 has the hash"},
		"five, cut":    {five[:0x60], "casc: idx: offset 0x1c: 360 bytes of entries at 0x30 in a file of 96"},
	} {
		_, err := casctest.NewIdx(c.data)
		if _, ok := errors.AsType[*format.Error](err); !ok || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
	x := casctest.ParseIdx(t, patch(good, 0x1000, 1))
	if len(x.Problems) != 1 || x.Problems[0].Error() != "casc: idx: offset 0x1000: an update entry with a wrong guard" {
		t.Errorf("guard: %v", x.Problems)
	}
}

// TestIdxDamagedUpdate damages or blanks one entry of the update section. It is reported,
// and all other entries are as before.
func TestIdxDamagedUpdate(t *testing.T) {
	entries, updates := casctest.IdxEntries(40, 2), casctest.IdxEntries(30, 3)
	good := write.Idx(0, entries, updates)
	const page, size = 0x200, 24
	for i := range updates {
		at := 0x1000 + i/21*page + i%21*size
		for name, damage := range map[string]func([]byte){
			"damaged": func(b []byte) { b[5] ^= 1 },
			"blank":   func(b []byte) { clear(b) },
		} {
			if name == "blank" && i == len(updates)-1 {
				continue // nothing is behind it
			}
			bad := bytes.Clone(good)
			damage(bad[at : at+size])
			if i == 20 && name == "blank" {
				bad[at] = 1 // nothing is behind it in its page
			}
			x := casctest.ParseIdx(t, bad)
			want := fmt.Sprintf("casc: idx: offset %#x: an update entry with a wrong guard", at)
			if len(x.Problems) != 1 || x.Problems[0].Error() != want {
				t.Errorf("entry %d %s: %v, want %s", i, name, x.Problems, want)
			}
			for j, e := range updates {
				if got, ok := casctest.FindIdx(t, x, e.Key); ok != (i != j) || ok && got != e {
					t.Errorf("entry %d %s: entry %d is %+v, %v", i, name, j, got, ok)
				}
			}
		}
	}
}

// unsorted returns an index file that is out of order but has the right hashes.
func unsorted() []byte {
	e := casctest.IdxEntries(2, 1)
	a, b := write.Idx(0, e[:1], nil), write.Idx(0, e[1:], nil)
	if string(e[0].Key[:]) < string(e[1].Key[:]) {
		a, b = b, a
	}
	return write.IdxOfRun(0, slices.Concat(a[0x28:0x3A], b[0x28:0x3A]))
}

func TestIdxVersion8IsToldApart(t *testing.T) {
	if _, err := casctest.NewIdx(write.IdxHead(8, 0, 8, 8, 16, 0)); !errors.Is(err, format.ErrUnsupported) {
		t.Error(err)
	}
	if _, err := casctest.NewIdx(write.IdxHead(7, 0, 4, 5, 16, 30)); !errors.Is(err, format.ErrUnsupported) {
		t.Error(err)
	}
	if _, err := casctest.NewIdx(write.IdxHead(9, 0, 4, 5, 9, 30)); err == nil || errors.Is(err, format.ErrUnsupported) {
		t.Error(err)
	}
}

func TestIdxNames(t *testing.T) {
	for name, want := range map[string][2]int{
		"0000000004.idx": {0, 4}, "0f0000001a.idx": {15, 26}, "0E00000054.IDX": {14, 0x54}, "data.i5a": {5, 10},
	} {
		if b, v, ok := index.ParseIdxName(name); !ok || b != want[0] || v != want[1] {
			t.Errorf("%s: %d, %d, %v", name, b, v, ok)
		}
	}
	for _, name := range []string{"", "shmem", "data.000", "1000000004.idx", "00000004.idx", "00000000g4.idx", "data.i5", "data.i123", "data.ix1"} {
		if _, _, ok := index.ParseIdxName(name); ok {
			t.Errorf("%q is none", name)
		}
	}
}

func FuzzIdx(f *testing.F) {
	f.Add(write.Idx(3, casctest.IdxEntries(3, 1), casctest.IdxEntries(2, 2)))
	f.Add(write.Idx5(3, casctest.IdxEntries(3, 1), casctest.IdxEntries(2, 2)))
	f.Fuzz(func(t *testing.T, data []byte) {
		x, err := casctest.NewIdx(data)
		if err != nil {
			return
		}
		for _, e := range casctest.AllIdx(t, x) {
			if _, ok := casctest.FindIdx(t, x, e.Key); !ok {
				t.Fatalf("%x is not found", e.Key)
			}
		}
	})
}
