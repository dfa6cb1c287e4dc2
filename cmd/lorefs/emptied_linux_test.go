package main

import (
	"bytes"
	"errors"
	iofs "io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"lorefs/cmd/internal/daemon"
	"lorefs/cmd/internal/sample"
	"lorefs/internal/testneeds"
	"lorefs/nodes/resourcetree/resource"
)

// emptying is a file of an editable kind of source that a program empties or makes.
type emptying struct {
	name, source, file string
	// isNew says that the program makes the file. keeps says that the kind has no empty text
	// there: fsync(2) of a file that was there has to fail, and it holds what it held before.
	isNew, keeps bool
}

var emptyings = []emptying{
	{name: "attribute", source: sample.DataCenterName, file: "tree/ItemData/Item/name"},
	{name: "new attribute", source: sample.DataCenterName, file: "tree/ItemData/Item/made", isNew: true},
	{name: "number", source: sample.DataCenterName, file: "tree/ItemData/Item.2/price", keeps: true},
	{name: "sheet", source: sample.DataCenterName, file: "sheets/ItemData/ItemData-00000.xml", keeps: true},
	{name: "new sheet", source: sample.DataCenterName, file: "sheets/ItemData/ItemData-00099.xml", isNew: true, keeps: true},
	{name: "square", source: "world", file: squareName("x1000y1000", 0), keeps: true},
	{name: "resource", source: "resources.dat", file: "a.txt"},
	{name: "new resource", source: "resources.dat", file: "made.txt", isNew: true},
}

// emptied is a mount of a source with a process that can be killed.
type emptied struct {
	t         *testing.T
	path, mnt string
	process   *command
}

// newEmptied mounts a source of a kind.
func newEmptied(t *testing.T, source string) *emptied {
	t.Helper()
	testneeds.FUSE(t)
	ownFolders(t)
	made, err := madeSample()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	x := &emptied{t: t, path: filepath.Join(dir, "source", source), mnt: filepath.Join(dir, "mounts", "mnt")}
	err = errors.Join(os.CopyFS(filepath.Dir(x.path), os.DirFS(made)), os.MkdirAll(x.mnt, 0o700))
	if _, missing := os.Stat(x.path); missing != nil && err == nil {
		err = os.WriteFile(x.path, resourceOf(t, "a.txt", "hello\n", "b.txt", "world\n"), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		x.kill() // a process that is unmounted would save
		detachBelow(filepath.Dir(x.mnt))
	})
	x.mount()
	return x
}

