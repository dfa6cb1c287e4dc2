package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lorefs/datacenter/diff"
	"lorefs/internal/testneeds"
)

// TestSheetSums checks every sheet in a mount by sha256sum, with the sums of novadrop-dc's
// output.
func TestSheetSums(t *testing.T) {
	testneeds.FUSE(t)
	for _, tt := range []struct{ file, sums string }{
		{smallX64, "datacenter/p115_small.novadrop.sha256"},
		{"datacenter/p100_x64.dat", "datacenter/p100.novadrop.sha256"},
	} {
		t.Run(filepath.Base(tt.file), func(t *testing.T) {
			path, sums := testneeds.Fixture(t, tt.file), testneeds.Fixture(t, tt.sums)
			testneeds.Slow(t, "reads up to 900 MB")
			ownFolders(t)
			mnt := filepath.Join(mountFile(t, path), "sheets")
			runTool(t, mnt, "sha256sum", "--check", "--strict", "--quiet", sums)
			list, err := os.ReadFile(sums)
			if err != nil {
				t.Fatal(err)
			}
			there := strings.Count(runTool(t, mnt, "find", ".", "-name", "*.xml"), "\n")
			if listed := bytes.Count(list, []byte("\n")); there != listed {
				t.Errorf("%d sheets, %d are in the list", there, listed)
			}
		})
	}
}

// TestSheetsRoundTrip exports every sheet of the large file, packs them, and checks that
// nothing differs.
func TestSheetsRoundTrip(t *testing.T) {
	path := testneeds.Fixture(t, "datacenter/p100_x64.dat")
	testneeds.Slow(t, "packs 10 million nodes")
	ownFolders(t)
	dir := t.TempDir()
	packed := filepath.Join(dir, "packed.dat")
	for _, args := range [][]string{
		{"export", path, "sheets"}, {"pack", "--strict", "sheets", packed}, {"diff", path, packed}, {"verify", packed},
	} {
		runLorefs(t, dir, args...)
	}
}

// TestPackOfSkewedSchemas packs sheets with schemas of another version. By these alone,
// 1,102 values get another type than in the original file, and by that file none.
func TestPackOfSkewedSchemas(t *testing.T) {
	path, skewed := testneeds.Fixture(t, "datacenter/p100_x64.dat"), testneeds.Fixture(t, "datacenter/skewed-schemas")
	testneeds.Slow(t, "compares with a large file")
	ownFolders(t)
	packed := filepath.Join(t.TempDir(), "packed.dat")
	for _, tt := range []struct {
		like []string
		want int
	}{{nil, 1102}, {[]string{"--all", "--like", path}, 0}} {
		runLorefs(t, "", append(append([]string{"pack"}, tt.like...), skewed, packed)...)
		if n := changedValues(t, path, packed); n != tt.want {
			t.Errorf("pack %v: %d values differ, want %d", tt.like, n, tt.want)
		}
	}
}

// changedValues counts the differences between two data centers in those sheets that part
// has.
func changedValues(t *testing.T, of, part string) (n int) {
	t.Helper()
	c := exec.CommandContext(t.Context(), "lorefs", "diff", "--json", of, part)
	out, err := c.Output()
	if code := c.ProcessState.ExitCode(); code != 1 {
		t.Fatalf("diff ends with %d: %v", code, err)
	}
	sheetsRemoved := 0
	for line := range bytes.Lines(out) {
		var d struct{ Kind, Path string }
		if err := json.Unmarshal(line, &d); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if d.Kind == "node_removed" && !strings.Contains(d.Path, "/") {
			sheetsRemoved++
			continue
		}
		n++
	}
	if want := 23_510 - 13; sheetsRemoved != want {
		t.Errorf("%d sheets are not there, want %d", sheetsRemoved, want)
	}
	return n
}

// runLorefs runs the program in a folder, and ignores its output.
func runLorefs(t *testing.T, dir string, args ...string) {
	t.Helper()
	c := exec.CommandContext(t.Context(), "lorefs", args...)
	c.Dir = dir
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v: %.1000s", args, err, out)
	}
}

// TestLanguages copies the strings of five languages into a data center by rsync, one after
// another. Each time all strings must be of that language, and nothing else may change.
func TestLanguages(t *testing.T) {
	testneeds.FUSE(t)
	testneeds.Program(t, "rsync")
	from := testneeds.Fixture(t, smallX64)
	testneeds.Slow(t, "writes 14 sheets five times")
	ownFolders(t)
	path, mnt := mountEditable(t, from)
	mine := t.TempDir()
	folders, err := filepath.Glob(filepath.Join(mnt, "sheets", "StrSheet_*"))
	if err != nil || len(folders) == 0 {
		t.Fatalf("%d folders of strings: %v", len(folders), err)
	}
	runTool(t, "", "rsync", append(append([]string{"-a"}, folders...), mine)...)
	languages := []string{"de", "fr", "ru", "ja", "ko"}
	for i, language := range languages {
		at := time.Now().Truncate(time.Second).Add(time.Duration(i) * time.Minute)
		changed := translate(t, mine, languages[max(i-1, 0)], language, at)
		runTool(t, "", "rsync", "-a", mine+"/", filepath.Join(mnt, "sheets"))
		runTool(t, "", "lorefs", "commit", mnt)
		if n := differences(t, from, path, language); n != changed {
			t.Errorf("%s: %d strings of the data center differ, %d were changed", language, n, changed)
		}
	}
	runTool(t, "", "lorefs", "unmount", mnt)
	runLorefs(t, "", "verify", path)
}

// translate marks each string of the sheets as one of a language, in place of the mark
// before. The sheets get the time at: rsync leaves out a file whose size and second are the
// same, and five languages can be written within one second.
func translate(t *testing.T, dir, before, language string, at time.Time) (changed int) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*", "*.xml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		plain := bytes.ReplaceAll(text, mark(before), []byte(` string="`))
		changed += bytes.Count(plain, []byte(` string="`))
		if err := os.WriteFile(file, bytes.ReplaceAll(plain, []byte(` string="`), mark(language)), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(file, at, at); err != nil {
			t.Fatal(err)
		}
	}
	return changed
}

func mark(language string) []byte { return fmt.Appendf(nil, ` string="[%s] `, language) }

// differences counts the differences between two data centers, which must all be in marked
// strings.
func differences(t *testing.T, a, b, language string) (n int) {
	t.Helper()
	c := exec.CommandContext(t.Context(), "lorefs", "diff", "--json", a, b)
	out, err := c.Output()
	if code := c.ProcessState.ExitCode(); code != 1 {
		t.Fatalf("diff ends with %d: %v", code, err)
	}
	for line := range bytes.Lines(out) {
		var d struct {
			Path     string
			Old, New diff.Value
		}
		if err := json.Unmarshal(line, &d); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if d.Old.Type != "string" || d.New != (diff.Value{Type: "string", Text: "[" + language + "] " + d.Old.Text}) {
			t.Errorf("%s: %+v has become %+v", d.Path, d.Old, d.New)
		}
		n++
	}
	return n
}
