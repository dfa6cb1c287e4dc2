package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"lorefs/cmd/internal/cli"
	"lorefs/cmd/internal/daemon"
	"lorefs/cmd/internal/mounted"
	"lorefs/cmd/internal/sample"
	"lorefs/internal/testneeds"
)

// The tests in this file take away the space, the rights or the source of a mount with
// edits. It must report the problem and keep the edits, so that they can be saved later.

// The file below tree/ that is edited.
const troubledFile = "ItemData/Item/name"

// trouble is a mount with an edit, in its own folders.
type trouble struct {
	t *testing.T
	// dir is the folder of the source, and state that of the journal.
	dir, state string
	path, mnt  string
	// original is the source before the edit.
	original []byte
}

func newTrouble(t *testing.T) *trouble {
	t.Helper()
	testneeds.FUSE(t)
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	x := &trouble{
		t: t, dir: filepath.Join(base, "source"), state: filepath.Join(base, "state"), mnt: filepath.Join(base, "mounts", "mnt"),
	}
	x.path = filepath.Join(x.dir, "a.dat")
	t.Setenv("XDG_CACHE_HOME", filepath.Join(base, "cache"))
	t.Setenv("XDG_STATE_HOME", x.state)
	t.Setenv("GORACE", "atexit_sleep_ms=0") // otherwise each command takes a second with -race
	for _, dir := range []string{x.dir, x.state, x.mnt} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if x.original, err = os.ReadFile(madeSampleFile(t, sample.DataCenterName)); err != nil {
		t.Fatal(err)
	}
	return x
}

// lorefs runs the program, which must exit with a code, and returns its output.
func (x *trouble) lorefs(code int, args ...string) string {
	x.t.Helper()
	c := exec.CommandContext(x.t.Context(), "lorefs", args...)
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	err := c.Run()
	if _, ok := errors.AsType[*exec.ExitError](err); err != nil && !ok {
		x.t.Fatal(err)
	}
	if got := c.ProcessState.ExitCode(); got != code {
		x.t.Fatalf("lorefs %s: exit code %d, want %d: %s", strings.Join(args, " "), got, code, out.String())
	}
	return out.String()
}

// tmpfs mounts a small disk on a folder until the end of the test.
func (x *trouble) tmpfs(dir string, size int) {
	x.t.Helper()
	if os.Geteuid() != 0 {
		x.t.Skip("only root can make a small disk")
	}
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%d,mode=0700", size)); err != nil {
		x.t.Skipf("a small disk can't be made here: %v", err)
	}
	x.t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			x.t.Error(err)
		}
	})
}

// remount changes the options of the disk on a folder.
func (x *trouble) remount(dir, data string, flags uintptr) {
	x.t.Helper()
	if err := syscall.Mount("", dir, "", syscall.MS_REMOUNT|flags, data); err != nil {
		x.t.Fatal(err)
	}
}

// mount writes the source and mounts it.
func (x *trouble) mount() {
	x.t.Helper()
	x.put(x.original)
	x.remountSource()
	x.t.Cleanup(func() { detachBelow(filepath.Dir(x.mnt)) })
}

func (x *trouble) remountSource() string {
	x.t.Helper()
	return x.lorefs(cli.ExitOK, "mount", "--rw", x.path, x.mnt)
}

func (x *trouble) put(data []byte) {
	x.t.Helper()
	if err := os.WriteFile(x.path, data, 0o600); err != nil {
		x.t.Fatal(err)
	}
}

func (x *trouble) file() string { return filepath.Join(x.mnt, "tree", troubledFile) }

func (x *trouble) edit(value string) {
	x.t.Helper()
	if err := os.WriteFile(x.file(), []byte(value+"\n"), 0); err != nil {
		x.t.Fatal(err)
	}
}

// want checks the content of a file in the mount.
func (x *trouble) want(value string) {
	x.t.Helper()
	if b, err := os.ReadFile(x.file()); err != nil || string(b) != value+"\n" {
		x.t.Errorf("%s holds %.40q, want %.40q: %v", troubledFile, b, value, err)
	}
}

// status returns the status of the mount.
func (x *trouble) status() mounted.Status {
	x.t.Helper()
	var s mounted.Status
	if err := json.Unmarshal([]byte(x.lorefs(cli.ExitOK, "status", "--json", x.mnt)), &s); err != nil {
		x.t.Fatal(err)
	}
	return s
}

// says checks that a text has another one in it.
func (x *trouble) says(where, got, want string) {
	x.t.Helper()
	if !strings.Contains(got, want) {
		x.t.Errorf("%s says %q, want %q in it", where, got, want)
	}
}