// resourceOf returns a container of files, each a name and a text.
func resourceOf(t *testing.T, files ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	err := resource.Write(&b, func(yield func(resource.File) bool) {
		for i := 0; i < len(files); i += 2 {
			text := files[i+1]
			if !yield(resource.File{Name: files[i], Size: int64(len(text)), Content: strings.NewReader(text)}) {
				return
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func (x *emptied) mount() {
	x.t.Helper()
	x.process = launch(x.t, "lorefs", "mount", "-f", "--rw", x.path, x.mnt)
	await(x.t.Fatalf, "the mount", func() bool {
		if x.process.hasEnded() {
			x.t.Fatalf("the mount fails: %v: %s", x.process.err, x.process.output.String())
		}
		there, err := daemon.Mounted(x.mnt)
		return err == nil && there
	})
}

func (x *emptied) kill() {
	_ = x.process.cmd.Process.Kill()
	_ = x.process.wait()
}

// again kills the process of the mount, and mounts again.
func (x *emptied) again() {
	x.t.Helper()
	x.kill()
	if err := syscall.Unmount(x.mnt, syscall.MNT_DETACH); err != nil {
		x.t.Fatal(err)
	}
	x.mount()
}

// read reads a file without the newline at its end, which an attribute gets when it is shown again.
func (x *emptied) read(file string) (text string, isThere bool) {
	x.t.Helper()
	b, err := os.ReadFile(filepath.Join(x.mnt, file))
	if err != nil && !errors.Is(err, iofs.ErrNotExist) {
		x.t.Fatal(err)
	}
	return strings.TrimSuffix(string(b), "\n"), err == nil
}

// TestEmptied empties and makes files, and kills the process of the mount as soon as fsync(2) or
// close(2) has returned. What they promised is there afterwards.
func TestEmptied(t *testing.T) {
	testneeds.Seconds(t)
	for _, c := range emptyings {
		for _, end := range []string{"fsync", "close"} {
			t.Run(c.name+" "+end, func(t *testing.T) { c.test(t, end == "fsync") })
		}
	}
}

func (c emptying) test(t *testing.T, syncs bool) {
	x := newEmptied(t, c.source)
	was, isThere := x.read(c.file)
	if isThere == c.isNew || isThere == (was == "") {
		t.Fatalf("the source has %s: %v, %q", c.file, isThere, was)
	}
	f, err := os.OpenFile(filepath.Join(x.mnt, c.file), os.O_WRONLY|os.O_TRUNC|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if syncs {
		if err = f.Sync(); (c.keeps && !c.isNew) != errors.Is(err, syscall.EINVAL) {
			t.Errorf("fsync: %v", err)
		}
	} else {
		err = f.Close()
	}
	if err != nil && (!c.keeps || c.isNew) {
		t.Fatal(err)
	}
	x.again()
	f.Close() // of a mount that is gone
	want := ""
	if c.keeps {
		want = was
	}
	if got, isThere := x.read(c.file); got != want || isThere == (c.isNew && c.keeps) {
		t.Errorf("after the kill %s holds %.40q, %v; want %.40q", c.file, got, isThere, want)
	}
}

// TestMadeAndSynced makes files as editors do that sync a file before they write it, and kills the
// process of the mount once the text is synced.
func TestMadeAndSynced(t *testing.T) {
	testneeds.Seconds(t)
	testneeds.Program(t, "python3")
	const program = `
import os, signal, sys
path, text, mount = sys.argv[1], sys.argv[2].encode(), int(sys.argv[3])
f = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
os.fsync(f)
os.write(f, text[:1])
os.ftruncate(f, 0)
os.fsync(f)
os.lseek(f, 0, os.SEEK_SET)
os.write(f, text)
os.fsync(f)
os.kill(mount, signal.SIGKILL)
`
	for name, c := range map[string]struct{ source, file, text string }{
		"attribute": {sample.DataCenterName, "tree/ItemData/Item/made", "some text"},
		"number":    {sample.DataCenterName, "tree/ItemData/price", "12"},
		"sheet":     {sample.DataCenterName, "sheets/ItemData/ItemData-00006.xml", `<ItemData><Item id="1" /></ItemData>`},
		"resource":  {"resources.dat", "made.txt", "some text"},
	} {
		t.Run(name, func(t *testing.T) {
			x := newEmptied(t, c.source)
			runTool(t, "", "python3", "-c", program, filepath.Join(x.mnt, c.file), c.text, strconv.Itoa(x.process.cmd.Process.Pid))
			x.again()
			want := c.text
			if name == "sheet" {
				want = `<Item id="1" />`
			}
			if got, _ := x.read(c.file); !strings.Contains(got, want) {
				t.Errorf("%s holds %q", c.file, got)
			}
		})
	}
}

// TestEmptiedByShells checks that shells, which close a file between emptying and writing it, edit
// as in any folder: what they write is there, of the type that it would have without that close,
// and what they only empty is empty, even if the process is killed right then.
func TestEmptiedByShells(t *testing.T) {
	testneeds.Seconds(t)
	for _, shell := range []string{"dash", "bash", "zsh", "fish", "ksh93", "mksh", "yash", "tcsh", "busybox sh", "rc", "posh"} {
		t.Run(shell, func(t *testing.T) {
			args := strings.Fields(shell)
			if _, err := exec.LookPath(args[0]); err != nil {
				t.Skip(err) // few have them all
			}
			byShell(t, append(args, "-c"))
		})
	}
}

func byShell(t *testing.T, shell []string) {
	x := newEmptied(t, sample.DataCenterName)
	item := filepath.Join(x.mnt, "tree/ItemData/Item")
	run := func(script string) { runTool(t, item, shell[0], append(shell[1:], script)...) }
	for _, script := range []string{`echo 42 > made`, `echo word > name`, `/bin/echo 7 > id`, `/bin/echo 2.5 > weight`} {
		run(script)
	}
	for file, want := range map[string]string{
		"made": "42 int", "name": "word string", "id": "7 int", "weight": "2.5 float",
	} {
		text, _ := x.read("tree/ItemData/Item/" + file)
		if got := text + " " + runTool(t, item, "getfattr", "--only-values", "-n", "user.lorefs.type", file); got != want {
			t.Errorf("%s is %q, want %q", file, got, want)
		}
	}
	for _, file := range []string{"name", "void"} {
		run("/bin/true > " + file)
		x.again()
		if got, isThere := x.read("tree/ItemData/Item/" + file); got != "" || !isThere {
			t.Errorf("after a kill, %s that was emptied holds %q, %v", file, got, isThere)
		}
	}
}
