package mirror_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	iofs "io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"lorefs/internal/cache"
	"lorefs/internal/disk"
	"lorefs/internal/disk/disktest"
	"lorefs/internal/remote/mirror"
)

// content returns n bytes that depend on seed.
func content(seed uint64, n int) []byte {
	var data []byte
	for r := rand.NewPCG(seed, 1); len(data) < n; {
		data = binary.LittleEndian.AppendUint64(data, r.Uint64())
	}
	return data[:n:n]
}

func file(n byte) mirror.Object {
	return mirror.Object{Path: "tpr/x", Kind: mirror.Data, Key: [16]byte{n, 0xab}}
}

// equals returns a check for certain bytes.
func equals(want []byte) func([]byte) error {
	return func(data []byte) error {
		if !bytes.Equal(data, want) {
			return errors.New("wrong bytes")
		}
		return nil
	}
}

func open(t *testing.T, dir string, o mirror.Options) *mirror.Cache {
	t.Helper()
	c, err := mirror.Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// has tells whether an object is there as a whole and right.
func has(c *mirror.Cache, o mirror.Object, want []byte) bool {
	data, ok := c.Whole(o, equals(want))
	return ok && bytes.Equal(data, want)
}

// files lists what lies in a folder, by the paths below it.
func files(t *testing.T, dir string) (all []string, size int64) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d iofs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		all, size = append(all, filepath.ToSlash(name)), size+info.Size()
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all, size
}

// TestLayout checks where objects lie, since other programs read them.
func TestLayout(t *testing.T) {
	dir := t.TempDir()
	c := open(t, dir, mirror.Options{})
	key := [16]byte{0xab, 0xcd, 0xef}
	for _, o := range []mirror.Object{
		{Path: "tpr/x", Kind: mirror.Config, Key: key},
		{Path: "tpr/x", Kind: mirror.Data, Key: key},
		{Path: "tpr/x", Kind: mirror.Data, Key: key, Index: true},
		{Path: "tpr/configs/data", Key: key},
	} {
		data := []byte(o.String())
		c.PutWhole(o, data)
		if !has(c, o, data) {
			t.Errorf("%v is not there", o)
		}
	}
	got, _ := files(t, filepath.Join(dir, "mirror"))
	want := []string{
		"tpr/configs/data/ab/cd/abcdef00000000000000000000000000",
		"tpr/x/config/ab/cd/abcdef00000000000000000000000000",
		"tpr/x/data/ab/cd/abcdef00000000000000000000000000",
		"tpr/x/data/ab/cd/abcdef00000000000000000000000000.index",
	}
	if !slices.Equal(got, want) {
		t.Errorf("there are %q", got)
	}
	for _, name := range append(got, "tpr", "tpr/x/data/ab") {
		info, err := os.Stat(filepath.Join(dir, "mirror", name))
		if err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
}

// TestPieces checks that ranges are found in pieces, and that an object becomes whole when all
// of its pieces are there.
func TestPieces(t *testing.T) {
	dir := t.TempDir()
	c := open(t, dir, mirror.Options{})
	data := content(1, 1000)
	o := file(1)
	put := func(off, size int64) { c.PutPiece(o, 1000, off, data[off:off+size]) }
	found := func(off, size int64) bool {
		got, ok := c.Range(o, off, size, equals(data[off:off+size]))
		return ok && bytes.Equal(got, data[off:off+size])
	}
	put(0, 300)
	put(700, 300)
	for _, r := range []struct {
		off, size int64
		there     bool
	}{{0, 300, true}, {100, 50, true}, {299, 1, true}, {200, 200, false}, {300, 1, false}, {700, 300, true}, {999, 1, true}} {
		if got := found(r.off, r.size); got != r.there {
			t.Errorf("%d bytes from %d on: %v", r.size, r.off, got)
		}
	}
	if has(c, o, data) {
		t.Error("it is whole")
	}
	// A process that knows nothing of the first pieces adds the last ones.
	c = open(t, dir, mirror.Options{})
	put(250, 200)
	put(450, 250)
	if !has(c, o, data) {
		t.Error("it is not whole")
	}
	if left, _ := files(t, filepath.Join(dir, "pieces")); len(left) != 0 {
		t.Errorf("left are %q", left)
	}
	if !found(123, 456) {
		t.Error("a range of the whole is not there")
	}
	// Who asks for more than there is may be wrong, so the object stays.
	if _, ok := c.Range(o, 900, 200, func([]byte) error { return nil }); ok || !has(c, o, data) {
		t.Error("a range behind the end was found, or cost the whole object")
	}
	// Without a size nothing becomes whole, and a piece that is all is whole at once.
	c.PutPiece(file(2), 0, 0, data)
	c.PutPiece(file(3), 1000, 0, data)
	if has(c, file(2), data) || !has(c, file(3), data) {
		t.Error("the size was not noted")
	}
}

// TestLostPiece checks that a piece which was cut, or which another process removes, stops
// nobody from keeping things, and that the object becomes whole when the piece is there again.
func TestLostPiece(t *testing.T) {
	for name, lose := range map[string]func(path string) error{
		"cut":     func(path string) error { return os.Truncate(path, 0) },
		"removed": os.Remove,
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			d := disktest.New()
			c := open(t, dir, mirror.Options{Disk: d})
			data := content(1, 1000)
			o := file(1)
			put := func(off, size int64) { c.PutPiece(o, 1000, off, data[off:off+size]) }
			put(0, 300)
			put(300, 300)
			piece := filepath.Join(dir, "pieces", filepath.FromSlash(o.String()), "0-12c")
			d.SetBefore(func(op disktest.Op) error {
				if op.Name == "open" && op.Path == piece { // all pieces were listed already
					d.SetBefore(nil)
					return lose(piece)
				}
				return nil
			})
			put(600, 400)
			if err := c.Trouble(); err != nil {
				t.Errorf("trouble: %v", err)
			}
			if _, err := os.Stat(piece); !errors.Is(err, iofs.ErrNotExist) || has(c, o, data) {
				t.Errorf("the piece is there (%v), or the object is whole without it", err)
			}
			put(0, 300)
			if !has(c, o, data) {
				t.Error("it is not whole")
			}
		})
	}
}

