package main

import (
	iofs "io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hanwen/go-fuse/v2/posixtest"

	"lorefs/cmd/internal/sample"
	"lorefs/internal/testneeds"
	"lorefs/nodes"
)

// mountEditable copies a file to a new folder and mounts it there for edits.
func mountEditable(t *testing.T, from string) (path, mnt string) {
	t.Helper()
	data, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	path, mnt = filepath.Join(t.TempDir(), "a.dat"), t.TempDir()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	runTool(t, "", "lorefs", "mount", "--rw", path, mnt)
	t.Cleanup(func() { detachBelow(filepath.Dir(mnt)) })
	return path, mnt
}

// toolEdits is what TestEditing edits, as paths below tree/: sheets of several kinds, and
// the nodes and attributes in them that its script names.
type toolEdits struct {
	*part
	env []string
}

// TestEditing edits some sheets of a mount with ordinary tools, and the same sheets in a
// plain folder. A new mount must then be equal to that folder, and everything else must be
// as before.
func TestEditing(t *testing.T) {
	testneeds.FUSE(t)
	for _, name := range []string{"vim", "rsync", "python3", "perl"} {
		testneeds.Program(t, name)
	}
	from := testneeds.Fixture(t, smallX64)
	ownFolders(t)
	testneeds.Slow(t, "edits and compares two times 100,000 files")
	e := &toolEdits{part: openPart(t, from, 1<<40)}
	e.choose(t)
	path, mnt := mountEditable(t, from)
	model := t.TempDir()
	runTool(t, filepath.Join(mnt, "tree"), "cp", append([]string{"-a"}, e.with("-t", model)...)...)
	for _, dir := range []string{filepath.Join(mnt, "tree"), model} {
		e.script(t, dir)
	}
	if out := runTool(t, "", "lorefs", "unmount", mnt); !strings.HasPrefix(out, "saved ") {
		t.Errorf("unmount says %q", out)
	}
	if out, err := exec.CommandContext(t.Context(), "lorefs", "verify", "--strict", path).CombinedOutput(); err != nil {
		t.Errorf("verify: %v\n%s", err, out)
	}
	again := mountFile(t, path)
	sheets, err := os.ReadDir(model)
	if err != nil {
		t.Fatal(err)
	}
	for _, sheet := range sheets {
		runTool(t, "", "diff", "-r", filepath.Join(model, sheet.Name()), filepath.Join(again, "tree", sheet.Name()))
	}
	e.compareOthers(t, openPart(t, path, 1<<40), sheets)
}

// script runs the edits in a folder of sheets.
func (e *toolEdits) script(t *testing.T, dir string) {
	t.Helper()
	script, err := filepath.Abs("testdata/editing.sh")
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), "sh", "-eu", script)
	c.Dir = dir
	c.Env = append(os.Environ(), append(e.env, "TMP="+t.TempDir())...)
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("in %s: %v\n%s", dir, err, out)
	}
}

// choose selects some sheets, and finds what the script needs in them.
func (e *toolEdits) choose(t *testing.T) {
	t.Helper()
	e.chooseSheets(t)
	keys := map[string]bool{}
	for _, def := range dataCenterFile(t, e.Source).KeyDefinitions() {
		for _, key := range def {
			keys[key] = true // changing one changes the order
		}
	}
	found := map[string]string{}
	for w, err := range e.all(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Base(w.Path)
		if w.Kind != nodes.File || keys[name] || strings.Count(w.Path, "/") < 2 {
			continue
		}
		kind, err := e.Tree.(nodes.Xattrer).Xattr(t.Context(), w.ID, "user.lorefs.type")
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"int", "string", "string2", "string3", "float"} {
			if found[want] == "" && strings.HasPrefix(want, string(kind)) && w.Size > 1 && e.alone(found, w.Path) {
				found[want] = w.Path
				break
			}
		}
	}
	var names []string
	for name := range keys {
		names = append(names, name)
	}
	e.env = []string{
		"KEYS=" + strings.Join(names, " "), "SHEETS=" + strings.Join(e.names, " "),
		"INT=" + found["int"], "STR=" + found["string"], "STR2=" + found["string2"], "STR3=" + found["string3"],
		"FLOAT=" + found["float"], "COPIED=" + e.names[0], "SYNCED=" + e.names[1], "REMOVED=" + e.names[2],
	}
	t.Log(e.env)
	for _, v := range e.env {
		if strings.HasSuffix(v, "=") {
			t.Fatalf("nothing was found for %s among %v", v, e.names)
		}
	}
}

