//go:build linux

package fs_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"golang.org/x/sys/unix"

	"lorefs/fs"
	"lorefs/nodes"
)

// TestListingsSideBySide has one program end its listing after an edit, while another is in the
// middle of one that it began after that edit. The kernel then goes on with what the first has
// listed, of which only the beginning was checked.
func TestListingsSideBySide(t *testing.T) {
	const many = 400
	files := map[string]string{}
	for i := range many {
		files[fmt.Sprintf("d/%04d", i)] = ""
	}
	last := filepath.Join("d", fmt.Sprintf("%04d", many-1))
	edits := map[string]func(dir string) error{
		"unlink": func(dir string) error { return os.Remove(filepath.Join(dir, last)) },
		"rename": func(dir string) error {
			return os.Rename(filepath.Join(dir, last), filepath.Join(dir, "d", "renamed"))
		},
		"create": func(dir string) error { return os.WriteFile(filepath.Join(dir, "d", "new"), nil, 0o600) },
		"mkdir":  func(dir string) error { return os.Mkdir(filepath.Join(dir, "d", "newdir"), 0o700) },
		"mknod":  func(dir string) error { return unix.Mknod(filepath.Join(dir, "d", "made"), unix.S_IFREG|0o600, 0) },
		"move": func(dir string) error {
			return os.Rename(filepath.Join(dir, last), filepath.Join(dir, "moved"))
		},
	}
	for name, edit := range edits {
		t.Run(name, func(t *testing.T) {
			dir, _, tree := editable(t, files, fs.Options{})
			first, second := openDir(t, dir, "d"), openDir(t, dir, "d")
			var all []string
			for len(all) < many {
				all = append(all, readPiece(t, first)...)
			}
			if err := edit(dir); err != nil {
				t.Fatal(err)
			}
			got := readPiece(t, second)
			if rest := readPiece(t, first); len(rest) > 1 {
				t.Fatalf("the first goes on with %q", rest)
			}
			for {
				piece := readPiece(t, second)
				if len(piece) == 0 {
					break
				}
				got = append(got, piece...)
			}
			if want := listedBy(t, tree, "d"); !slices.Equal(got, want) {
				t.Errorf("it has %d names up to %q, want %d up to %q", len(got), got[len(got)-1], len(want), want[len(want)-1])
			}
		})
	}
}

func openDir(t *testing.T, path ...string) int {
	t.Helper()
	fd, err := unix.Open(filepath.Join(path...), unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Close(fd) })
	return fd
}

// listedBy returns the names that a tree lists.
func listedBy(t *testing.T, tree nodes.Tree, dir string) (names []string) {
	t.Helper()
	d, err := tree.Lookup(t.Context(), nodes.Root, dir)
	if err != nil {
		t.Fatal(err)
	}
	for e, err := range tree.ReadDir(t.Context(), d.ID, 0) {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, e.Name)
	}
	return names
}
