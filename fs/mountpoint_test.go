//go:build linux

package fs_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"lorefs/fs"
	"lorefs/fs/fusetest"
	"lorefs/nodes"
)

// serveEnv makes the test program a server of a small tree, so that a test can
// kill a server without killing itself.
const serveEnv = "LOREFS_TEST_SERVE"

func TestMain(m *testing.M) {
	if dir := os.Getenv(serveEnv); dir != "" {
		s, err := fs.Mount(context.Background(), dir, nodes.MemFiles(testTime, map[string]string{"x": "y"}), fs.Options{})
		if err != nil {
			panic(err)
		}
		fmt.Println("mounted")
		for lines := bufio.NewScanner(os.Stdin); lines.Scan(); { // one to unmount
			err := s.Unmount()
			fmt.Println(err == nil, errors.Is(err, syscall.EBUSY))
		}
		s.Wait()
		return
	}
	m.Run()
}

func TestCheckMountpoint(t *testing.T) {
	base := t.TempDir()
	for _, dir := range []string{"empty", "source/sub", "full"} {
		if err := os.MkdirAll(filepath.Join(base, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{"a.dat", "full/b.dat", "source/c"} {
		if err := os.WriteFile(filepath.Join(base, file), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("source/sub", filepath.Join(base, "link")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ dir, source, want string }{
		{"empty", "a.dat", ""},
		{"empty", "source", ""},
		{"gone", "a.dat", "does not exist"},
		{"a.dat", "a.dat", "is not a directory"},
		{"full", "a.dat", "is not empty"},
		{"empty", "gone.dat", "no such file"},
		{"empty", "empty", "inside the source"},
		{"source", "source/c", "is not empty"},
		{"empty", "source/sub", ""},
		{"source/sub", "source", "inside the source"},
		{"link", "source", "inside the source"},
	} {
		err := fs.CheckMountpoint(filepath.Join(base, c.dir), filepath.Join(base, c.source))
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%s for %s: %v", c.dir, c.source, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s for %s: %v, want %q", c.dir, c.source, err, c.want)
		}
	}
}

func TestCheckMountpointDetachesDeadMount(t *testing.T) {
	fusetest.Require(t)
	dir := t.TempDir()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	server := exec.Command(exe)
	server.Env = append(os.Environ(), serveEnv+"="+dir)
	out, err := server.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	kill := sync.OnceFunc(func() {
		_ = server.Process.Kill()
		_ = server.Wait()
	})
	t.Cleanup(func() {
		kill()
		_ = fs.Detach(dir) // unless the test has got that far
	})
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "mounted\n" {
		t.Fatalf("the server said %q, %v", line, err)
	}
	kill()
	if _, err := os.ReadFile(filepath.Join(dir, "x")); err == nil {
		t.Fatal("the mount is not dead")
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	if err := fs.CheckMountpoint(link, exe); err != nil {
		t.Fatal(err)
	}
	if mounts, err := os.ReadFile("/proc/self/mounts"); err != nil || strings.Contains(string(mounts), dir) {
		t.Errorf("the dead mount is still there: %v", err)
	}
}
