//go:build linux

package fs_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"lorefs/fs"
	"lorefs/fs/fusetest"
)

// TestExpire checks that a mount expires only if nothing has used it since it was marked. Root
// learns as well of uses that the kernel serves from its cache.
func TestExpire(t *testing.T) {
	dir, s := fusetest.Serve(t, testTree(t), fs.Options{})
	file := filepath.Join(dir, "ItemData", "large")
	use := func() {
		t.Helper()
		if _, err := os.ReadFile(file); err != nil {
			t.Fatal(err)
		}
	}
	mark := func() {
		t.Helper()
		if err := s.MarkUnused(); err != nil {
			t.Fatal(err)
		}
	}
	used := func(what string) {
		t.Helper()
		if err := s.Expire(); !errors.Is(err, fs.ErrUsed) {
			t.Fatalf("after %s: %v, want %v", what, err, fs.ErrUsed)
		}
	}
	mark()
	use()
	used("a first read")
	if os.Geteuid() == 0 {
		before := s.Stats()
		mark()
		use()
		if after := s.Stats(); after.Used() == before.Used() {
			used("a read from the cache")
		}
	}
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.MarkUnused(); os.Geteuid() == 0 && !errors.Is(err, syscall.EBUSY) {
		t.Errorf("while a file is open: %v", err)
	}
	if err := s.Expire(); err == nil {
		t.Error("expired while a file is open")
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	mark()
	mark() // anew
	var st unix.Statfs_t
	if err := unix.Statfs("/proc", &st); err != nil { // another file system
		t.Fatal(err)
	}
	if err := s.Expire(); err != nil {
		t.Fatalf("a mount that nobody uses: %v", err)
	}
	s.Wait()
}

// TestOwner checks whose files are, and what may be done with them.
func TestOwner(t *testing.T) {
	uid, gid, umask := uint32(12345), uint32(23456), uint32(0o027)
	dir := fusetest.Mount(t, testTree(t), fs.Options{UID: &uid, GID: &gid, Umask: &umask})
	for name, mode := range map[string]uint32{"ItemData": 0o550, "ItemData/x": 0o440} {
		var st unix.Stat_t
		if err := unix.Stat(filepath.Join(dir, name), &st); err != nil {
			t.Fatal(err)
		}
		if st.Uid != uid || st.Gid != gid || st.Mode&0o777 != mode {
			t.Errorf("%s: %d:%d %o, want %d:%d %o", name, st.Uid, st.Gid, st.Mode&0o777, uid, gid, mode)
		}
	}
}

// TestNoPermissions checks that a umask can take all permissions away, from what is looked up and
// from what is listed.
func TestNoPermissions(t *testing.T) {
	umask := uint32(0o777)
	dir := fusetest.Mount(t, testTree(t), fs.Options{Umask: &umask})
	check := func(name string) {
		t.Helper()
		var st unix.Stat_t
		if err := unix.Stat(filepath.Join(dir, name), &st); err != nil {
			t.Fatal(err)
		}
		if mode := st.Mode & 0o777; mode != 0 {
			t.Errorf("%s has the mode %o", name, mode)
		}
	}
	check("ItemData")
	check("ItemData/x")
	run(t, "ls", "-lR", dir)
	check("ItemData/x")
}
