package replace

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// accessList lets a user read, besides those whom the mode 0640 lets.
func accessList(uid uint32) []byte {
	b := binary.LittleEndian.AppendUint32(nil, 2)
	for _, e := range []struct {
		tag, perm uint16
		id        uint32
	}{{1, 6, 0xFFFFFFFF}, {2, 4, uid}, {4, 4, 0xFFFFFFFF}, {0x10, 4, 0xFFFFFFFF}, {0x20, 0, 0xFFFFFFFF}} {
		b = binary.LittleEndian.AppendUint16(b, e.tag)
		b = binary.LittleEndian.AppendUint16(b, e.perm)
		b = binary.LittleEndian.AppendUint32(b, e.id)
	}
	return b
}

// The new file has the old one's extended attributes, and so has a backup that had to be
// copied.
func TestAttributes(t *testing.T) {
	path := oldFile(t)
	want := map[string][]byte{
		"user.note": []byte("mine"), "user.empty": {}, "user.long": bytes.Repeat([]byte("x"), 2000),
		"system.posix_acl_access": accessList(12345),
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
	for _, link := range []func(string, string) error{nil, func(string, string) error { return syscall.EPERM }} {
		if err := Replace(t.Context(), path, Options{link: link}, writeText(2), nil); err != nil {
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

// What may not be copied is left out.
func TestAttributesRefused(t *testing.T) {
	for err, want := range map[error]bool{
		unix.EPERM: true, unix.EACCES: true, unix.ENOTSUP: true, unix.ENODATA: true, unix.ENOSPC: false, unix.EIO: false,
	} {
		if got := refused(os.NewSyscallError("fsetxattr", err)); got != want {
			t.Errorf("%v is refused: %v", err, got)
		}
	}
}
