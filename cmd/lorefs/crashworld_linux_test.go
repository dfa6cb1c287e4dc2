package main

import (
	"errors"
	"fmt"
	iofs "io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"lorefs/geometry"
	"lorefs/internal/testneeds"
)

// crashSquares are the squares that are edited, by zone.
var crashSquares = map[string][]int{"x1000y1000": {0, 17*120 + 93}, "x1000y1001": {17*120 + 93}}

// squareName returns the path of a square in a mount.
func squareName(zone string, square int) string {
	return fmt.Sprintf("squares/%s/%03d-%03d.json", zone, square/120, square%120)
}

// readSquares reads the squares that are edited. It returns none if the mount shows no
// world.
func readSquares(mnt string) (map[string]string, error) {
	if _, err := os.Lstat(filepath.Join(mnt, "squares")); errors.Is(err, iofs.ErrNotExist) {
		return nil, nil
	}
	texts := map[string]string{}
	for zone, squares := range crashSquares {
		for _, square := range squares {
			b, err := os.ReadFile(filepath.Join(mnt, squareName(zone, square)))
			if err != nil {
				return nil, err
			}
			texts[squareName(zone, square)] = string(b)
		}
	}
	return texts, nil
}

// firstVolume precedes the z of the first volume of a square.
const firstVolume = `"volumes":[[`

// square sets the z of a square's first volume to a value below all in the sample.
func (e *editor) square() error {
	names := slices.Sorted(maps.Keys(e.squares))
	name := names[e.r.IntN(len(names))]
	before, behind, _ := strings.Cut(e.squares[name], firstVolume)
	_, behind, _ = strings.Cut(behind, ",")
	z := strconv.Itoa(-1000 - int(e.seed*1000+uint64(e.n))%31_000)
	return e.write(name, z, before+firstVolume+z+","+behind, e.emptyFirst)
}

// crashedWorld is a crashed folder of world geometry.
type crashedWorld struct {
	*crash
	// original has the original files.
	original map[string][]byte
}

func (w *crashedWorld) flags() []string { return []string{"--quality", "1"} }

func (w *crashedWorld) names() (all []string) {
	for zone, squares := range crashSquares {
		for _, square := range squares {
			all = append(all, squareName(zone, square))
		}
	}
	return all
}

func (w *crashedWorld) value(text string) string {
	_, behind, _ := strings.Cut(text, firstVolume)
	z, _, _ := strings.Cut(behind, ",")
	return z
}

// files returns the files of the folder, without backups.
func (w *crashedWorld) files() map[string][]byte {
	w.t.Helper()
	all := map[string][]byte{}
	for _, pattern := range []string{"*.zgd", "*.apd"} {
		paths, err := filepath.Glob(filepath.Join(w.path, pattern))
		if err != nil {
			w.t.Fatal(err)
		}
		for _, path := range paths {
			if all[filepath.Base(path)], err = os.ReadFile(path); err != nil {
				w.t.Fatal(err)
			}
		}
	}
	return all
}

// zone decodes a zone.
func (w *crashedWorld) zone(file []byte) *geometry.Zone {
	w.t.Helper()
	z, err := geometry.DecodeZone(file, geometry.DecodeOptions{})
	if err != nil {
		w.t.Fatalf("after kill %d: %v", w.killed, err)
	}
	return z
}

func (w *crashedWorld) values() map[string]string {
	w.t.Helper()
	values := map[string]string{}
	for zone, squares := range crashSquares {
		b, err := os.ReadFile(filepath.Join(w.path, zone+".zgd"))
		if err != nil {
			w.t.Fatal(err)
		}
		z := w.zone(b)
		for _, square := range squares {
			for _, volumes := range z.Square(square).Cells {
				if volumes.Len() > 0 {
					values[squareName(zone, square)] = strconv.Itoa(int(volumes.At(0).Z))
					break
				}
			}
		}
	}
	return values
}

func (w *crashedWorld) unchanged() {
	w.t.Helper()
	now := w.files()
	for name, was := range w.original {
		edited := crashSquares[strings.TrimSuffix(name, ".zgd")]
		if edited == nil {
			if string(now[name]) != string(was) {
				w.t.Errorf("after kill %d, %s has changed", w.killed, name)
			}
			continue
		}
		a, b := w.zone(was), w.zone(now[name])
		for square := range geometry.ZoneSquares {
			if !slices.Contains(edited, square) && !a.Square(square).Equal(b.Square(square)) {
				w.t.Errorf("after kill %d, square %d of %s has changed", w.killed, square, name)
			}
		}
	}
	if len(now) != len(w.original) {
		w.t.Errorf("after kill %d there are %d files, want %d", w.killed, len(now), len(w.original))
	}
}

// TestCrashWorld is TestCrash for a folder in which several files are edited.
func TestCrashWorld(t *testing.T) {
	c := newCrash(t, "world")
	w := &crashedWorld{crash: c}
	w.original = w.files()
	c.run(w, testneeds.Cases(5, 25, 300)) // a world takes longer to save
}

// TestCrashCommitWorld is TestCrashCommit for a folder in which several files are edited.
func TestCrashCommitWorld(t *testing.T) {
	c := newCrash(t, "world")
	w := &crashedWorld{crash: c}
	w.original = w.files()
	c.runCommits(w, testneeds.Cases(2, 6, 300))
}
