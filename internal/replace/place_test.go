package replace

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"lorefs/internal/disk"
	"lorefs/internal/disk/disktest"
	"lorefs/internal/testneeds"
)

const theirs = 7777 // the version of a file that another program puts in place

// come puts a version in the place of a file, as another program.
func come(t *testing.T, path string, version int) {
	t.Helper()
	beside := path + ".theirs"
	if err := errors.Join(os.WriteFile(beside, text(version), 0o600), os.Rename(beside, path)); err != nil {
		t.Fatal(err)
	}
}

// before returns a disk that calls do before operations with a name.
func before(name string, do func()) disk.FS {
	d := disktest.New()
	d.SetBefore(func(op disktest.Op) error {
		if op.Name == name {
			do()
		}
		return nil
	})
	return d
}

// kept returns the version of the file that was kept beside another, and removes it.
func kept(t *testing.T, path string) int {
	t.Helper()
	found, err := filepath.Glob(path + ".kept-*")
	if err != nil || len(found) != 1 {
		t.Fatalf("kept are %v, %v", found, err)
	}
	defer os.Remove(found[0])
	content, err := os.ReadFile(found[0])
	if err != nil {
		t.Fatal(err)
	}
	version := 0
	if _, err := fmt.Sscanf(string(content), "version %d\n", &version); err != nil || string(content) != string(text(version)) {
		t.Fatalf("%s is torn: %v", found[0], err)
	}
	return version
}

// TestAnotherComes checks that a file which another program puts in the place of the old
// one, after the caller was asked, is neither replaced nor taken for the backup. It may come
// before any step, and may also be the old file with new content.
func TestAnotherComes(t *testing.T) {
	testneeds.Seconds(t)
	ways := map[string]func(t *testing.T, path string){
		"renamed": func(t *testing.T, path string) { t.Helper(); come(t, path, theirs) },
		"written to": func(t *testing.T, path string) {
			t.Helper()
			now := time.Now().Add(time.Second) // however coarse the file system's clock is
			if err := errors.Join(os.WriteFile(path, text(theirs), 0), os.Chtimes(path, now, now)); err != nil {
				t.Fatal(err)
			}
		},
	}
	for _, s := range systems() {
		ops := s.ops(t)
		begin := slices.IndexFunc(ops, func(op disktest.Op) bool { return op.Name == "sync" }) + 1
		backup := slices.IndexFunc(ops, func(op disktest.Op) bool { return strings.HasSuffix(op.Path, ".bak") })
		place := slices.IndexFunc(ops, func(op disktest.Op) bool { return filepath.Base(op.Path) == "file.dat" })
		if s.name == "no links" {
			place-- // the file is looked at for the last time before
		}
		for way, do := range ways {
			for nth := begin; nth <= place; nth++ {
				t.Run(fmt.Sprintf("%s,%s,%d,%s", s.name, way, nth, ops[nth].Name), func(t *testing.T) {
					path := oldFile(t)
					if err := os.WriteFile(path+".bak", text(0), 0o600); err != nil {
						t.Fatal(err)
					}
					d := at(nth, func() error { do(t, path); return nil }, s.before)
					err := Replace(t.Context(), path, Options{Disk: d}, writeText(2), nil)
					if !errors.Is(err, ErrChanged) {
						t.Errorf("the error is %v", err)
					}
					// Now the backup is the old file, and a write to one of its names
					// changes all of them.
					want := map[string]int{"file.dat": theirs, "file.dat.bak": 0}
					linked := s.name != "no links"
					switch {
					case nth < backup:
						// The backup is the one of the save before.
					case linked && way == "written to":
						want["file.dat.bak"] = theirs
					default:
						want["file.dat.bak"] = 1
					}
					wantFiles(t, filepath.Dir(path), want)
				})
			}
		}
	}
}

