package main

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"lorefs/datacenter/diff"
	"lorefs/internal/testneeds"
)

// TestSheetSums has sha256sum read every sheet through a mount. Those whose sum is of
// other bytes are listed with the reason in datacenter/sheets; here they have to be what is
// shown in the process, byte for byte.
func TestSheetSums(t *testing.T) {
	testneeds.FUSE(t)
	for _, tt := range []struct {
		file, sums  string
		same, other int
	}{
		{smallX64, "datacenter/p115_small.sheets.sha256", 595, 620},
		{"datacenter/p100_x64.dat", "datacenter/p100.sheets.sha256", 23_442, 68},
	} {
		t.Run(filepath.Base(tt.file), func(t *testing.T) {
			path, want := testneeds.Fixture(t, tt.file), readSums(t, tt.sums)
			if testing.Short() {
				t.Skip("reads up to 900 MB")
			}
			ownFolders(t)
			mnt := filepath.Join(mountFile(t, path), "sheets")
			p := openPart(t, path, 1)
			same, other := 0, 0
			out := runTool(t, mnt, "find", ".", "-name", "*.xml", "-exec", "sha256sum", "{}", "+")
			for line := range strings.Lines(out) {
				sum, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "  ./")
				switch was, listed := want[name]; {
				case !listed:
					t.Errorf("%s is not in the list", name)
				case sum == was:
					same++
				case sum == p.sum(t, "sheets/"+name):
					other++
				default:
					t.Errorf("%s is not what the process shows", name)
				}
				delete(want, name)
			}
			if same != tt.same || other != tt.other || len(want) > 0 {
				t.Errorf("%d are the same, %d have other bytes, %d are missing: want %d, %d, 0", same, other, len(want), tt.same, tt.other)
			}
		})
	}
}

// readSums reads a list of the fixtures, of lines SUM OUR-NAME THEIR-NAME.
func readSums(t *testing.T, file string) map[string]string {
	t.Helper()
	f, err := os.Open(testneeds.Fixture(t, file))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	sums := map[string]string{}
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		sums[fields[1]] = fields[0]
	}
	if err := lines.Err(); err != nil || len(sums) == 0 {
		t.Fatalf("%d sums: %v", len(sums), err)
	}
	return sums
}

// sum is that of a file as the process shows it.
func (p *part) sum(t *testing.T, path string) string {
	t.Helper()
	h := sha256.New()
	if err := p.cat(t.Context(), path, h); err != nil {
		t.Fatal(err)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// TestSheetsRoundTrip exports every sheet of the large file, packs them, and looks for what
// is otherwise.
func TestSheetsRoundTrip(t *testing.T) {
	path := testneeds.Fixture(t, "datacenter/p100_x64.dat")
	if testing.Short() {
		t.Skip("packs 10 million nodes")
	}
	ownFolders(t)
	dir := t.TempDir()
	packed := filepath.Join(dir, "packed.dat")
	for _, args := range [][]string{
		{"export", path, "sheets"}, {"pack", "sheets", packed}, {"diff", path, packed}, {"verify", packed},
	} {
		runLorefs(t, dir, args...)
	}
}

// runLorefs runs the program in a folder, whatever it says.
func runLorefs(t *testing.T, dir string, args ...string) {
	t.Helper()
	c := exec.CommandContext(t.Context(), "lorefs", args...)
	c.Dir = dir
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v: %.1000s", args, err, out)
	}
}

// TestLanguages puts the strings of five languages into a data center, one after another, as
// rsync brings them: each time all strings are those of the language, and nothing else
// has changed.
func TestLanguages(t *testing.T) {
	testneeds.FUSE(t)
	testneeds.Program(t, "rsync")
	from := testneeds.Fixture(t, smallX64)
	if testing.Short() {
		t.Skip("writes 14 sheets five times")
	}
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
		changed := translate(t, mine, languages[max(i-1, 0)], language)
		runTool(t, "", "rsync", "-a", mine+"/", filepath.Join(mnt, "sheets"))
		runTool(t, "", "lorefs", "commit", mnt)
		if n := differences(t, from, path, language); n != changed {
			t.Errorf("%s: %d strings of the data center differ, %d were changed", language, n, changed)
		}
	}
	runTool(t, "", "lorefs", "unmount", mnt)
	runLorefs(t, "", "verify", "--strict", path)
}

// translate marks each string of the sheets as one of a language, instead of the one
// that it was marked as before.
func translate(t *testing.T, dir, before, language string) (changed int) {
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
	}
	return changed
}

func mark(language string) []byte { return fmt.Appendf(nil, ` string="[%s] `, language) }

// differences counts how two data centers differ, which must be in strings that are marked.
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
