package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"lorefs/cmd/internal/cli"
	"lorefs/datacenter"
	"lorefs/datacenter/dctest"
	"lorefs/internal/diskspace"
	"lorefs/internal/testneeds"
)

// writeBomb writes a data center of less than a kilobyte whose sheets have many gigabytes:
// all children of a level are one shared node, and there is a long text.
func writeBomb(path string) error {
	const levels, children, text = 4, 60, 3_000
	n := &dctest.Node{Name: "Leaf", Attrs: []dctest.Attr{dctest.Text(strings.Repeat("x", text))}}
	for range levels {
		n = &dctest.Node{Name: "Level", Children: slices.Repeat([]*dctest.Node{n}, children)}
	}
	sheet := &dctest.Node{Name: "Sheet", Children: []*dctest.Node{n}}
	doc := dctest.Doc{Root: dctest.Root(sheet), Layout: datacenter.LayoutV6X64}
	return os.WriteFile(path, dctest.Build(doc, dctest.Options{}), 0o600)
}

// TestExportFillsDisk checks that export of a small source with large files leaves some
// space on the disk, and prints one message, not one for each file.
func TestExportFillsDisk(t *testing.T) {
	testneeds.Seconds(t)
	dir := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", filepath.Join(dir, "cache"))
	bomb, disk := filepath.Join(dir, "bomb.dat"), filepath.Join(dir, "disk")
	if err := errors.Join(writeBomb(bomb), os.Mkdir(disk, 0o700)); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=32m"); err != nil {
		t.Skipf("nothing can be mounted here: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(disk, 0); err != nil {
			t.Error(err)
		}
	})
	exe, err := exec.LookPath("lorefs")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"export", bomb, disk + "/sheets"}, "nothing was written"},
		{[]string{"export", "--format", "json", bomb, disk + "/json"}, "the disk is nearly full"},
		{[]string{"export", bomb, disk + "/tree", "tree"}, "the disk is nearly full"},
	} {
		var stderr bytes.Buffer
		c := exec.CommandContext(t.Context(), exe, tt.args...)
		c.Stderr = &stderr
		err := c.Run()
		lines := strings.Split(strings.TrimSpace(stderr.String()), "\n")
		if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != cli.ExitFailure {
			t.Errorf("%v: %v", tt.args, err)
		}
		if len(lines) > 2 || !strings.Contains(lines[len(lines)-1], tt.want) {
			t.Errorf("%v says %q", tt.args, lines)
		}
		if space, err := diskspace.Of(disk); err != nil || space.Free < space.Reserve() {
			t.Errorf("%v left %+v, %v", tt.args, space, err)
		}
		if _, err := os.Stat(disk + "/sheets"); err == nil {
			t.Errorf("%v: a folder was made", tt.args)
		}
		if err := os.RemoveAll(fmt.Sprint(disk, "/json")); err != nil {
			t.Error(err)
		}
	}
}
