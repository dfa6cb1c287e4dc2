package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/andybalholm/brotli"

	"lorefs/cmd/internal/cli"
	"lorefs/geometry"
	"lorefs/geometry/geomtest"
	"lorefs/internal/testneeds"
)

// TestWorldFixtures checks, by another program in another language, that the mount of files
// which others packed shows what their descriptions say.
func TestWorldFixtures(t *testing.T) {
	testneeds.Slow(t, "some 30 seconds of another program")
	testneeds.FUSE(t)
	testneeds.Program(t, "python3")
	ownFolders(t)
	dir := filepath.Dir(testneeds.Fixture(t, "world/x1002y1006.zgd"))
	mnt := mountFile(t, dir)
	runTool(t, "testdata", "python3", "world.py", "values", mnt, dir, "x0037y0053.zgd", "x1002y1007.zgd", "gap_p.apd", "vk_dq_sd_03_p.apd")
	runTool(t, "testdata", "python3", "world.py", "all", mnt, dir, "x1002y1006.zgd", "single_zone_p.apd")
}

// TestWorldRepacked checks that a file which is packed from the JSON in a mount decompresses
// to the same bytes.
func TestWorldRepacked(t *testing.T) {
	testneeds.Slow(t, "it packs whole zones")
	testneeds.FUSE(t)
	ownFolders(t)
	dir := filepath.Dir(testneeds.Fixture(t, "world/x1002y1006.zgd"))
	mnt, packed := mountFile(t, dir), t.TempDir()
	runTool(t, "", "lorefs", "pack", "--quality", "1", mnt, packed)
	for _, name := range []string{
		"x0037y0053.zgd", "x1002y1006.zgd", "x1002y1007.zgd", "gap_p.apd", "single_zone_p.apd", "vk_dq_sd_03_p.apd",
	} {
		text, err := os.ReadFile(filepath.Join(dir, name+".expected.json"))
		var want struct{ RawSha256 string }
		if err = errors.Join(err, json.Unmarshal(text, &want)); err != nil {
			t.Fatal(err)
		}
		if got := decompressedSum(t, filepath.Join(packed, name)); got != want.RawSha256 {
			t.Errorf("%s: decompressed it has SHA-256 %s, want %s", name, got, want.RawSha256)
		}
	}
}

func decompressedSum(t *testing.T, path string) string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, brotli.NewReader(f)); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// brokenWorld writes a folder with every possible mistake, a valid zone and a valid area. It
// returns the errors by file names.
func brokenWorld(t *testing.T) (dir string, want map[string]string) {
	t.Helper()
	dir, want = t.TempDir(), map[string]string{}
	write := func(name string, data []byte) {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for i, b := range geomtest.BrokenZones() {
		name := fmt.Sprintf("x0001y%04d.zgd", i)
		write(name, b.File)
		want[name] = b.Want
	}
	for i, b := range geomtest.BrokenAreas() {
		name := fmt.Sprintf("broken%02d.apd", i)
		write(name, b.File)
		want[name] = b.Want
	}
	write("x0002y0002.zgd", geomtest.ZoneFile(geomtest.Empty))
	write("good.apd", geomtest.Paths(geometry.DefaultOrigin, geometry.DefaultOrigin).File())
	return dir, want
}

// TestBrokenWorld checks that every bad file causes one error, which says what is wrong and
// where, and that the other files are shown.
func TestBrokenWorld(t *testing.T) {
	testneeds.Seconds(t)
	testneeds.Alone(t)
	t.Parallel()
	testneeds.FUSE(t)
	dir, want := brokenWorld(t)
	var info struct {
		Bad []struct{ File, Error string }
	}
	text, err := exec.CommandContext(t.Context(), "lorefs", "info", "--json", dir).Output() // it also prints warnings
	if err = errors.Join(err, json.Unmarshal(text, &info)); err != nil {
		t.Fatal(err)
	}
	if len(info.Bad) != len(want) {
		t.Errorf("%d files are bad, want %d", len(info.Bad), len(want))
	}
	for _, b := range info.Bad {
		// Only the beginning is compared, since Brotli's messages are its own.
		if !strings.HasPrefix(b.Error, b.File+": "+want[b.File]) || want[b.File] == "" {
			t.Errorf("%s: %q, want %q", b.File, b.Error, want[b.File])
		}
	}
	found, err := exec.CommandContext(t.Context(), "lorefs", "verify", dir).Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != cli.ExitFailure || strings.Count(string(found), "\n") != len(want) {
		t.Errorf("verify: %v: %s", err, found)
	}
	mnt := mountFile(t, dir)
	for name := range want {
		for _, path := range shownOf(name) {
			if _, err := os.ReadFile(filepath.Join(mnt, path)); !errors.Is(err, syscall.EIO) {
				t.Errorf("%s: %v, want EIO", path, err)
			}
		}
	}
	for _, name := range []string{"x0002y0002.zgd", "good.apd"} {
		for _, path := range shownOf(name) {
			if b, err := os.ReadFile(filepath.Join(mnt, path)); err != nil || len(b) == 0 {
				t.Errorf("%s: %d bytes, %v", path, len(b), err)
			}
		}
	}
}

// shownOf returns some paths of what is shown of a file.
func shownOf(file string) []string {
	name, area := strings.CutSuffix(file, ".apd")
	if area {
		return []string{"areas/" + name + ".json", "areas/" + name + ".geojson", "meshes/" + name + ".obj", "statistics/areas/" + name + ".json"}
	}
	name = strings.TrimSuffix(file, ".zgd")
	return []string{
		"zones/" + name + ".json", "squares/" + name + "/000-000.json", "heightmaps/" + name + ".png",
		"heightmaps/" + name + ".preview.png", "statistics/zones/" + name + ".json",
	}
}
