package worldtree_test

import (
	"io"
	iofs "io/fs"
	"os"
	"path/filepath"
	"testing"

	"lorefs/nodes/blockcache"
	"lorefs/nodes/worldtree"
)

// benchFolder returns the folder of the fixtures, or else a made-up one, and the name of a
// zone in it.
func benchFolder(b *testing.B) (fsys iofs.FS, zone string) {
	b.Helper()
	dir := filepath.Join("..", "..", "..", "shared", "fixtures", "world")
	if _, err := os.Stat(dir); err != nil {
		b.Logf("a made-up folder stands in for the fixtures: %v", err)
		return folder(2), "x1000y1000"
	}
	return os.DirFS(dir), "x1002y1006"
}

// BenchmarkFirst measures the first look at something.
func BenchmarkFirst(b *testing.B) {
	fsys, zone := benchFolder(b)
	for _, path := range []string{
		"zones/" + zone + ".json", "squares/" + zone + "/017-093.json", "heightmaps/" + zone + ".png",
		"meshes/zones/" + zone + ".obj",
	} {
		b.Run(filepath.Dir(path), func(b *testing.B) {
			for b.Loop() {
				find(b, newTree(b, fsys, worldtree.Options{}), path)
			}
		})
	}
}

// BenchmarkRead reads cached files in pieces of 128 KiB.
func BenchmarkRead(b *testing.B) {
	fsys, zone := benchFolder(b)
	tree := newTree(b, fsys, worldtree.Options{Blocks: blockcache.New(256 << 20).View()})
	for _, path := range []string{"zones/" + zone + ".json", "meshes/zones/" + zone + ".obj"} {
		b.Run(filepath.Dir(path), func(b *testing.B) {
			e := find(b, tree, path)
			b.SetBytes(e.Size)
			p := make([]byte, 128<<10)
			for b.Loop() {
				for off := int64(0); off < e.Size; {
					n, err := tree.ReadAt(b.Context(), e.ID, p, off)
					if err != nil && err != io.EOF { //nolint:errorlint // the contract wants it as it is
						b.Fatal(err)
					}
					off += int64(n)
				}
			}
		})
	}
}