// fails checks that neither commit nor unmount saves, that both and status say why, and that
// the journal is kept and named.
func (x *trouble) fails(why string) {
	x.t.Helper()
	before, err := os.ReadFile(x.path)
	if err != nil {
		x.t.Fatal(err)
	}
	said := x.lorefs(cli.ExitUnsaved, "commit", x.mnt)
	x.says("commit", said, why)
	said, _, _ = strings.Cut(said, " (") // what is kept where stands behind it
	said, _, _ = strings.Cut(said, "; ")
	if strings.Count(said, filepath.Base(x.path)) != 1 {
		x.t.Errorf("commit names the file more than once: %q", said)
	}
	s := x.status()
	x.says("status", s.Editing.Problem, why)
	x.says("status", x.lorefs(cli.ExitOK, "status", x.mnt), why)
	if s.Editing.Pending == 0 || s.Editing.Journal == "" {
		x.t.Errorf("%+v", s.Editing)
	}
	out := x.lorefs(cli.ExitUnsaved, "unmount", x.mnt)
	x.says("unmount", out, why)
	x.says("unmount", out, "the edits are kept in "+s.Editing.Journal)
	if mounted, err := daemon.Mounted(x.mnt); err != nil || mounted {
		x.t.Errorf("it is mounted still: %v", err)
	}
	after, err := os.ReadFile(x.path)
	if err != nil || !bytes.Equal(before, after) {
		x.t.Errorf("the source has changed: %v", err)
	}
	if left, err := filepath.Glob(filepath.Join(x.dir, ".*")); err != nil || len(left) > 0 {
		x.t.Errorf("left behind: %v, %v", left, err)
	}
	x.says("journal list", x.lorefs(cli.ExitOK, "journal", "list"), s.Editing.Journal)
}

// heals checks that a new mount has the edits, and saves them at its end.
func (x *trouble) heals(value string) {
	x.t.Helper()
	x.says("mount", x.remountSource(), "edits of an earlier mount that were not saved are back")
	x.want(value)
	x.saves(value)
}

// saves unmounts, and checks that this saves.
func (x *trouble) saves(value string) {
	x.t.Helper()
	x.says("unmount", x.lorefs(cli.ExitOK, "unmount", x.mnt), "saved ")
	x.saved(value)
}

// saved checks that everything is saved, and nothing else is left.
func (x *trouble) saved(value string) {
	x.t.Helper()
	x.lorefs(cli.ExitOK, "verify", x.path)
	if got := x.lorefs(cli.ExitOK, "cat", x.path, "tree/"+troubledFile); got != value+"\n" {
		x.t.Errorf("the source holds %.40q, want %.40q", got, value)
	}
	if out := x.lorefs(cli.ExitOK, "journal", "list"); out != "" {
		x.t.Errorf("there is a journal still: %s", out)
	}
	if left, err := filepath.Glob(filepath.Join(x.dir, ".*")); err != nil || len(left) > 0 {
		x.t.Errorf("left behind: %v, %v", left, err)
	}
}

// long returns a value that does not compress well.
func long(chars int) string {
	r := rand.New(rand.NewPCG(3, 4))
	text := make([]rune, chars)
	for i := range text {
		text[i] = rune(0x4E00 + r.IntN(0x5000))
	}
	return string(text)
}

// roomOf returns the space that data takes on a small disk.
func roomOf(data []byte) int {
	page := os.Getpagesize()
	return (len(data)/page + 1) * page
}

// TestNoRoom checks a disk without space for a file of the old one's size.
func TestNoRoom(t *testing.T) {
	testneeds.Seconds(t)
	x := newTrouble(t)
	x.tmpfs(x.dir, roomOf(x.original)+16<<10)
	x.mount()
	x.edit("one")
	x.fails("bytes of room are missing")
	x.remount(x.dir, "size=1m", 0)
	x.heals("one")
}

// TestRoomRunsOut checks a disk whose space seems to be enough, but the new file is larger.
func TestRoomRunsOut(t *testing.T) {
	testneeds.Seconds(t)
	x := newTrouble(t)
	x.tmpfs(x.dir, 2*roomOf(x.original)+16<<10)
	x.mount()
	value := long(30_000)
	x.edit(value)
	x.fails("no space left on device")
	x.remount(x.dir, "size=2m", 0)
	x.heals(value)
}