// TestAnotherComesAtLast checks the same at the very last moment: before the exchange and
// before the link.
func TestAnotherComesAtLast(t *testing.T) {
	if !disk.CanExchange {
		t.Skip("this system cannot exchange files")
	}
	for _, noBackup := range []bool{false, true} {
		path := oldFile(t)
		once := true
		o := Options{NoBackup: noBackup, Disk: before("exchange", func() {
			if once {
				come(t, path, theirs)
			}
			once = false
		})}
		asked := 0
		mine := errors.New("the caller's words")
		o.Check = func() error {
			if asked++; asked > 2 { // at StepCheck and StepRename
				return mine
			}
			return nil
		}
		if err := Replace(t.Context(), path, o, writeText(2), nil); !errors.Is(err, mine) {
			t.Errorf("the error is %v", err)
		}
		want := map[string]int{"file.dat": theirs}
		if !noBackup {
			want["file.dat.bak"] = 1
		}
		wantFiles(t, filepath.Dir(path), want)
	}

	path := oldFile(t)
	if err := os.WriteFile(path+".bak", text(0), 0o600); err != nil {
		t.Fatal(err)
	}
	o := Options{Disk: before("link", func() { come(t, path, theirs) })}
	if err := Replace(t.Context(), path, o, writeText(2), nil); !errors.Is(err, ErrChanged) {
		t.Errorf("the error is %v", err)
	}
	wantFiles(t, filepath.Dir(path), map[string]int{"file.dat": theirs, "file.dat.bak": 0})
}

// TestOthersKeepComing checks that, if more files come while a place is given back, the
// newest one gets it and the other ones are kept.
func TestOthersKeepComing(t *testing.T) {
	if !disk.CanExchange {
		t.Skip("this system cannot exchange files")
	}
	for _, comers := range []int{2, 3} {
		path := oldFile(t)
		came := 0
		o := Options{Disk: before("exchange", func() {
			if came < comers {
				come(t, path, theirs+came)
				came++
			}
		})}
		err := Replace(t.Context(), path, o, writeText(2), nil)
		if _, told := errors.AsType[*KeptError](err); !errors.Is(err, ErrChanged) || !told {
			t.Errorf("the error is %v", err)
		}
		if got := kept(t, path); got != theirs+comers-2 {
			t.Errorf("version %d is kept", got)
		}
		wantFiles(t, filepath.Dir(path), map[string]int{"file.dat": theirs + comers - 1, "file.dat.bak": 1})
	}
}

// TestNotGivenBack checks that a file which can't be given back is kept.
func TestNotGivenBack(t *testing.T) {
	if !disk.CanExchange {
		t.Skip("this system cannot exchange files")
	}
	path := oldFile(t)
	d := disktest.New()
	exchanges := 0
	d.SetBefore(func(op disktest.Op) error {
		if op.Name != "exchange" {
			return nil
		}
		if exchanges++; exchanges > 1 {
			return errInjected
		}
		come(t, path, theirs)
		return nil
	})
	o := Options{NoBackup: true, Disk: d}
	if err := Replace(t.Context(), path, o, writeText(2), nil); !errors.Is(err, errInjected) {
		t.Errorf("the error is %v", err)
	}
	if got := kept(t, path); got != theirs {
		t.Errorf("version %d is kept", got)
	}
	wantFiles(t, filepath.Dir(path), map[string]int{"file.dat": 2})
}

// TestOtherSystems checks that there is a new file and a backup also if the file system
// can't exchange names, or gives a file only one name.
func TestOtherSystems(t *testing.T) {
	for _, name := range []string{"exchange", "link"} {
		for _, code := range []error{syscall.EINVAL, syscall.ENOSYS, syscall.ENOTSUP} {
			path := oldFile(t)
			if err := Replace(t.Context(), path, Options{Disk: failing(name, code)}, writeText(2), verifyText(2)); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			wantFiles(t, filepath.Dir(path), map[string]int{"file.dat": 2, "file.dat.bak": 1})
		}
	}
}

// copies is a disk that copies files instead of linking them.
type copies struct{ *disktest.Disk }

func (copies) Link(from, to string) error {
	content, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, content, 0o600)
}

// TestUnlikeLinks checks a file system that gives the names of one file different numbers,
// as some overlays do until they are mounted again.
func TestUnlikeLinks(t *testing.T) {
	path := oldFile(t)
	o := Options{Disk: copies{disktest.New()}}
	if err := Replace(t.Context(), path, o, writeText(2), nil); err != nil {
		t.Fatal(err)
	}
	wantFiles(t, filepath.Dir(path), map[string]int{"file.dat": 2, "file.dat.bak": 1})
}