// TestDamage checks that what is wrong is neither used nor kept.
func TestDamage(t *testing.T) {
	for name, spoil := range map[string]func(path string, data []byte) error{
		"changed": func(path string, data []byte) error {
			data = bytes.Clone(data)
			data[500] ^= 1
			return os.WriteFile(path, data, 0o600)
		},
		"cut":    func(path string, data []byte) error { return os.WriteFile(path, data[:400], 0o600) },
		"empty":  func(path string, _ []byte) error { return os.WriteFile(path, nil, 0o600) },
		"longer": func(path string, data []byte) error { return os.WriteFile(path, append(data, 0), 0o600) },
		"link": func(path string, data []byte) error {
			return errors.Join(os.Remove(path), os.WriteFile(path+"x", data, 0o600), os.Symlink(path+"x", path))
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			c := open(t, dir, mirror.Options{})
			data := content(1, 1000)
			o := file(1)
			c.PutWhole(o, data)
			path := filepath.Join(dir, "mirror", filepath.FromSlash(o.String()))
			if err := spoil(path, bytes.Clone(data)); err != nil {
				t.Fatal(err)
			}
			if _, ok := c.Whole(o, equals(data)); ok {
				t.Error("it was taken")
			}
			if _, err := os.Stat(path); name != "link" && !errors.Is(err, iofs.ErrNotExist) {
				t.Errorf("it was kept: %v", err)
			}
			c.PutWhole(o, data)
			if !has(c, o, data) {
				t.Error("it was not replaced")
			}
		})
	}
}

// failing fails to read while it is on.
type failing struct {
	disk.OS
	on *bool
}

func (d failing) Open(path string, flag int) (disk.File, error) {
	f, err := d.OS.Open(path, flag)
	if err != nil {
		return nil, err
	}
	return failingFile{f, d.on}, nil
}

type failingFile struct {
	disk.File
	on *bool
}

func (f failingFile) ReadAt(p []byte, off int64) (int, error) {
	if *f.on {
		return 0, syscall.EIO
	}
	return f.File.ReadAt(p, off)
}

// TestUnreadable checks that a file which can't be read for once is not removed.
func TestUnreadable(t *testing.T) {
	on := false
	c := open(t, t.TempDir(), mirror.Options{Disk: failing{on: &on}})
	data := content(1, 1000)
	o := file(1)
	c.PutWhole(o, data)
	on = true
	if has(c, o, data) {
		t.Error("it was read")
	}
	on = false
	if !has(c, o, data) {
		t.Error("it was removed")
	}
}

