package main

import (
	"path/filepath"
	"strings"
	"testing"

	"lorefs/internal/formats/casc/casctest"
)

// reported writes a storage of the fixtures that shows what a public report tells of, and returns
// its folder and the file of its keys.
func reported(t *testing.T, name string) (dir, keys string) {
	t.Helper()
	s := casctest.LoadOdd(t, name)
	top := t.TempDir()
	dir = filepath.Join(top, "game")
	if err := s.Store.Write(dir); err != nil {
		t.Fatal(err)
	}
	if err := s.Beside.Write(top); err != nil {
		t.Fatal(err)
	}
	return dir, filepath.Join(top, "keys")
}

// TestSizeManifests reads size manifests as real builds have them.
func TestSizeManifests(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"v1", "v2"} {
		dir, keys := reported(t, "r3-size-manifest-"+version)
		if out, _, code := tool(t, "verify", "--keys", keys, dir); strings.Contains(out, "size") {
			t.Errorf("%s: verify: %d, %s", version, code, out)
		}
		out, talk, code := tool(t, "cat", dir, "manifests/size/000000.jsonl")
		lines := strings.Split(strings.TrimSpace(out), "\n")
		if code != exitOK || len(lines) != 47 || lines[0] != `{"ekey":"0310895d013a47e7fc","size":300000,"tags":["Windows","enUS"]}` {
			t.Errorf("%s: cat: %d, %d lines, first %s; %s", version, code, len(lines), lines[0], talk)
		}
	}
}
