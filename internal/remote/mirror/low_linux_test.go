package mirror_test

import (
	"syscall"
	"testing"

	"lorefs/internal/remote/mirror"
)

// TestLowDisk fills a disk far below the limit of the cache: it makes room for what comes next,
// and nobody gets wrong bytes.
func TestLowDisk(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=1m"); err != nil {
		t.Skipf("nothing can be mounted here: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	open := func() *mirror.Cache {
		c, err := mirror.Open(dir, mirror.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	object := func(i byte) mirror.Object { return mirror.Object{Path: "p", Kind: mirror.Data, Key: [16]byte{i}} }
	data := make([]byte, 50<<10)
	c := open()
	for i := byte(0); c.Trouble() == nil; i++ {
		if i == 100 {
			t.Fatal("the disk is never full")
		}
		c.PutWhole(object(i), data)
	}
	if err := c.Close(); err != nil { // after it has made room
		t.Fatal(err)
	}
	c = open()
	defer c.Close()
	c.PutWhole(object(200), data)
	if _, ok := c.Whole(object(200), func([]byte) error { return nil }); !ok || c.Trouble() != nil {
		t.Errorf("nothing is kept after the disk was full: %v", c.Trouble())
	}
}
