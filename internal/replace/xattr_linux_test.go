package replace

import (
	"bytes"
	"encoding/binary"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"lorefs/internal/disk"
	"lorefs/internal/disk/disktest"
)

// listOf returns an access control list: the rights of the owning group, those of a user by
// number, and the most that any of them may have, which the mode shows as the group's bits.
func listOf(group, user, mask uint16) []byte {
	const uid, nobody = 12345, 0xFFFFFFFF
	b := binary.LittleEndian.AppendUint32(nil, 2)
	for _, e := range []struct {
		tag, perm uint16
		id        uint32
	}{{1, 6, nobody}, {2, user, uid}, {4, group, nobody}, {0x10, mask, nobody}, {0x20, 0, nobody}} {
		b = binary.LittleEndian.AppendUint16(b, e.tag)
		b = binary.LittleEndian.AppendUint16(b, e.perm)
		b = binary.LittleEndian.AppendUint32(b, e.id)
	}
	return b
}

// setAttribute sets an extended attribute, or skips the test if the file system has none.
func setAttribute(t *testing.T, path, name string, value []byte) {
	t.Helper()
	err := unix.Setxattr(path, name, value, 0)
	if errors.Is(err, unix.ENOTSUP) {
		t.Skipf("the file system has no %s", name)
	}
	if err != nil {
		t.Fatal(name, err)
	}
}

