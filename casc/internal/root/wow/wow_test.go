package wow_test

import (
	"fmt"
	"slices"
	"testing"

	"lorefs/casc/casctest"
	"lorefs/casc/casctest/write"
	"lorefs/casc/internal/root/wow"
	"lorefs/casc/keys"
	"lorefs/casc/root"
)

// TestWoWHeaderSize reads roots whose header is longer or shorter than it was so far.
// Blocks begin where the header says.
func TestWoWHeaderSize(t *testing.T) {
	g := casctest.New()
	g.Fill(t)
	want := g.Files()
	slices.SortStableFunc(want, func(a, b root.File) int { return int(a.Flags) - int(b.Flags) })
	for version := 2; version <= 3; version++ {
		for _, size := range []int{20, 24, 28, 32, 64} {
			data := slices.Concat(write.WoWRoot(version, g.Files())[:20], make([]byte, size-20), write.WoWRoot(version, g.Files())[24:])
			data[4] = byte(size)
			name := fmt.Sprintf("version %d, %d bytes", version, size)
			r, err := wow.Parse(data)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			if r.Version != version || r.Total != len(want) {
				t.Errorf("%s: version %d, %d files", name, r.Version, r.Total)
			}
			sameWoWFiles(t, name, r, want)
		}
	}
}

// TestWoWFewFiles reads roots of 8.2, which have two numbers of files where later ones have
// the header's size and a version. No numbers may be mistaken.
func TestWoWFewFiles(t *testing.T) {
	for total := range 40 {
		for named := range min(total, 5) + 1 {
			var want []root.File
			for i := range total {
				f := root.File{ID: uint32(7 * i), CKey: keys.Key{1, byte(i)}, Locale: root.LocaleEnUS, Flags: root.ContentNoNames}
				if i < named {
					f.Flags, f.NameHash = 0, uint64(i+1)
				}
				want = append(want, f)
			}
			name := fmt.Sprintf("%d files, %d of them named", total, named)
			r, err := wow.Parse(write.WoWRoot(1, want))
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			if r.Version != 1 || r.Total != total || r.Named != named {
				t.Errorf("%s: version %d, %d files, %d named", name, r.Version, r.Total, r.Named)
			}
			sameWoWFiles(t, name, r, want)
		}
	}
}

func sameWoWFiles(t *testing.T, name string, r *wow.Root, want []root.File) {
	t.Helper()
	i := 0
	for f, err := range r.Files() {
		if err != nil || i >= len(want) || f.ID != want[i].ID || f.CKey != want[i].CKey || f.NameHash != want[i].NameHash {
			t.Errorf("%s: file %d is %+v, %v", name, i, f, err)
			return
		}
		i++
	}
	if i != len(want) {
		t.Errorf("%s: %d of %d files", name, i, len(want))
	}
}