// TestRoomComesBack checks that a save succeeds if there is space again during the mount.
func TestRoomComesBack(t *testing.T) {
	testneeds.Seconds(t)
	x := newTrouble(t)
	x.tmpfs(x.dir, roomOf(x.original)+16<<10)
	x.mount()
	x.edit("one")
	x.says("commit", x.lorefs(cli.ExitUnsaved, "commit", x.mnt), "make room, and lorefs commit saves them")
	x.edit("two")
	x.remount(x.dir, "size=1m", 0)
	x.says("commit", x.lorefs(cli.ExitOK, "commit", x.mnt), "saved 1 edit ")
	if s := x.status(); s.Editing.Problem != "" || s.Editing.Journal != "" || s.Editing.Pending != 0 {
		t.Errorf("%+v", s.Editing)
	}
	x.edit("three")
	x.saves("three")
}

// TestNoRoomForJournal checks that an edit for which the journal has no space is refused at
// once, and that everything else works.
func TestNoRoomForJournal(t *testing.T) {
	testneeds.Seconds(t)
	for _, after := range []string{"goes on", "unmount", "kill"} {
		t.Run(after, func(t *testing.T) {
			x := newTrouble(t)
			x.tmpfs(x.state, 64<<10)
			x.mount()
			x.edit("one")
			for range 2 {
				if err := os.WriteFile(x.file(), []byte(long(30_000)), 0); !errors.Is(err, syscall.ENOSPC) {
					t.Fatalf("an edit that the journal can't hold: %v", err)
				}
				x.want("one")
			}
			x.says("status", fmt.Sprint(x.status().LastErrors), "no space left on device")
			x.edit("two")
			switch after {
			case "goes on":
				x.remount(x.state, "size=1m", 0)
				value := long(30_000)
				x.edit(value)
				x.saves(value)
			case "unmount":
				x.saves("two")
			case "kill":
				x.kill()
				x.heals("two")
			}
		})
	}
}

// TestNoRoomForSheet checks that a sheet for which the journal has no space is not reported
// as a refused text, since it has no mistake.
func TestNoRoomForSheet(t *testing.T) {
	testneeds.Seconds(t)
	x := newTrouble(t)
	x.tmpfs(x.state, 128<<10)
	x.mount()
	x.edit("one")
	sheet := filepath.Join(x.mnt, "sheets", "ItemData", "ItemData-00000.xml")
	text, err := os.ReadFile(sheet)
	if err != nil {
		t.Fatal(err)
	}
	text = bytes.Replace(text, []byte(`name="sword`), []byte(`name="`+long(100_000)+`sword`), 1)
	if err := os.WriteFile(sheet, text, 0); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("a sheet that the journal can't hold: %v", err)
	}
	s := x.status()
	if e := s.Editing; len(e.Refused) != 0 || len(e.Failed) != 1 || e.Failed[0].Path != "sheets/ItemData/ItemData-00000.xml" {
		t.Errorf("refused %v, failed %v", e.Refused, e.Failed)
	}
	const why = "sheets/ItemData/ItemData-00000.xml: there is no space for the journal in "
	x.says("status", x.lorefs(cli.ExitOK, "status", x.mnt), why+filepath.Dir(s.Editing.Journal))
	out := x.lorefs(cli.ExitUnsaved, "commit", x.mnt)
	for _, want := range []string{"failed: " + why, "saved 1 edit to ", "1 text could not be taken and is not saved"} {
		x.says("commit", out, want)
	}
	if strings.Contains(out, "refused:") || strings.Contains(out, "was refused") {
		t.Errorf("commit says %s", out)
	}
	x.remount(x.state, "size=1m", 0)
	out = x.lorefs(cli.ExitUnsaved, "unmount", x.mnt)
	x.says("unmount", out, "failed: "+why)
	x.says("unmount", out, "kept in "+filepath.Join(x.state, "lorefs", "refused", "a.dat-"))
	kept, err := filepath.Glob(filepath.Join(x.state, "lorefs", "refused", "*", "sheets", "ItemData", "ItemData-00000.xml"))
	if err != nil || len(kept) != 1 {
		t.Fatalf("kept: %v, %v", kept, err)
	}
	if got, err := os.ReadFile(kept[0]); err != nil || !bytes.Equal(got, text) {
		t.Errorf("what is kept is another text: %v", err)
	}
}

// kill kills the process, and removes the mount.
func (x *trouble) kill() {
	x.t.Helper()
	pid := x.status().PID
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		x.t.Fatal(err)
	}
	await(x.t.Fatalf, "the end of the process", func() bool {
		_, _, err := mounted.Talk(x.mnt, daemon.Request{Do: daemon.Status}, nil)
		return errors.Is(err, daemon.ErrNone)
	})
	clearDead(x.t, x.mnt)
}

