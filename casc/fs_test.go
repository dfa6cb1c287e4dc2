package casc_test

import (
	"errors"
	"io"
	iofs "io/fs"
	"testing"
	"testing/fstest"

	"lorefs/casc"
	"lorefs/casc/casctest"
	"lorefs/casc/casctest/write"
)

// TestFS checks the files of a storage as a file system. Two names are one but for case, a file
// has the name of a directory, and one has no path for a name.
func TestFS(t *testing.T) {
	game := casctest.New()
	for _, name := range []string{"a.txt", "A.txt", "dir/b.txt", "dir/sub/c.txt", "dir", "dir2/../x", "한국어.txt"} {
		content := []byte("this is " + name)
		game.Put(name, content, game.Add(content))
	}
	game.Root(game.Add(write.TextRoot(game.Files())))
	files, err := game.Install()
	if err != nil {
		t.Fatal(err)
	}
	s, err := casc.Open(casctest.FS(files), casc.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	fsys, err := s.FS(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"a.txt", "A.txt", "dir/b.txt", "dir/sub/c.txt", "한국어.txt"}
	if err := fstest.TestFS(fsys, want...); err != nil {
		t.Error(err)
	}
	n := 0
	err = iofs.WalkDir(fsys, ".", func(name string, d iofs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		n++
		if b, err := iofs.ReadFile(fsys, name); err != nil || string(b) != "this is "+name {
			t.Errorf("%s: %q, %v", name, b, err)
		}
		return nil
	})
	if err != nil || n != len(want) {
		t.Errorf("%d files, want %d: %v", n, len(want), err)
	}
	f, err := fsys.Open("dir/b.txt")
	if err != nil {
		t.Fatal(err)
	}
	p := make([]byte, 2)
	if _, err := f.(io.ReaderAt).ReadAt(p, 5); err != nil || string(p) != "is" {
		t.Errorf("%q, %v", p, err)
	}
	for name, want := range map[string]error{"none": iofs.ErrNotExist, "dir/none": iofs.ErrNotExist, "none/x": iofs.ErrNotExist, "../x": iofs.ErrInvalid} {
		if _, err := fsys.Open(name); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", name, err, want)
		}
	}
}

// TestFSNotLocal checks that a file whose data is missing can be seen, and says why it can't be
// read.
func TestFSNotLocal(t *testing.T) {
	_, files := casctest.Make(t, "text", "install")
	s, err := casc.Open(casctest.FS(files), casc.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	fsys, err := s.FS(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	missing := 0
	err = iofs.WalkDir(fsys, ".", func(name string, d iofs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if _, err := iofs.ReadFile(fsys, name); errors.Is(err, casc.ErrNotLocal) {
			missing++
		}
		return nil
	})
	if err != nil || missing == 0 {
		t.Errorf("%d files are missing, %v", missing, err)
	}
}

// TestFSOfBadRoot reads the files that a root names before it is damaged.
func TestFSOfBadRoot(t *testing.T) {
	game := casctest.New()
	game.Fill(t)
	game.Root(game.Add(write.TextRoot(game.Files())))
	s := openBuilt(t, game)
	if _, err := s.Files(t.Context()); err != nil {
		t.Fatal(err)
	}
	damage := errors.New("damaged")
	s.SpoilRoot(damage)
	fsys, err := s.FS(t.Context())
	if fsys == nil || !errors.Is(err, damage) {
		t.Fatalf("%v, %v", fsys, err)
	}
	const name = "readme.txt"
	if data, err := iofs.ReadFile(fsys, name); err != nil || string(data) != string(game.Want[name]) {
		t.Errorf("%q, %v", data, err)
	}
	if info, err := iofs.Stat(fsys, name); err != nil || info.Size() != int64(len(game.Want[name])) {
		t.Errorf("%v, %v", info, err)
	}
}
