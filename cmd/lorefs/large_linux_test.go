package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"lorefs/internal/testneeds"
)

// A tenth of the large tree is 4,300,000.
var largeWalk = flag.Int("entries", 1_200_000, "entries of the large tree that are walked through a mount")

// TestWalkOfLargeTree walks a part of a real data center through a mount. What the
// kernel knows of it must not pile up in the process: that would be 450 bytes each.
func TestWalkOfLargeTree(t *testing.T) {
	if testing.Short() {
		t.Skip("walks a million entries")
	}
	testneeds.FUSE(t)
	path := testneeds.Fixture(t, "datacenter/p100_x64.dat")
	ownFolders(t)
	mnt := mountFile(t, path)
	if n := findSome(t, filepath.Join(mnt, "tree"), *largeWalk); n < *largeWalk {
		t.Errorf("find ended after %d entries", n)
	}
	const most = defaultCacheSize + 128<<20
	if peak := peakMemory(t, mnt); peak > most {
		t.Errorf("at most %d MiB resident, want %d", peak>>20, most>>20)
	}
}

// findSome counts what find prints, and ends it after enough lines.
func findSome(t *testing.T, dir string, enough int) (n int) {
	t.Helper()
	c := exec.CommandContext(t.Context(), "find", dir)
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	for lines := bufio.NewScanner(out); n < enough && lines.Scan(); {
		n++
	}
	_ = c.Process.Kill() // it may have ended by itself
	_ = c.Wait()
	return n
}

// peakMemory is the most that was resident of the process behind a mount.
func peakMemory(t *testing.T, mnt string) int64 {
	t.Helper()
	var s struct{ Pid int }
	if err := json.Unmarshal([]byte(runTool(t, "", "lorefs", "status", "--json", mnt)), &s); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.Pid))
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`VmHWM:\s+(\d+) kB`).FindSubmatch(text)
	if m == nil {
		t.Fatalf("no VmHWM in %s", text)
	}
	kib, err := strconv.ParseInt(string(m[1]), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d MiB", kib>>10)
	return kib << 10
}