// TestFullStateFolder checks that edits are saved also if the state folder has no space
// left.
func TestFullStateFolder(t *testing.T) {
	testneeds.Seconds(t)
	x := newTrouble(t)
	x.tmpfs(x.state, 256<<10)
	x.mount()
	x.edit("one")
	fill, err := os.Create(filepath.Join(x.state, "fill"))
	if err != nil {
		t.Fatal(err)
	}
	defer fill.Close()
	for err == nil {
		_, err = fill.Write(make([]byte, 512))
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
	for i := 0; ; i++ { // fill the journal's last page
		value := fmt.Sprint("value ", i)
		if err = os.WriteFile(x.file(), []byte(value+"\n"), 0); err != nil {
			break
		}
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
	b, err := os.ReadFile(x.file())
	if err != nil {
		t.Fatal(err)
	}
	x.saves(strings.TrimSuffix(string(b), "\n"))
}

// TestReadOnlyFolder checks a source whose folder becomes read-only.
func TestReadOnlyFolder(t *testing.T) {
	testneeds.Seconds(t)
	x := newTrouble(t)
	x.tmpfs(x.dir, 1<<20)
	x.mount()
	x.edit("one")
	x.remount(x.dir, "", syscall.MS_RDONLY)
	x.fails("read-only file system")
	x.says("mount", x.lorefs(cli.ExitSource, "mount", "--rw", x.path, x.mnt), "can't be written to: read-only file system")
	x.remount(x.dir, "", 0)
	x.heals("one")
}

// TestReadOnlyStateFolder checks a state folder that is read-only, from the start or later.
func TestReadOnlyStateFolder(t *testing.T) {
	testneeds.Seconds(t)
	x := newTrouble(t)
	x.tmpfs(x.state, 1<<20)
	x.put(x.original)
	if err := os.MkdirAll(filepath.Join(x.state, "lorefs"), 0o700); err != nil {
		t.Fatal(err)
	}
	x.remount(x.state, "", syscall.MS_RDONLY)
	x.says("mount", x.lorefs(cli.ExitSource, "mount", "--rw", x.path, x.mnt), "read-only file system")
	x.remount(x.state, "", 0)
	x.mount()
	x.edit("one")
	// Open files keep their rights, so that only new files are refused.
	if err := syscall.Mount(x.state, x.state, "", syscall.MS_BIND, ""); err != nil {
		t.Skipf("a folder can't be mounted on itself here: %v", err)
	}
	x.remount(x.state, "", syscall.MS_BIND|syscall.MS_RDONLY)
	x.edit("two")
	x.says("commit", x.lorefs(cli.ExitOK, "commit", x.mnt), "saved 1 edit ")
	if err := os.WriteFile(x.file(), []byte("three\n"), 0); err == nil {
		t.Error("an edit that no journal can hold was taken")
	}
	x.want("two")
	x.says("unmount", x.lorefs(cli.ExitOK, "unmount", x.mnt), "nothing was edited")
	if err := syscall.Unmount(x.state, 0); err != nil {
		t.Fatal(err)
	}
	x.says("journal list", x.lorefs(cli.ExitOK, "journal", "list"), "saved ")
	if out := x.remountSource(); out != "" {
		t.Errorf("mount says %s", out)
	}
	x.want("two")
	x.lorefs(cli.ExitOK, "unmount", x.mnt)
	x.saved("two")
}

// TestSourceChanges checks a source that is replaced, changed or truncated.
func TestSourceChanges(t *testing.T) {
	testneeds.Seconds(t)
	for name, change := range map[string]func(x *trouble) error{
		"replaced": func(x *trouble) error {
			other := filepath.Join(x.dir, "other")
			return errors.Join(os.WriteFile(other, x.original[:len(x.original)/3], 0o600), os.Rename(other, x.path))
		},
		"truncated": func(x *trouble) error { return os.Truncate(x.path, 1000) },
		"emptied":   func(x *trouble) error { return os.Truncate(x.path, 0) },
		"appended": func(x *trouble) error {
			return os.WriteFile(x.path, append(bytes.Clone(x.original), 'x'), 0o600)
		},
	} {
		t.Run(name, func(t *testing.T) {
			x := newTrouble(t)
			x.mount()
			x.edit("one")
			if err := change(x); err != nil {
				t.Fatal(err)
			}
			x.fails("the file changed since it was opened")
			if name == "appended" { // what is no source at all is told of first
				x.says("mount", x.lorefs(cli.ExitUnsaved, "mount", "--rw", x.path, x.mnt), "another version of the file")
			}
			x.put(x.original)
			x.heals("one")
		})
	}
}
