package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"lorefs/cmd/internal/kinds"
	"lorefs/cmd/internal/options"
	"lorefs/cmd/internal/sample"
	"lorefs/internal/testneeds"
)

// TestCommandsTakeMounts checks that each command that takes a source takes a mount of it as well,
// with what is edited there, and that each one that takes a mount takes its source.
func TestCommandsTakeMounts(t *testing.T) { //nolint:paralleltest // it catches what is printed
	testneeds.Seconds(t)
	testneeds.FUSE(t)
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(-1))
	dir := t.TempDir()
	if _, err := sample.Write(filepath.Join(dir, "s")); err != nil {
		t.Fatal(err)
	}
	writeText(t, filepath.Join(dir, "patch"), "lorefs-patch 1\n")
	runHere(t, "export", filepath.Join(dir, "s", sample.DataCenterName), filepath.Join(dir, "sheets"))
	for kind, name := range map[string]string{
		kinds.DataCenterName: sample.DataCenterName, kinds.WorldName: "world", kinds.CASCName: "game", kinds.PacketsName: "session.TeraLog",
		kinds.TablesName: "tables",
	} {
		source, mnt := filepath.Join(dir, "s", name), filepath.Join(dir, "mnt-"+kind)
		if err := os.Mkdir(mnt, 0o700); err != nil {
			t.Fatal(err)
		}
		args := []string{"-q", "mount", source, mnt}
		if slices.Contains(options.EditedKinds, kind) {
			args = append(args, "--rw")
		}
		t.Cleanup(func() { _ = exec.Command("lorefs", "unmount", "--discard", mnt).Run() }) // most often it is done
		runTool(t, "", "lorefs", args...)
		if kind == kinds.DataCenterName {
			writeText(t, filepath.Join(mnt, "tree/ItemData/Item/name"), "dagger")
		}
		unknown := regexp.MustCompile(`not a source|mounted nothing there|no journal|is a folder|unknown flag`)
		check := func(args []string) {
			if said := runHere(t, args...); unknown.MatchString(said) {
				t.Errorf("%s: %s", strings.Join(args, " "), said)
			}
		}
		for _, c := range commandsOfSources {
			switch c.args[0] {
			case "mount", "journal": // to which a mount point is something else
				continue
			}
			if c.kinds == nil || slices.Contains(c.kinds, kind) {
				check(c.argsFor(t, dir, mnt))
			}
		}
		if kind == kinds.DataCenterName {
			writeText(t, filepath.Join(mnt, "tree/ItemData/Item/name"), "dagger") // which was reverted
			check([]string{"journal", "show", mnt})
			if said := runHere(t, "query", mnt, "/ItemData/Item/@name"); !strings.Contains(said, "dagger") {
				t.Errorf("what is edited is not found: %s", said)
			}
		}
		if kind == kinds.PacketsName {
			if said := runHere(t, "decode", mnt); !strings.Contains(said, `{"number":0,`) {
				t.Errorf("the session is not decoded: %s", said)
			}
		}
		for _, command := range [][]string{{"status"}, {"commit"}, {"unmount", "--discard"}} {
			check(append(slices.Clone(command), source))
		}
		runTool(t, "", "sh", "-c", "! mountpoint -q "+mnt)
	}
}