// TestUnreadable checks that a file which the process may not read is replaced too.
func TestUnreadable(t *testing.T) {
	if runtime.GOOS == "windows" || os.Geteuid() == 0 {
		t.Skip("everything can be read")
	}
	path := oldFile(t)
	if err := os.Chmod(path, 0o200); err != nil {
		t.Fatal(err)
	}
	if err := Replace(t.Context(), path, Options{}, writeText(2), nil); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{path, path + ".bak"} {
		if info, err := os.Stat(name); err != nil || info.Mode().Perm()&^0o200 != 0 {
			t.Errorf("%v, %v", info, err)
		}
	}
}

// TestSweepKeepsTheOnlyCopy checks that a file of a dead writer stays if it has only a
// temporary name.
func TestSweepKeepsTheOnlyCopy(t *testing.T) {
	const temp, swap, backup = ".file.dat.lorefs-0123456789abcdef.tmp", ".file.dat.lorefs-0123456789abcdef.swap.tmp",
		".file.dat.lorefs-0123456789abcdef.bak.tmp"
	cases := map[string]struct {
		// is maps names to the versions of their files, and links to other names of the same
		// file.
		is    map[string]int
		links map[string]string
		// keeps is the version that is kept, and left are the versions of the other files.
		keeps int
		left  map[string]int
	}{
		"before the exchange": {
			is: map[string]int{"file.dat": 1, temp: 2}, links: map[string]string{swap: temp},
			left: map[string]int{"file.dat": 1},
		},
		"behind it": {
			is: map[string]int{"file.dat": 2, "file.dat.bak": 1}, links: map[string]string{temp: "file.dat", swap: "file.dat.bak"},
			left: map[string]int{"file.dat": 2, "file.dat.bak": 1},
		},
		"behind it, without a backup": {
			is: map[string]int{"file.dat": 2, swap: 1}, links: map[string]string{temp: "file.dat"},
			keeps: 1, left: map[string]int{"file.dat": 2},
		},
		"behind it, with an older backup": {
			is: map[string]int{"file.dat": 2, "file.dat.bak": 0, swap: 1}, links: map[string]string{temp: "file.dat"},
			keeps: 1, left: map[string]int{"file.dat": 2, "file.dat.bak": 0},
		},
		"another program's": {
			is: map[string]int{"file.dat": 2, "file.dat.bak": 1, swap: theirs}, links: map[string]string{temp: "file.dat"},
			keeps: theirs, left: map[string]int{"file.dat": 2, "file.dat.bak": 1},
		},
		"the new file's name is gone": {
			is: map[string]int{"file.dat": 2, swap: 1}, keeps: 1, left: map[string]int{"file.dat": 2},
		},
		"linked": {
			is: map[string]int{"file.dat": 1, temp: 2}, links: map[string]string{backup: "file.dat"},
			left: map[string]int{"file.dat": 1},
		},
		"linked, and replaced by another program": {
			is: map[string]int{"file.dat": theirs, temp: 2, backup: 1}, keeps: 1, left: map[string]int{"file.dat": theirs},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			var errs []error
			for file, version := range c.is {
				errs = append(errs, os.WriteFile(filepath.Join(dir, file), text(version), 0o600))
			}
			for link, file := range c.links {
				errs = append(errs, os.Link(filepath.Join(dir, file), filepath.Join(dir, link)))
			}
			if err := errors.Join(errs...); err != nil {
				t.Skip(err)
			}
			path := filepath.Join(dir, "file.dat")
			removed, err := Sweep(path)
			told, isTold := errors.AsType[*KeptError](err)
			switch {
			case isTold != (c.keeps > 0), err != nil && !isTold:
				t.Errorf("removed %v, %v", removed, err)
			case isTold && !strings.HasPrefix(told.Kept, path+".kept-"):
				t.Errorf("kept as %s", told.Kept)
			case isTold:
				if got := kept(t, path); got != c.keeps {
					t.Errorf("kept version %d, want %d", got, c.keeps)
				}
			}
			wantFiles(t, dir, c.left)
			if removed, err := Sweep(path); err != nil || len(removed) > 0 {
				t.Errorf("swept again: %v, %v", removed, err)
			}
		})
	}
}