// TestBegin reads the beginning of an object: of all of it, or of the largest piece there.
func TestBegin(t *testing.T) {
	c := open(t, t.TempDir(), mirror.Options{})
	data := content(1, 1000)
	o := file(1)
	begin := func(size int64) int {
		got, ok := c.Begin(o, size, func(b []byte) error { return equals(data[:len(b)])(b) })
		if !ok {
			return 0
		}
		return len(got)
	}
	if n := begin(100); n != 0 {
		t.Errorf("%d bytes of nothing", n)
	}
	c.PutPiece(o, 1000, 0, data[:50])
	c.PutPiece(o, 1000, 0, data[:70])
	if n := begin(100); n != 70 {
		t.Errorf("%d bytes, want 70", n)
	}
	c.PutWhole(o, data)
	if n := begin(100); n != 100 {
		t.Errorf("%d bytes, want 100", n)
	}
}

// setUsed makes a file look as if it was last used so many hours ago.
func setUsed(t *testing.T, path string, hours int) {
	t.Helper()
	then := time.Now().Add(-time.Duration(hours) * time.Hour)
	if err := os.Chtimes(path, then, then); err != nil {
		t.Fatal(err)
	}
}

// TestTrim checks what goes when there is too much: what was not used for longest, then
// configurations and indexes, and nothing that a process needs.
func TestTrim(t *testing.T) {
	dir := t.TempDir()
	big := mirror.Options{Limit: 1 << 40}
	c := open(t, dir, big)
	objects := make([]mirror.Object, 12)
	for i := range objects {
		o := file(byte(i))
		switch i {
		case 10:
			o.Kind = mirror.Config
		case 11:
			o.Index = true
		}
		objects[i] = o
		c.PutWhole(o, content(uint64(i), 1000))
		setUsed(t, filepath.Join(dir, "mirror", filepath.FromSlash(o.String())), 100-i)
	}
	for _, i := range []int{10, 11} { // the oldest of all
		setUsed(t, filepath.Join(dir, "mirror", filepath.FromSlash(objects[i].String())), 1000)
	}
	if !has(c, objects[0], content(0, 1000)) { // is the newest now
		t.Fatal("the first object is not there")
	}
	other := open(t, dir, big)
	other.Own(objects[1].Key)
	small := open(t, dir, mirror.Options{Limit: 6000})
	small.Own(objects[2].Key)
	if err := small.Trim(); err != nil {
		t.Fatal(err)
	}
	var kept []int
	for i, o := range objects {
		if has(small, o, content(uint64(i), 1000)) {
			kept = append(kept, i)
		}
	}
	if want := []int{0, 1, 2, 10, 11}; !slices.Equal(kept, want) {
		t.Errorf("kept are %v, want %v", kept, want)
	}
	// What a process has let go of can be removed, and what must stay may be too much.
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	tiny := open(t, dir, mirror.Options{Limit: 1})
	tiny.Own(objects[0].Key)
	if err := tiny.Trim(); err != nil {
		t.Fatal(err)
	}
	left, _ := files(t, filepath.Join(dir, "mirror"))
	if want := []string{objects[0].String(), objects[2].String()}; !slices.Equal(left, want) {
		t.Errorf("left are %q, want %q", left, want)
	}
}

// TestForeign checks that files of others are not removed, wherever they lie in the folder.
func TestForeign(t *testing.T) {
	dir := t.TempDir()
	const key = "abcdef00000000000000000000000000"
	foreign := []string{
		"mine", "tmp/mine", "versions/mine", "mirror/mine", "mirror/tpr/x/data/ab/cd/mine", "mirror/tpr/x/data/ab/cd/" + key + ".txt",
		"mirror/" + key, "mirror/data/12/cd/" + key, "pieces/0-10", "pieces/tpr/x/data/ab/cd/" + key + "/mine",
	}
	objects := []string{
		"mirror/tpr/x/data/ab/cd/" + key, "mirror/tpr/x/config/ab/cd/" + key, "mirror/tpr/x/data/ab/cd/" + key + ".index",
		"mirror/tpr/configs/data/ab/cd/" + key, "pieces/tpr/y/data/ab/cd/" + key + "/0-10",
	}
	for _, name := range slices.Concat(foreign, objects) {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, content(1, 1000), 0o600)); err != nil {
			t.Fatal(err)
		}
		setUsed(t, path, 10)
	}
	c := open(t, dir, mirror.Options{Limit: 1})
	if err := c.Trim(); err != nil {
		t.Fatal(err)
	}
	for _, name := range foreign {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
	for _, name := range objects {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			t.Errorf("%s was not removed", name)
		}
	}
}

