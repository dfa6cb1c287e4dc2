package main

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"lorefs/cmd/internal/cli"
	"lorefs/cmd/internal/sample"
	"lorefs/internal/testneeds"
)

const (
	// applyKillsVar sets how often TestKilledApply kills.
	applyKillsVar = "LOREFS_APPLY_KILLS"
)

// killedApply is a data center to which a patch is applied by processes that die.
type killedApply struct {
	t                          *testing.T
	path, before, after, patch string
	old                        []byte
	// left counts the journals that a kill left, and done the runs that had replaced the file.
	left, done int
}

// TestKilledApply kills apply at random moments, or interrupts it. The file is the old one or
// has all of the patch; if a journal is left it has all of the patch, and apply says how to
// go on.
func TestKilledApply(t *testing.T) {
	testneeds.Slow(t, "kills many processes")
	ownFolders(t)
	t.Setenv("GORACE", "atexit_sleep_ms=0") // otherwise each command takes a second with -race
	dir := t.TempDir()
	k := &killedApply{t: t, path: filepath.Join(t.TempDir(), "a.dat")}
	k.before, k.after, k.patch = filepath.Join(dir, "before.dat"), filepath.Join(dir, "after.dat"), filepath.Join(dir, "mod.lorepatch")
	var err error
	if k.old, err = os.ReadFile(madeSampleFile(t, sample.DataCenterName)); err != nil {
		t.Fatal(err)
	}
	k.put(k.before)
	k.makePatch(filepath.Join(dir, "sheets"))
	began := time.Now()
	k.runs(cli.ExitOK, "apply", "--out", k.after, k.before, k.patch)
	longest := 2 * time.Since(began)
	for kill := range int(fromEnvironment(t, applyKillsVar, int64(testneeds.Cases(5, 50, 300)))) {
		k.round(kill%4 == 0, longest)
	}
	t.Logf("%d kills left a journal, %d came when the file was replaced", k.left, k.done)
}

func (k *killedApply) put(path string) {
	k.t.Helper()
	if err := os.WriteFile(path, k.old, 0o600); err != nil {
		k.t.Fatal(err)
	}
}

// makePatch makes a patch of many changes.
func (k *killedApply) makePatch(sheets string) {
	k.t.Helper()
	runTool(k.t, "", "sh", "-c", "lorefs export "+k.before+" "+sheets+" 2>/dev/null")
	runTool(k.t, "", "sh", "-c", "sed -i -e 's/rareGrade=\"common\"/rareGrade=\"odd\"/' -e '/id=\"1105\"/d' "+sheets+"/ItemData/*.xml")
	text := k.runs(cli.ExitFailure, "diff", "--patch", k.before, sheets)
	if err := os.WriteFile(k.patch, []byte(text), 0o600); err != nil {
		k.t.Fatal(err)
	}
}

// runs runs the program, which must exit with a code, and returns its output.
func (k *killedApply) runs(code int, args ...string) string {
	k.t.Helper()
	c := exec.CommandContext(k.t.Context(), "lorefs", args...)
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	if err := c.Run(); err != nil {
		if _, ok := errors.AsType[*exec.ExitError](err); !ok {
			k.t.Fatal(err)
		}
	}
	if got := c.ProcessState.ExitCode(); got != code {
		k.t.Fatalf("lorefs %s: exit code %d, want %d: %.500s", strings.Join(args, " "), got, code, out.String())
	}
	return out.String()
}

// equals reports whether the file has the content of another one.
func (k *killedApply) equals(other string) bool {
	k.t.Helper()
	return exec.CommandContext(k.t.Context(), "lorefs", "diff", k.path, other).Run() == nil
}

// round kills an apply, and goes on as it says.
func (k *killedApply) round(interrupt bool, longest time.Duration) {
	k.t.Helper()
	k.put(k.path)
	p := launch(k.t, "lorefs", "apply", k.path, k.patch)
	time.Sleep(rand.N(longest))
	signal := syscall.SIGKILL
	if interrupt {
		signal = syscall.SIGINT
	}
	_ = p.cmd.Process.Signal(signal) // it may have ended
	_ = p.wait()
	replaced := k.equals(k.after)
	if replaced {
		k.done++
	} else if !k.equals(k.before) {
		k.t.Fatalf("the file is neither the old one nor the new one: %s", p.output.String())
	}
	unsaved := strings.Contains(k.runs(cli.ExitOK, "journal", "list"), "not saved yet")
	switch {
	case unsaved && interrupt:
		k.t.Errorf("an interrupt leaves a journal: %s", p.output.String())
	case unsaved:
		k.left++
		if said := k.runs(cli.ExitUnsaved, "apply", k.path, k.patch); !strings.Contains(said, "lorefs journal replay "+k.path) {
			k.t.Errorf("it says %s", said)
		}
		k.runs(cli.ExitOK, "journal", "replay", k.path)
	default:
		k.runs(cli.ExitOK, "apply", k.path, k.patch)
	}
	if !k.equals(k.after) {
		k.t.Errorf("the patch is lost: %s", p.output.String())
	}
	k.runs(cli.ExitOK, "apply", k.path, k.patch)
	if list := k.runs(cli.ExitOK, "journal", "list"); list != "" {
		k.t.Errorf("what is left is %s", list)
	}
}