// wantList checks the access control list and the mode of a file.
func wantList(t *testing.T, path string, list []byte, mode os.FileMode) {
	t.Helper()
	got := make([]byte, 4096)
	n, err := unix.Getxattr(path, accessList, got)
	if none := errors.Is(err, unix.ENODATA) || errors.Is(err, unix.ENOTSUP); err != nil && !none {
		t.Fatal(err)
	}
	if !bytes.Equal(got[:max(n, 0)], list) {
		t.Errorf("%s has the list %x, want %x", path, got[:max(n, 0)], list)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode() != mode {
		t.Errorf("%s has the mode %v, want %v", path, info.Mode(), mode)
	}
}

// TestCreateAccessList checks that a new file admits the same users as its model. Without
// the list, its mode would admit the owning group.
func TestCreateAccessList(t *testing.T) {
	like := oldFile(t)
	list := listOf(0, 6, 6)
	setAttribute(t, like, accessList, list)
	path := filepath.Join(filepath.Dir(like), "new.dat")
	if err := create(path, Options{}); err != nil {
		t.Fatal(err)
	}
	wantList(t, path, list, 0o660)
	gone := filepath.Join(filepath.Dir(like), "private.dat")
	if err := Create(t.Context(), gone, nil, Options{Private: true}, writeText(2), nil); err != nil {
		t.Fatal(err)
	}
	wantList(t, gone, nil, 0o600)
}

// TestAccessListLost checks that only the owner may use a file whose list can't be set.
func TestAccessListLost(t *testing.T) {
	path := oldFile(t)
	setAttribute(t, path, accessList, listOf(0, 6, 6))
	like, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer like.Close()
	dir := mountTest(t, "ramfs", "")
	var log bytes.Buffer
	o := Options{Logger: slog.New(slog.NewTextHandler(&log, nil))}
	path = filepath.Join(dir, "new.dat")
	if err := Create(t.Context(), path, like, o, writeText(2), nil); err != nil {
		t.Fatal(err)
	}
	wantList(t, path, nil, 0o600)
	if !strings.Contains(log.String(), "access control list") {
		t.Errorf("logged: %s", log.String())
	}
}

// TestAttributes checks that the new file has the old one's extended attributes, and so has
// a backup that was copied.
func TestAttributes(t *testing.T) {
	path := oldFile(t)
	want := map[string][]byte{
		"user.note": []byte("mine"), "user.empty": {}, "user.long": bytes.Repeat([]byte("x"), 2000),
		accessList: listOf(4, 4, 4),
	}
	for name, value := range want {
		err := unix.Setxattr(path, name, value, 0)
		if errors.Is(err, unix.ENOTSUP) && strings.HasPrefix(name, "system.") {
			delete(want, name)
			continue
		}
		if errors.Is(err, unix.ENOTSUP) {
			t.Skip("no extended attributes here")
		}
		if err != nil {
			t.Fatal(name, err)
		}
	}
	for _, fs := range []disk.FS{nil, noLinks} {
		if err := Replace(t.Context(), path, Options{Disk: fs}, writeText(2), nil); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{path, path + ".bak"} {
			for key, value := range want {
				got := make([]byte, 4096)
				n, err := unix.Getxattr(name, key, got)
				if err != nil || !bytes.Equal(got[:max(n, 0)], value) {
					t.Errorf("%s: %s is %q, %v; want %q", name, key, got[:max(n, 0)], err, value)
				}
			}
			info, err := os.Stat(name)
			if err != nil {
				t.Fatal(err)
			}
			if info.Mode() != 0o640 {
				t.Errorf("%s: %v", name, info.Mode())
			}
		}
	}
}

// TestAttributesAdded checks that attributes which a folder gives new files are removed if
// the old file has none.
func TestAttributesAdded(t *testing.T) {
	path := oldFile(t)
	setAttribute(t, path, "user.note", []byte("mine"))
	setAttribute(t, filepath.Dir(path), "system.posix_acl_default", listOf(7, 7, 7))
	d := disktest.New()
	d.SetBefore(func(op disktest.Op) error {
		if op.Name == "link" {
			return syscall.EPERM
		}
		if op.Name == "write" {
			setAttribute(t, op.Path, "user.added", []byte("theirs"))
		}
		return nil
	})
	o := Options{Disk: d}
	if err := Replace(t.Context(), path, o, writeText(2), nil); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{path, path + ".bak"} {
		wantList(t, name, nil, 0o640)
		names := make([]byte, 4096)
		n, err := unix.Listxattr(name, names)
		if got := string(names[:max(n, 0)]); err != nil || !strings.Contains(got, "user.note") || strings.Contains(got, "user.added") {
			t.Errorf("%s has %q, %v", name, got, err)
		}
	}
}

// TestAttributeTooLarge checks that a file is replaced, with its other attributes, if one
// attribute does not fit.
func TestAttributeTooLarge(t *testing.T) {
	// On tmpfs user attributes count towards the inodes, a kilobyte each.
	path := filepath.Join(mountTest(t, "tmpfs", "nr_inodes=16"), "file.dat")
	if err := os.WriteFile(path, text(1), 0o640); err != nil {
		t.Fatal(err)
	}
	// The others fit in any order.
	setAttribute(t, path, "user.a", []byte("a"))
	setAttribute(t, path, "user.large", make([]byte, 9<<10))
	setAttribute(t, path, "user.z", []byte("z"))
	var log bytes.Buffer
	o := Options{Logger: slog.New(slog.NewTextHandler(&log, nil))}
	if err := Replace(t.Context(), path, o, writeText(2), nil); err != nil {
		t.Fatal(err)
	}
	wantFiles(t, filepath.Dir(path), map[string]int{"file.dat": 2, "file.dat.bak": 1})
	wantList(t, path, nil, 0o640)
	for name, want := range map[string]error{"user.a": nil, "user.z": nil, "user.large": unix.ENODATA} {
		if _, err := unix.Getxattr(path, name, nil); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", name, err, want)
		}
	}
	if !strings.Contains(log.String(), "user.large") {
		t.Errorf("logged: %s", log.String())
	}
}

// TestAttributeGrows checks that a file system which returns wrong sizes is not asked
// forever.
func TestAttributeGrows(t *testing.T) {
	asked := 0
	_, err := sized(func(p []byte) (int, error) {
		if asked++; asked > 1000 {
			t.Fatal("asked without end")
		}
		if len(p) > 0 {
			return 0, unix.ERANGE
		}
		return 1, nil
	})
	if !errors.Is(err, unix.ERANGE) {
		t.Error(err)
	}
}

// TestAttributesRefused checks which errors are ignored.
func TestAttributesRefused(t *testing.T) {
	for err, want := range map[error]bool{
		unix.EPERM: true, unix.EACCES: true, unix.ENOTSUP: true, unix.ENODATA: true, unix.ENOSPC: false, unix.EIO: false,
	} {
		if got := refused(os.NewSyscallError("fsetxattr", err)); got != want {
			t.Errorf("%v is refused: %v", err, got)
		}
	}
}
