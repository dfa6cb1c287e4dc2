//go:build linux

package fs_test

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"lorefs/fs"
	"lorefs/fs/fusetest"
	"lorefs/internal/testneeds"
)

// nobody is another user than the tests'.
const nobody = 65534

// asNobody runs a command as another user, which only root can.
func asNobody(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can be somebody else")
	}
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	return cmd
}

// openUp lets everybody into a directory of [testing.T.TempDir].
func openUp(t *testing.T, dir string) {
	t.Helper()
	if err := os.Chmod(filepath.Dir(dir), 0o755); err != nil {
		t.Fatal(err)
	}
}

func TestAllowOther(t *testing.T) {
	for _, allow := range []bool{false, true} {
		dir := fusetest.Mount(t, testTree(t), fs.Options{AllowOther: allow})
		openUp(t, dir)
		out, err := asNobody(t, "cat", filepath.Join(dir, "ItemData", "x")).CombinedOutput()
		if seen := err == nil && string(out) == "1002\n"; seen != allow {
			t.Errorf("AllowOther %v: others read %q, %v", allow, out, err)
		}
		err = asNobody(t, "touch", filepath.Join(dir, "ItemData", "x")).Run()
		if err == nil {
			t.Errorf("AllowOther %v: others can write", allow)
		}
	}
}

// TestMountOfUser mounts by fusermount3, as users other than root must.
func TestMountOfUser(t *testing.T) {
	fusetest.Require(t)
	testneeds.Program(t, "fusermount3")
	if asNobody(t, "test", "-w", "/dev/fuse").Run() != nil {
		t.Skip("users cannot mount here: /dev/fuse is root's")
	}
	dir, bin := t.TempDir(), t.TempDir()
	openUp(t, dir)
	program := copyOfTest(t, bin)
	serve := func() (*exec.Cmd, io.Writer, *bufio.Reader, *bytes.Buffer) {
		cmd := asNobody(t, program)
		cmd.Env = append(os.Environ(), serveEnv+"="+dir)
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		stdin, err1 := cmd.StdinPipe()
		stdout, err2 := cmd.StdoutPipe()
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
			_ = fs.Detach(dir) // unless the test has got that far
		})
		return cmd, stdin, bufio.NewReader(stdout), &stderr
	}

	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	cmd, _, _, stderr := serve() // not the user's own directory
	if err := cmd.Wait(); err == nil || !strings.Contains(stderr.String(), "may write to") {
		t.Errorf("on a directory of somebody else: %v, %s", err, stderr)
	}
	if err := os.Chown(dir, nobody, nobody); err != nil {
		t.Fatal(err)
	}
	cmd, stdin, stdout, stderr := serve()
	say := func() string {
		line, err := stdout.ReadString('\n')
		if err != nil {
			t.Fatalf("%v: %s", err, stderr)
		}
		return strings.TrimSpace(line)
	}
	if line := say(); line != "mounted" {
		t.Fatal(line)
	}
	if out, err := asNobody(t, "cat", filepath.Join(dir, "x")).CombinedOutput(); string(out) != "y" {
		t.Errorf("he reads %q, %v", out, err)
	}
	resident := asNobody(t, "sh", "-c", "cd "+dir+" && echo in && read x")
	leave, err1 := resident.StdinPipe()
	in, err2 := resident.StdoutPipe()
	if err1 != nil || err2 != nil || resident.Start() != nil {
		t.Fatal(err1, err2)
	}
	if _, err := in.Read(make([]byte, 3)); err != nil {
		t.Fatal(err)
	}
	unmount := func() string { _, _ = io.WriteString(stdin, "unmount\n"); return say() }
	if got := unmount(); got != "false true" {
		t.Errorf("unmounted and busy: %s", got)
	}
	_ = leave.Close()
	_ = resident.Wait()
	if got := unmount(); got != "true false" {
		t.Errorf("unmounted and busy in the end: %s", got)
	}
	if err := stdin.(io.Closer).Close(); err != nil {
		t.Error(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("the server: %v: %s", err, stderr)
	}
}

// copyOfTest copies this program to where everybody can run it.
func copyOfTest(t *testing.T, dir string) string {
	t.Helper()
	openUp(t, dir)
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p, err := os.ReadFile(exe)
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, "test")
	if err := os.WriteFile(name, p, 0o755); err != nil {
		t.Fatal(err)
	}
	return name
}

// TestListingInPieces lists with small buffers, and continues from each place again.
func TestListingInPieces(t *testing.T) {
	s := shape{dirs: 1, files: 500}
	dir := fusetest.Mount(t, s.tree(t), fs.Options{})
	fd, err := unix.Open(filepath.Join(dir, s.dirName(0)), unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Close(fd) }()
	var all []string
	places, behind := []int64{}, []int{} // where a piece ends, and how many names came before
	for {
		names := readPiece(t, fd)
		if len(names) == 0 {
			break
		}
		all = append(all, names...)
		place, err := unix.Seek(fd, 0, io.SeekCurrent)
		if err != nil {
			t.Fatal(err)
		}
		places, behind = append(places, place), append(behind, len(all))
	}
	if len(all) != s.files || len(places) < 10 {
		t.Fatalf("%d names in %d pieces, want %d", len(all), len(places), s.files)
	}
	for i := len(places) - 2; i >= 0; i -= 7 { // backwards
		if _, err := unix.Seek(fd, places[i], io.SeekStart); err != nil {
			t.Fatal(err)
		}
		names := readPiece(t, fd)
		if want := all[behind[i]:]; len(names) == 0 || len(names) > len(want) || !slices.Equal(names, want[:len(names)]) {
			t.Errorf("at place %d there are %q", places[i], names)
		}
	}
}

func readPiece(t *testing.T, fd int) []string {
	t.Helper()
	buf := make([]byte, 512)
	n, err := unix.Getdents(fd, buf)
	if err != nil {
		t.Fatal(err)
	}
	_, _, names := unix.ParseDirent(buf[:n], -1, nil)
	return names
}
