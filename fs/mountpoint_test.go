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
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"lorefs/fs"
	"lorefs/fs/fusetest"
	"lorefs/internal/testneeds"
	"lorefs/nodes"
	"lorefs/nodes/nodetest"
)

// serveEnv makes the test program a server of a small tree, so that a test can kill a
// server without killing itself.
const serveEnv = "LOREFS_TEST_SERVE"

// hangEnv makes that server wait for an answer of its own mount.
const hangEnv = "LOREFS_TEST_HANG"

// hangingTree does not answer for one name.
type hangingTree struct{ nodes.Tree }

func (t hangingTree) Lookup(ctx context.Context, dir nodes.ID, name string) (nodes.Entry, error) {
	if name == "hang" {
		fmt.Println("mounted")
		select {}
	}
	return t.Tree.Lookup(ctx, dir, name)
}

func TestMain(m *testing.M) {
	if dir := os.Getenv(serveEnv); dir != "" {
		files := nodetest.MemFiles(testTime, map[string]string{"x": "y"})
		s, err := fs.Mount(context.Background(), dir, hangingTree{files}, fs.Options{})
		if err != nil {
			panic(err)
		}
		if os.Getenv(hangEnv) != "" {
			go func() { _, _ = os.Lstat(filepath.Join(dir, "hang")) }()
			select {} // hangingTree prints when it hangs
		}
		fmt.Println("mounted")
		for lines := bufio.NewScanner(os.Stdin); lines.Scan(); { // a line to unmount
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

// startServer starts a process that serves a mount on a directory.
func startServer(t *testing.T, dir string, env ...string) (server *exec.Cmd) {
	t.Helper()
	fusetest.Require(t)
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	server = exec.Command(exe)
	server.Env = append(append(os.Environ(), serveEnv+"="+dir), env...)
	out, err := server.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = server.Process.Kill()
		_ = fs.Clear(dir) // unless the test has got that far
		_ = server.Wait()
	})
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "mounted\n" {
		t.Fatalf("the server said %q, %v", line, err)
	}
	return server
}

// wantFree expects that something can be mounted on a directory.
func wantFree(t *testing.T, dir string) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
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

func TestCheckMountpointDetachesDeadMount(t *testing.T) {
	dir := t.TempDir()
	server := startServer(t, dir)
	_ = server.Process.Kill()
	_ = server.Wait()
	if _, err := os.ReadFile(filepath.Join(dir, "x")); err == nil {
		t.Fatal("the mount is not dead")
	}
	wantFree(t, dir)
}

// TestCheckMountpointAbortsSilentMount has a server that is killed while it waits for an
// answer of its own mount. It would never end by itself, and any request to the mount would
// wait too.
func TestCheckMountpointAbortsSilentMount(t *testing.T) {
	testneeds.Seconds(t)
	t.Parallel() // it waits for a server that says nothing

	const fusectl = 0x65735543 // see statfs(2)
	var at unix.Statfs_t
	err := unix.Statfs("/sys/fs/fuse/connections", &at)
	if os.Geteuid() != 0 && (err != nil || at.Type != fusectl) {
		t.Skip("the kernel's list of connections is not mounted, and without it only root can end one")
	}
	dir := t.TempDir()
	server := startServer(t, dir, hangEnv+"=1")
	_ = server.Process.Kill()
	done := make(chan struct{})
	go func() {
		defer close(done)
		wantFree(t, dir)
	}()
	select {
	case <-done:
	case <-time.After(time.Minute):
		_ = unix.Unmount(dir, unix.MNT_FORCE)
		t.Error("the mount point is waited for")
		<-done
	}
	_ = server.Wait()
}
