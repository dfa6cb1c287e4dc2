//go:build unix

package dissect_test

import (
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"lorefs/protocol"
	"lorefs/protocol/dissect"
	"lorefs/protocol/prototest"
)

// oddFolder returns a folder with entries that have the names of definitions and maps but
// lead to no file.
func oddFolder(t *testing.T) *protocol.Library {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "odd")
	if err := os.CopyFS(dir, prototest.Files()); err != nil {
		t.Fatal(err)
	}
	defs := filepath.Join(dir, "defs")
	for _, err := range []error{
		os.Symlink("none", filepath.Join(defs, "S_LOGIN.1.def")),
		os.Symlink("none", filepath.Join(dir, "map", "protocol.2.map")),
		os.Symlink("S_LOOP.1.def", filepath.Join(defs, "S_LOOP.1.def")),
		os.Symlink(".", filepath.Join(defs, "S_FOLDER.1.def")),
		os.Remove(filepath.Join(defs, "S_CHAT.3.def")),
		syscall.Mkfifo(filepath.Join(defs, "S_CHAT.3.def"), 0o600),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	lib, err := protocol.OpenLibrary(os.DirFS(dir), protocol.LibraryOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return lib
}

// TestOddEntries checks that an entry which only looks like a definition is an error where
// it is used, and does not affect the rest. A pipe is not opened, since that would never
// end.
func TestOddEntries(t *testing.T) {
	lib := oddFolder(t)
	s := newRecording(t, generated(t, 9), lib, dissect.Options{})
	want := "5007 C_CHECK_VERSION C_PLAYER_LOCATION=C_PLAYER_LOCATION.5 S_CHAT=wrong S_LOGIN=wrong " +
		"S_PARTY_MEMBER_LIST=wrong S_SPAWN_USER=S_SPAWN_USER.15 S_WRONG=wrong"
	if got := names(s); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	var got []string
	for f, err := range dissect.VerifyLibrary(t.Context(), lib, 0, false) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, f.String())
	}
	for _, want := range []string{
		"defs/S_LOGIN.1.def:1: no such file or directory", "defs/S_CHAT.3.def:1: no regular file",
		"defs/S_FOLDER.1.def:1: no regular file", "defs/S_LOOP.1.def:1: too many levels of symbolic links",
		"map/protocol.2.map:1: no such file or directory",
	} {
		if !slices.Contains(got, want) {
			t.Errorf("got %q, want %q among them", got, want)
		}
	}
}
