package main

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"lorefs/cmd/internal/cli"
	"lorefs/cmd/internal/mounted"
	"lorefs/internal/testneeds"
)

// TestSaveShown checks what a user sees of a save that takes seconds: a bar in a terminal,
// the status, and what an interrupted command and unmount --lazy say.
func TestSaveShown(t *testing.T) {
	testneeds.Slow(t, "saves a large file")
	testneeds.Program(t, "script")
	large := testneeds.Fixture(t, "datacenter/p100_x64.dat")
	x := newTrouble(t)
	var err error
	if x.original, err = os.ReadFile(large); err != nil {
		t.Fatal(err)
	}
	x.mount()

	// A terminal shows a bar for each stage.
	x.edit("first")
	commit := launch(t, "script", "-qec", "lorefs commit --repack "+x.mnt, os.DevNull)
	saving := x.awaitSaving()
	if saving.Stage != "writing" || saving.Done > saving.Total || time.Since(saving.Since) > patience {
		t.Errorf("the save is told as %+v", saving)
	}
	if out := x.lorefs(cli.ExitOK, "status", x.mnt); !regexp.MustCompile(`(?m)^saving +since \d\d:\d\d:\d\d, \d+ %, (writing|checking)$`).MatchString(out) {
		t.Errorf("the status during a save is %s", out)
	}
	if err := commit.wait(); err != nil {
		t.Fatalf("%v: %s", err, commit.output.String())
	}
	terminal := commit.output.String()
	for _, want := range []string{"writing", "checking", "saved 1 edit to ", "to go back: lorefs unmount --discard " + x.mnt + " && mv " + x.path + ".bak " + x.path} {
		x.says("commit in a terminal", terminal, want)
	}
	if now := x.status().Editing.Saving; now != nil {
		t.Errorf("after the save: %+v", now)
	}

	// Who is interrupted learns that the save goes on.
	x.edit("second")
	commit = launch(t, "lorefs", "commit", "--repack", x.mnt)
	x.awaitSaving()
	if err := commit.cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	_ = commit.wait()
	if code := commit.cmd.ProcessState.ExitCode(); code != cli.ExitInterrupted {
		t.Errorf("an interrupted commit exits with %d", code)
	}
	if got, want := commit.output.String(), "lorefs: interrupted (stopped waiting; the save goes on, lorefs status "+x.mnt+" shows it)\n"; got != want {
		t.Errorf("an interrupted commit says %q, want %q", got, want)
	}
	x.awaitSaving()
	await(t.Fatalf, "the end of the save", func() bool { return x.status().Editing.Saving == nil })
	x.holds("second")

	// The same at the end of a mount.
	x.edit("third")
	out := x.lorefs(cli.ExitOK, "unmount", "--lazy", "--repack", x.mnt)
	x.says("unmount --lazy", out, "1 edit of "+x.path+": the save begins once no program uses the mount\n")
	x.says("unmount --lazy", out, "lorefs status "+x.mnt+" shows how far the save is; afterwards lorefs journal list has what could not be saved\n")
	x.awaitSaving()
	unmount := launch(t, "lorefs", "unmount", x.mnt)
	if err := unmount.wait(); err != nil {
		t.Fatalf("%v: %s", err, unmount.output.String())
	}
	x.says("unmount during the save", unmount.output.String(), "to go back: mv "+x.path+".bak "+x.path+"\n")
	x.holds("third")
	runTool(t, "", "mv", x.path+".bak", x.path)
	x.holds("second")
}

// holds checks what the source holds.
func (x *trouble) holds(value string) {
	x.t.Helper()
	if got := x.lorefs(cli.ExitOK, "cat", x.path, "tree/"+troubledFile); got != value+"\n" {
		x.t.Errorf("the source holds %q, want %q", got, value)
	}
}

// awaitSaving returns the status of a save that runs.
func (x *trouble) awaitSaving() *mounted.SaveStatus {
	x.t.Helper()
	var s mounted.Status
	await(x.t.Fatalf, "a save", func() bool {
		ctx, cancel := context.WithTimeout(x.t.Context(), patience)
		defer cancel()
		out, err := exec.CommandContext(ctx, "lorefs", "status", "--json", x.mnt).Output()
		if err == nil {
			err = json.Unmarshal(out, &s)
		}
		return err == nil && s.Editing != nil && s.Editing.Saving != nil
	})
	return s.Editing.Saving
}

// TestProgressShown checks that commands that write or check a large file show a bar in a
// terminal, with the first stage. Later ones may be over before the bar is drawn again.
func TestProgressShown(t *testing.T) {
	testneeds.Slow(t, "writes large files")
	testneeds.Program(t, "script")
	source := testneeds.Fixture(t, "datacenter/p115_small_x64.dat")
	ownFolders(t)
	dir := t.TempDir()
	if export := launch(t, "lorefs", "export", source, filepath.Join(dir, "dir")); export.wait() != nil {
		t.Fatal(export.output.String())
	}
	for command, stage := range map[string]string{
		"repack " + source + " b.dat": "writing",
		"pack dir c.dat":              "writing",
		"verify " + source:            "checking",
	} {
		if out := runTool(t, dir, "script", "-qec", "lorefs "+command, os.DevNull); !strings.Contains(out, stage) {
			t.Errorf("%s shows no %s: %q", command, stage, out)
		}
	}
}
