package dcsave

import (
	"os"
	"strings"
	"testing"

	"lorefs/cmd/internal/save"
	"lorefs/cmd/internal/save/savetest"
	"lorefs/internal/disk/disktest"
)

// TestSplicedWrong checks that a file is packed as a whole if what was spliced is not what was to be
// written, and that nothing is saved if that is wrong as well.
func TestSplicedWrong(t *testing.T) {
	for _, c := range []struct {
		name  string
		wrong int // how many of the new files are wrong
		fails bool
	}{{"once", 1, false}, {"always", 2, true}} {
		t.Run(c.name, func(t *testing.T) {
			p := newPlace(t, 0)
			before := p.bytes()
			d := disktest.New()
			e := p.mustOpen(Options{Disk: d})
			defer e.close()
			e.mustSet("A", "a1")
			wrong := c.wrong
			d.SetBefore(savetest.Guarded(func(op disktest.Op) error {
				if op.Name == "open" && strings.HasPrefix(op.Path, p.dir) && wrong > 0 { // to be read back
					wrong--
					return flip(op.Path)
				}
				return nil
			}))
			_, err := e.save()
			if p.spliced.Load() != 1 || wrong != 0 {
				t.Errorf("%d files were spliced, %d are left to be wrong", p.spliced.Load(), wrong)
			}
			if c.fails {
				if err == nil || string(p.bytes()) != string(before) {
					t.Errorf("saved what is wrong: %v", err)
				}
				p.only("a.dat")
				e.mustSave()
			} else if err != nil {
				t.Fatal(err)
			}
			p.want(p.path, first().With("A", "a1"))
			p.only("a.dat", "a.dat.bak")
			e.mustSet("B", "b1") // the draft goes on with the new file
			e.mustSave()
			p.want(p.path, first().With("A", "a1").With("B", "b1"))
		})
	}
}

// flip changes a byte in the middle of a file.
func flip(path string) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	b[len(b)/2] ^= 1
	return os.WriteFile(path, b, 0o600)
}

// TestHow checks that a save splices unless all is to be packed, and that all of a spliced file can be
// read back.
func TestHow(t *testing.T) {
	for _, c := range []struct {
		how     save.How
		spliced int32
	}{{save.How{}, 1}, {save.How{VerifyAll: true}, 1}, {save.How{Repack: true}, 0}, {save.How{Repack: true, VerifyAll: true}, 0}} {
		p := newPlace(t, 0)
		p.how = c.how
		e := p.mustOpen(Options{})
		e.mustSet("A", "a1")
		e.mustSave()
		if n := p.spliced.Load(); n != c.spliced {
			t.Errorf("%+v: %d saves have spliced", c.how, n)
		}
		p.want(p.path, first().With("A", "a1"))
		e.close()
	}
}

// TestSplicingShowsProgress checks that a save that splices shows how far the writing is, and that
// this grows up to the half that is left for checking.
func TestSplicingShowsProgress(t *testing.T) {
	p := newPlace(t, 0)
	e := p.mustOpen(Options{})
	defer e.close()
	e.mustSet("A", "a1")
	var shown []save.Progress
	if _, err := e.Save(t.Context(), save.How{}, func(at save.Progress) { shown = append(shown, at) }); err != nil {
		t.Fatal(err)
	}
	if p.spliced.Load() != 1 {
		t.Fatal("nothing was spliced")
	}
	between := false
	for i, at := range shown {
		if i > 0 && at.Percent() < shown[i-1].Percent() || (at.Percent() >= 50) != (at.Stage == save.Checking) && at.Percent() != 50 {
			t.Errorf("%+v comes after %+v", at, shown[max(0, i-1)])
		}
		between = between || at.Stage == save.Writing && at.Done > 0
	}
	if !between {
		t.Errorf("writing shows no progress: %+v", shown)
	}
}
