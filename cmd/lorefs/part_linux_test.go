package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"lorefs/cmd/internal/cli"
	"lorefs/internal/testneeds"
)

// lorefsOutput runs the program in a folder, and returns what it prints and its exit code.
func lorefsOutput(t *testing.T, dir string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	var out, told bytes.Buffer
	c := exec.CommandContext(t.Context(), "lorefs", args...)
	c.Dir, c.Stdout, c.Stderr = dir, &out, &told
	if err := c.Run(); c.ProcessState == nil {
		t.Fatal(err)
	}
	return out.String(), told.String(), c.ProcessState.ExitCode()
}

// partOfReal exports the sheets NpcData of a real data center to dir/part, and changes a value in one.
func partOfReal(t *testing.T) (dir, source, sheet string) {
	t.Helper()
	source = testneeds.Fixture(t, smallX64)
	ownFolders(t)
	dir = t.TempDir()
	runLorefs(t, dir, "export", source, "part", "sheets/NpcData")
	sheet = "NpcData/NpcData-00000.xml"
	changed := filepath.Join(dir, "part", sheet)
	text, err := os.ReadFile(changed)
	if err != nil {
		t.Fatal(err)
	}
	at := regexp.MustCompile(` level="[0-9]+"`).FindIndex(text)
	if at == nil {
		t.Fatal("no NPC has a level")
	}
	text = append(append(bytes.Clone(text[:at[0]]), ` level="77"`...), text[at[1]:]...)
	if err := os.WriteFile(changed, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return dir, source, sheet
}

// TestPartOfReal changes a value in one kind of a real data center, by way of a folder with the sheets of this kind.
// All else stays.
func TestPartOfReal(t *testing.T) {
	testneeds.Seconds(t)
	dir, source, _ := partOfReal(t)
	made, told, code := lorefsOutput(t, dir, "diff", "--patch", source, "part")
	if code != 1 || !strings.Contains(told, "part has 1 of 68 kinds of sheets") {
		t.Errorf("diff --patch ends with %d, and says %q", code, told)
	}
	if strings.Count(made, "\n@ ") != 1 || strings.Contains(made, "\n@-") || len(made) > 1000 {
		t.Fatalf("the patch of one value has %d bytes: %.500s", len(made), made)
	}
	if err := os.WriteFile(filepath.Join(dir, "part.lp"), []byte(made), 0o600); err != nil {
		t.Fatal(err)
	}
	runLorefs(t, dir, "apply", "--out", "new.dat", source, "part.lp")
	differs, _, _ := lorefsOutput(t, dir, "diff", source, "new.dat")
	if strings.Count(differs, "\n") != 2 || !strings.HasSuffix(differs, "/level = int 77\n") {
		t.Errorf("these differ: %.500s", differs)
	}
}

// TestPackPartOfReal packs one kind of sheets of a real data center with the others of it. The file is the same as if
// all had been exported.
func TestPackPartOfReal(t *testing.T) {
	dir, source, sheet := partOfReal(t)
	testneeds.Slow(t, "packs 600,000 nodes twice")
	if _, told, code := lorefsOutput(t, dir, "pack", "part", "new.dat"); code != cli.ExitUsage || !strings.Contains(told, "part has 1 of the 68 kinds") {
		t.Errorf("pack of a part ends with %d: %s", code, told)
	}
	runLorefs(t, dir, "export", source, "full")
	runTool(t, dir, "cp", "part/"+sheet, "full/"+sheet)
	runLorefs(t, dir, "pack", "--like", source, "full", "full.dat")
	runLorefs(t, dir, "pack", "--like", source, "part", "new.dat")
	runTool(t, dir, "cmp", "new.dat", "full.dat")
}

// TestPartOfKilledExport kills an export while it writes. What it did not come to counts as never written.
func TestPartOfKilledExport(t *testing.T) {
	source := testneeds.Fixture(t, smallX64)
	ownFolders(t)
	for range 10 {
		dir := t.TempDir()
		c := exec.CommandContext(t.Context(), "lorefs", "export", source, dir)
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		for sheets := 0; sheets < 10; time.Sleep(time.Millisecond) {
			found, err := filepath.Glob(filepath.Join(dir, "*/*-*.xml"))
			if err != nil {
				t.Fatal(err)
			}
			sheets = len(found)
		}
		if err := c.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
			t.Fatal(err)
		}
		if c.Wait() == nil {
			continue // it was quicker
		}
		for _, broken := range unfinished(t, dir) {
			if err := os.Remove(broken); err != nil {
				t.Fatal(err)
			}
		}
		differs, told, code := lorefsOutput(t, "", "diff", source, dir)
		if code != 0 || !strings.Contains(told, "kinds of sheets") && !strings.Contains(told, "never were in") {
			t.Errorf("diff ends with %d, and says %q: %.500s", code, told, differs)
		}
		if _, told, code = lorefsOutput(t, dir, "pack", dir, "new.dat"); code != cli.ExitUsage {
			t.Errorf("pack ends with %d: %s", code, told)
		}
		return
	}
	t.Error("no export could be killed")
}

// unfinished returns the sheets that a killed export was writing: they do not end.
func unfinished(t *testing.T, dir string) (list []string) {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(dir, "*/*.x*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range all {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		last := text[bytes.LastIndexByte(bytes.TrimSuffix(text, []byte("\n")), '\n')+1:]
		if !bytes.HasPrefix(last, []byte("</")) && !bytes.HasSuffix(last, []byte("/>\n")) || !bytes.HasSuffix(last, []byte(">\n")) {
			list = append(list, file)
		}
	}
	return list
}