// chooseSheets selects sheets whose names are unique, so that none gets another number, and
// that are neither tiny nor large.
func (e *toolEdits) chooseSheets(t *testing.T) {
	t.Helper()
	const least, most, enough = 30, 8_000, 30_000
	var names []string
	total := 0
	for _, name := range e.names {
		_, err := e.Find(t.Context(), "tree/"+name+".1")
		if strings.Contains(name, ".") || err == nil || total > enough {
			continue
		}
		one := &part{Source: e.Source, names: []string{name}}
		entries := 0
		for _, err := range one.all(t.Context()) {
			if entries++; err != nil || entries > most {
				break
			}
		}
		if entries >= least && entries <= most {
			names = append(names, name)
			total += entries
		}
	}
	e.names = names
}

// alone reports whether an edit is apart from all others.
func (e *toolEdits) alone(found map[string]string, path string) bool {
	sheet, _, _ := strings.Cut(path, "/")
	if slices.Contains(e.names[:3], sheet) {
		return false
	}
	for _, p := range found {
		if filepath.Dir(p) == filepath.Dir(path) {
			return false
		}
	}
	return true
}

// compareOthers compares all sheets but the edited ones.
func (e *toolEdits) compareOthers(t *testing.T, now *part, edited []iofs.DirEntry) {
	t.Helper()
	before := openPart(t, testneeds.Fixture(t, smallX64), 1<<40)
	for _, p := range []*part{before, now} {
		p.names = slices.DeleteFunc(p.names, func(name string) bool {
			return slices.ContainsFunc(edited, func(d iofs.DirEntry) bool { return d.Name() == name }) || slices.Contains(e.names, name)
		})
	}
	wantSame(t, before, now)
}

// notPosix are the checks of go-fuse's suite that don't apply, and why.
var notPosix = map[string]string{
	"Fallocate":           "room can't be reserved",
	"FallocateKeepSize":   "room can't be reserved",
	"FcntlFlockLocksFile": "the kernel keeps the locks, and does not lock a process out by its own",
	"FileBasic":           "modes can't be set",
	"FstatDeleted":        "its files hold NULs, which no value does",
	"FileLarge":           "a value has a megabyte of characters at most",
	"Link":                "there are no hard links",
	"LinkUnlinkRename":    "there are no hard links",
	"OpenSymlinkRace":     "there are no symbolic links",
	"SetattrSymlink":      "there are no symbolic links",
	"SymlinkReadlink":     "there are no symbolic links",
	"XAttr":               "nothing but types, keys and flags can be set",
	"XAttrLarge":          "nothing but types, keys and flags can be set",
}

// TestPosix runs go-fuse's suite in a node of a data center. The checks run one after the
// other: their files are not closed on exec, so a mount that another check starts would keep
// them open.
func TestPosix(t *testing.T) {
	testneeds.Slow(t, "package fs tries the same calls")
	testneeds.FUSE(t)
	ownFolders(t)
	for name, check := range posixtest.All {
		t.Run(name, func(t *testing.T) {
			if why, ok := notPosix[name]; ok {
				t.Skip("does not apply:", why)
			}
			_, mnt := mountEditable(t, madeSampleFile(t, sample.DataCenterName))
			dir := filepath.Join(mnt, "tree", "ItemData", "Item", "Posix")
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			// Also behind a check that skips itself: the folder goes with the test.
			defer runTool(t, "", "lorefs", "unmount", mnt)
			check(t, dir)
		})
	}
	for name := range notPosix {
		if posixtest.All[name] == nil {
			t.Errorf("there is no test %s any more", name)
		}
	}
}
