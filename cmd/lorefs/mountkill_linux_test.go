package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"lorefs/cmd/internal/cli"
	"lorefs/cmd/internal/daemon"
	"lorefs/cmd/internal/mounted"
	"lorefs/internal/testneeds"
)

const (
	// mountKillsVar sets how often TestKilledWhileMounting kills.
	mountKillsVar = "LOREFS_MOUNT_KILLS"
	// mountBegins is the time after the start of the process in which a mount is killed, and
	// mountComes the time after the kernel has the mount.
	mountBegins = 50 * time.Millisecond
	mountComes  = 3 * time.Millisecond
)

// TestKilledWhileMounting checks that the next mount works without help, whenever a process
// is killed that is about to mount.
func TestKilledWhileMounting(t *testing.T) {
	c := newCrash(t, "DataCenter_Final_Sample.dat")
	came := 0
	for kill := range int(fromEnvironment(t, mountKillsVar, int64(testneeds.Cases(5, 50, 300)))) {
		p := launch(t, "lorefs", "mount", "-f", "--rw", c.path, c.mnt)
		if kill%2 == 0 {
			time.Sleep(rand.N(mountBegins))
		} else {
			await(t.Fatalf, "the mount", func() bool { there, err := daemon.Mounted(c.mnt); return err == nil && there })
			time.Sleep(rand.N(mountComes))
		}
		if err := p.cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		if there, err := daemon.Mounted(c.mnt); err == nil && there {
			came++
		}
		next := launch(t, "lorefs", "mount", "--rw", c.path, c.mnt)
		select {
		case <-next.ended:
		case <-time.After(patience):
			_ = unix.Unmount(c.mnt, unix.MNT_FORCE) // otherwise it would wait forever
			t.Fatalf("kill %d: the next mount hangs", kill)
		}
		if next.err != nil {
			t.Fatalf("kill %d: the next mount fails: %v: %s", kill, next.err, next.output.String())
		}
		if text, err := os.ReadFile(filepath.Join(c.mnt, crashInts[0])); err != nil || len(text) == 0 {
			t.Fatalf("kill %d: %q, %v", kill, text, err)
		}
		runTool(t, "", "lorefs", "unmount", c.mnt)
		_ = p.wait() // otherwise it would stay as a zombie
	}
	t.Logf("the mount was there %d times", came)
}

// TestEndlessRequest checks that an endless request is refused, and takes no memory.
func TestEndlessRequest(t *testing.T) {
	x := newTrouble(t)
	x.mount()
	path, err := daemon.SocketPath(x.mnt)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	go func() {
		for err := error(nil); err == nil; {
			_, err = conn.Write(bytes.Repeat([]byte(" "), 64<<10))
		}
	}()
	var a mounted.Answer
	if err := json.NewDecoder(conn).Decode(&a); err != nil || a.Error != "a frame on the control socket has more than 1048576 bytes" {
		t.Errorf("the answer is %q, %v", a.Error, err)
	}
	x.status()
	x.lorefs(cli.ExitOK, "unmount", x.mnt)
}

// TestSilentMount checks a mount whose process was killed and can't end, so that neither it
// nor its socket answers. The test stops the process instead, which looks the same.
func TestSilentMount(t *testing.T) {
	testneeds.Slow(t, "waits for timeouts")
	x := newTrouble(t)
	x.mount()
	x.edit("kept")
	pid := x.status().PID
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGCONT) })
	unmounting := launch(t, "lorefs", "unmount", x.mnt)
	await(t.Fatalf, "the end of the mount", func() bool {
		mounted, err := daemon.Mounted(x.mnt)
		return err == nil && !mounted
	})
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if err := unmounting.wait(); err == nil || unmounting.cmd.ProcessState.ExitCode() != cli.ExitUnsaved {
		t.Errorf("%v: %s", err, unmounting.output.String())
	}
	x.heals("kept")
}

// TestUnmountOfOthers checks that another user reads whose mount it is, not the message of a
// helper program.
func TestUnmountOfOthers(t *testing.T) {
	testneeds.FUSE(t)
	if os.Geteuid() != 0 {
		t.Skip("only root can be another user, too")
	}
	x := newTrouble(t)
	x.mount()
	// Other users can't enter the folders of tests.
	dir, err := os.MkdirTemp("", "lorefs-others-") //nolint:usetesting // as said
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	program, err := exec.LookPath("lorefs")
	if err != nil {
		t.Fatal(err)
	}
	copied, mnt := filepath.Join(dir, "lorefs"), filepath.Join(dir, "mnt")
	b, err := os.ReadFile(program)
	if err == nil {
		err = errors.Join(os.Chmod(dir, 0o755), os.WriteFile(copied, b, 0o755), os.Mkdir(mnt, 0o755))
	}
	if err == nil {
		err = unix.Mount(x.mnt, mnt, "", unix.MS_BIND, "")
	}
	if err != nil {
		t.Skipf("no place for others: %v", err)
	}
	t.Cleanup(func() { _ = unix.Unmount(mnt, unix.MNT_DETACH) })
	c := exec.CommandContext(t.Context(), copied, "unmount", mnt)
	c.Env = []string{"HOME=" + filepath.Join(dir, "none"), "PATH=" + os.Getenv("PATH")}
	c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := c.CombinedOutput()
	if want := fmt.Sprintf("lorefs: %s: is mounted, but by another user or with another state folder\n", mnt); err == nil || string(out) != want {
		t.Errorf("%v: %s, want %s", err, out, want)
	}
	if strings.Contains(string(out), "fusermount") {
		t.Error("the helper speaks")
	}
}
