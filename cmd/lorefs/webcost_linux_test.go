package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"lorefs/casc/casctest"
	"lorefs/internal/testneeds"
)

// TestMirrorCosts counts what a mirror of 300,000 files in 200 archives costs. The guide to remote
// sources tells these figures.
func TestMirrorCosts(t *testing.T) {
	testneeds.Slow(t, "it makes 300,000 files")
	testneeds.FUSE(t)
	ownFolders(t)
	const count, archives = 300_000, 200
	large, cdn, err := casctest.NewLargeCDN(count, archives)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := cdn.Files.Write(dir); err != nil {
		t.Fatal(err)
	}
	list := filepath.Join(t.TempDir(), "list.csv")
	if err := os.WriteFile(list, []byte(large.List), 0o600); err != nil {
		t.Fatal(err)
	}
	s := serveFolder(t, dir)
	flags := []string{"--build=" + cdn.Build.String(), "--cdn=" + cdn.Config.String(), "--listfile=" + list}
	cost := func(what string, most int64) {
		t.Helper()
		n, sent := s.requests.Swap(0), s.sent.Swap(0)
		t.Logf("%s: %d requests, %d bytes", what, n, sent)
		if n > most {
			t.Errorf("%s: %d requests, want at most %d", what, n, most)
		}
	}
	runTool(t, "", "lorefs", append([]string{"ls", s.URL, "files"}, flags...)...)
	cost("a first listing", 20)
	read := func(i int) {
		t.Helper()
		got := runTool(t, "", "lorefs", append([]string{"cat", s.URL, large.Find(i)}, flags...)...)
		if !bytes.Equal([]byte(got), casctest.LargeContent(i)) {
			t.Errorf("file %d has %d bytes", i, len(got))
		}
	}
	read(0)
	cost("a first file, with the indexes", archives+4)
	read(1000)
	cost("another file", 4)
	mnt := mountCASC(t, s.URL, flags...)
	runTool(t, mnt, "ls", "-l", "files")
	cost("a second mount", 1)
}
