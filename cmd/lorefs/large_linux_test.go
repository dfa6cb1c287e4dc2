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
	"strings"
	"testing"

	"lorefs/cmd/internal/mounted"
	"lorefs/cmd/internal/options"
	"lorefs/internal/testneeds"
)

// A tenth of the large tree is 4,300,000.
var largeWalk = flag.Int("entries", 1_200_000, "entries of the large tree that are walked through a mount")

// TestWalkOfLargeTree walks a part of a real data center through a mount. The process must
// not keep data for each node that the kernel knows, which would be 450 bytes each: 515 MiB.
func TestWalkOfLargeTree(t *testing.T) {
	testneeds.Slow(t, "walks a million entries")
	testneeds.FUSE(t)
	path := testneeds.Fixture(t, "datacenter/p100_x64.dat")
	ownFolders(t)
	mnt := mountFile(t, path)
	if n := findSome(t, filepath.Join(mnt, "tree"), *largeWalk); n < *largeWalk {
		t.Errorf("find ended after %d entries", n)
	}
	const most = options.DefaultCacheSize + 192<<20
	if peak := peakMemory(t, mnt); peak > most {
		t.Errorf("at most %d MiB resident, want %d", peak>>20, most>>20)
	}
}

// TestWholeSaveCollectsLittle saves the largest data center as a whole in a mount. The collector
// has to find room for what that needs: below it, it would look for garbage without end.
func TestWholeSaveCollectsLittle(t *testing.T) {
	testneeds.Slow(t, "packs a large file")
	testneeds.FUSE(t)
	data, err := os.ReadFile(testneeds.Fixture(t, "datacenter/p100_x64.dat"))
	if err != nil {
		t.Fatal(err)
	}
	ownFolders(t)
	c := &crash{t: t, crashed: &crashedDataCenter{}, path: filepath.Join(t.TempDir(), "a.dat"), mnt: t.TempDir()}
	if err := os.WriteFile(c.path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GODEBUG", "gctrace=1") // prints a line for each collection
	mount := c.mount()
	if err := os.WriteFile(filepath.Join(c.mnt, "tree/ItemData/Item/buyPrice"), []byte("31\n"), 0); err != nil {
		t.Fatal(err)
	}
	save := launch(t, "lorefs", "commit", "--repack", c.mnt)
	if err := save.wait(); err != nil {
		t.Errorf("%v: %s", err, save.output.String())
	}
	const most = 600 << 20
	peak := peakMemory(t, c.mnt)
	if err := launch(t, "lorefs", "unmount", c.mnt).wait(); err != nil {
		t.Error(err)
	}
	if err := mount.wait(); err != nil {
		t.Error(err)
	}
	collections := strings.Count("\n"+mount.output.String(), "\ngc ")
	t.Logf("%d collections, at most %d MiB resident", collections, peak>>20)
	if collections == 0 || collections > 60 {
		t.Errorf("%d collections, want at most 60", collections)
	}
	if peak > most {
		t.Errorf("at most %d MiB resident, want %d", peak>>20, most>>20)
	}
}

// findSome counts the lines that find prints, and ends it after enough.
func findSome(t testing.TB, dir string, enough int) (n int) {
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
	_ = c.Process.Kill() // it may have ended already
	_ = c.Wait()
	return n
}

// peakMemory returns the peak memory of the process behind a mount.
func peakMemory(t *testing.T, mnt string) int64 {
	t.Helper()
	return peakOf(t, runTool(t, "", "lorefs", "status", "--json", mnt))
}

// peakOf is peakMemory for a status.
func peakOf(t testing.TB, status string) int64 {
	t.Helper()
	var s struct{ Pid int }
	if err := json.Unmarshal([]byte(status), &s); err != nil {
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

// readSeconds is how long many readers are at work.
var readSeconds = flag.Int("readseconds", 5, "how long 32 processes read a real data center through a mount")

// TestManyReadersOfSmallCache checks that many readers of a small cache get no errors, and
// that the memory for them is bounded.
func TestManyReadersOfSmallCache(t *testing.T) {
	testneeds.Slow(t, "reads for some seconds")
	testneeds.FUSE(t)
	path := testneeds.Fixture(t, "datacenter/p100_x64.dat")
	ownFolders(t)
	const cache, readers = 32 << 20, 32
	mnt := t.TempDir()
	t.Cleanup(func() { detachBelow(filepath.Dir(mnt)) })
	mount := func() { runTool(t, "", "lorefs", "mount", "--cache-size", strconv.Itoa(cache), path, mnt) }
	mount()
	const most = cache + 160<<20
	if peak := peakMemory(t, mnt); peak > most {
		t.Errorf("at most %d MiB resident while the index is made, want %d", peak>>20, most>>20)
	}
	runTool(t, "", "lorefs", "unmount", mnt)
	mount()
	script := fmt.Sprintf("files=$(ls | shuf); echo \"$files\" | timeout -s INT %d xargs -n 1 -P %d cat > /dev/null", *readSeconds, readers)
	c := exec.CommandContext(t.Context(), "sh", "-c", script)
	c.Dir = filepath.Join(mnt, "sheets", "SkillData") // the largest
	if out, err := c.CombinedOutput(); err != nil || len(out) > 0 {
		t.Logf("the readers: %v: %s", err, out) // the signal ends most of them
	}
	if peak := peakMemory(t, mnt); peak > most {
		t.Errorf("at most %d MiB resident, want %d", peak>>20, most>>20)
	}
	var s mounted.Status
	if err := json.Unmarshal([]byte(runTool(t, "", "lorefs", "status", "--json", mnt)), &s); err != nil {
		t.Fatal(err)
	}
	if s.Errors != 0 || len(s.LastErrors) != 0 || s.Requests.Reads == 0 {
		t.Errorf("%d reads, %d errors: %+v", s.Requests.Reads, s.Errors, s.LastErrors)
	}
	runTool(t, "", "lorefs", "unmount", mnt)
}
