package main

import (
	"crypto/md5"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"lorefs/casc/casctest"
	"lorefs/cmd/internal/cli"
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
		if code != cli.ExitOK || len(lines) != 47 || lines[0] != `{"ekey":"0310895d013a47e7fc","size":300000,"tags":["Windows","enUS"]}` {
			t.Errorf("%s: cat: %d, %d lines, first %s; %s", version, code, len(lines), lines[0], talk)
		}
	}
}

// TestOpenedByWhatLies opens installs by what users point at.
func TestOpenedByWhatLiesThere(t *testing.T) {
	t.Parallel()
	ls := func(want int, path string, flags ...string) string {
		t.Helper()
		out, talk, code := tool(t, append([]string{"ls", path}, flags...)...)
		if code != want {
			t.Errorf("ls %s: %d, want %d: %s", path, code, want, talk)
		}
		return out + talk
	}
	says := func(said string, want ...string) {
		t.Helper()
		for _, w := range want {
			if !strings.Contains(said, w) {
				t.Errorf("%q is missing in %s", w, said)
			}
		}
	}

	t.Run("data folder", func(t *testing.T) {
		dir, _ := reported(t, "r3-data-folder-two-builds")
		out, talk, code := tool(t, "info", filepath.Join(dir, "Data"))
		if code != cli.ExitOK {
			t.Fatal(talk)
		}
		says(out, "build config  fe6aa5c336078f99ced18b7bb2010cd4")
		out, _, _ = tool(t, "info", "--build", "757415bffb83a33a26ee1e6d6dee4a9c", filepath.Join(dir, "Data"))
		says(out, "build config  757415bffb83a33a26ee1e6d6dee4a9c")
	})
	t.Run("Steam", func(t *testing.T) {
		dir, _ := reported(t, "r-t289")
		for _, sub := range []string{"", "data", "data/00-00000000.data", "data/.build.config"} {
			says(ls(cli.ExitUnknown, filepath.Join(dir, sub)), "is a game that Steam installed")
		}
	})
	t.Run("build", func(t *testing.T) {
		dir, _ := reported(t, "r-t4")
		const there = "7cc64a7030d96ce7ac3d8d1df2c2de16"
		says(ls(cli.ExitSource, dir), there, "--build "+there)
		says(ls(cli.ExitSource, dir, "--build=00000000000000000000000000000001"), "--build "+there)
		says(ls(cli.ExitOK, dir, "--build", there), "files")
		says(ls(cli.ExitOK, filepath.Join(dir, "modified.build.info")), "files")
	})
	t.Run("stale entry", func(t *testing.T) {
		dir, _ := reported(t, "r-t2-duplast")
		out, talk, code := tool(t, "cat", dir, "files/data/dir0/file3.txt")
		if sum := fmt.Sprintf("%x", md5.Sum([]byte(out))); code != cli.ExitOK || !strings.HasPrefix(sum, "144e4a2a") {
			t.Errorf("cat: %d, the MD5 is %s: %s", code, sum, talk)
		}
		out, _, code = tool(t, "verify", dir)
		if code != cli.ExitFailure || strings.Count(out, "\n") != 1 || !strings.HasPrefix(out, "damaged: data.000 at 0x376: ") {
			t.Errorf("verify: %d, %s", code, out)
		}
	})
	t.Run("case", func(t *testing.T) {
		for _, name := range []string{"r-t10c", "r-t10f"} {
			dir, _ := reported(t, name)
			if out, talk, code := tool(t, "verify", dir); code != cli.ExitOK {
				t.Errorf("%s: %d, %s%s", name, code, out, talk)
			}
		}
	})
}