// TestBounded checks that a cache which is written to keeps to its limit by itself.
func TestBounded(t *testing.T) {
	dir := t.TempDir()
	const limit = 100_000
	c, err := mirror.Open(dir, mirror.Options{Limit: limit})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 100 {
		o := file(byte(i))
		c.PutPiece(o, 10_000, 1, content(uint64(i), 4000))
	}
	if err := c.Close(); err != nil { // waits for what is being trimmed
		t.Fatal(err)
	}
	c = open(t, dir, mirror.Options{Limit: limit})
	if err := c.Trim(); err != nil {
		t.Fatal(err)
	}
	if _, size := files(t, filepath.Join(dir, "pieces")); size > limit || size < limit/2 {
		t.Errorf("it has %d bytes", size)
	}
}

// TestLeftovers checks that what killed processes have left is removed, but not what may be
// a living one's.
func TestLeftovers(t *testing.T) {
	dir := t.TempDir()
	c := open(t, dir, mirror.Options{})
	for _, name := range []string{"tmp/dead.part", "tmp/new.part", "holds/dead.lock", "holds/dead.keys", "holds/new.lock"} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(name, "dead") {
			setUsed(t, path, 2)
		}
	}
	if err := c.Trim(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"tmp/dead.part", "holds/dead.lock", "holds/dead.keys"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			t.Errorf("%s is left", name)
		}
	}
	for _, name := range []string{"tmp/new.part", "holds/new.lock"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
}

// TestFullDisk checks that a full disk keeps nobody from reading, at whichever operation it is
// full, that it is said, and that no part of a file is left.
func TestFullDisk(t *testing.T) {
	data := content(1, 1000)
	for _, op := range []string{"create", "write", "close", "rename"} {
		for _, short := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s,%v", op, short), func(t *testing.T) {
				dir := t.TempDir()
				d := disktest.New()
				d.Short = short
				c := open(t, dir, mirror.Options{Disk: d})
				c.PutWhole(file(1), data)
				d.SetBefore(disktest.Fail(-1, func(o disktest.Op) bool { return o.Name == op && !strings.Contains(o.Path, "holds") }))
				c.PutWhole(file(2), data)
				c.PutPiece(file(3), 1000, 10, data[10:20])
				if err := c.Trouble(); !errors.Is(err, disktest.ErrFault) {
					t.Errorf("the trouble is %v", err)
				}
				if err := c.Versions().Save("x", data); err == nil {
					t.Error("an answer was kept")
				}
				d.SetBefore(nil)
				if !has(c, file(1), data) || has(c, file(2), data) {
					t.Error("the wrong objects are there")
				}
				if left, _ := files(t, filepath.Join(dir, "tmp")); len(left) != 0 {
					t.Errorf("left are %q", left)
				}
			})
		}
	}
}

// TestNoFolder checks that a cache that can't be made is an error.
func TestNoFolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if c, err := mirror.Open(path, mirror.Options{}); err == nil {
		t.Error("a file is a cache", c.Close())
	}
}

// TestVersions checks that answers are kept, and damaged ones not taken.
func TestVersions(t *testing.T) {
	dir := t.TempDir()
	c := open(t, dir, mirror.Options{})
	id := cache.ID{Kind: "an answer 1", Of: [32]byte{1}}
	if _, err := id.Load(c.Versions()); !errors.Is(err, iofs.ErrNotExist) {
		t.Errorf("before: %v", err)
	}
	if err := id.Save(c.Versions(), cache.Seal(append(id.Begin(3), "abc"...))); err != nil {
		t.Fatal(err)
	}
	if body, err := id.Load(c.Versions()); err != nil || string(body) != "abc" {
		t.Errorf("%q, %v", body, err)
	}
	names, _ := files(t, filepath.Join(dir, "versions"))
	if len(names) != 1 {
		t.Fatalf("there are %q", names)
	}
	if err := os.WriteFile(filepath.Join(dir, "versions", names[0]), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := id.Load(c.Versions()); err == nil {
		t.Error("a damaged answer was taken")
	}
	if err := c.Versions().Save("../x", nil); err == nil {
		t.Error("an answer was kept elsewhere")
	}
}
