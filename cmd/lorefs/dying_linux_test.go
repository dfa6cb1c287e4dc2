package main

import (
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"lorefs/cmd/internal/cli"
	"lorefs/cmd/internal/daemon"
	"lorefs/internal/filelock"
	"lorefs/internal/testneeds"
)

// die kills the process of a mount, and returns when it has ended.
func (x *trouble) die() {
	x.t.Helper()
	pid := x.status().PID
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		x.t.Fatal(err)
	}
	await(x.t.Fatalf, "the end of the mount's process", func() bool { return hasEnded(strconv.Itoa(pid)) })
}

// holdLock takes the lock of a dead process, as if that process still held it.
func (x *trouble) holdLock() (release func()) {
	x.t.Helper()
	locks, err := filepath.Glob(filepath.Join(x.state, "lorefs", "lock", "*.lock"))
	if err != nil || len(locks) != 1 {
		x.t.Fatalf("locks: %v, %v", locks, err)
	}
	f, err := os.OpenFile(locks[0], os.O_RDWR, 0)
	if err != nil {
		x.t.Fatal(err)
	}
	await(x.t.Fatalf, "the lock", func() bool { return filelock.LockFile(f) == nil })
	return func() { f.Close() }
}

// TestUnmountOfDying checks that edits are reported if a killed process still holds its lock
// for a moment although its mount is dead.
func TestUnmountOfDying(t *testing.T) {
	testneeds.Seconds(t)
	x := newTrouble(t)
	x.mount()
	x.edit("left")
	x.die()
	release := x.holdLock()
	defer release()
	unmounting := launch(t, "lorefs", "unmount", x.mnt)
	await(t.Fatalf, "the unmount", func() bool {
		mounted, err := daemon.Mounted(x.mnt)
		return err == nil && !mounted
	})
	time.Sleep(100 * time.Millisecond) // unmount is checking the lock now
	if unmounting.hasEnded() {
		t.Error("unmount has not waited for the process to end")
	}
	release()
	if err := unmounting.wait(); err == nil || unmounting.cmd.ProcessState.ExitCode() != cli.ExitUnsaved {
		t.Errorf("%v: %s", err, unmounting.output.String())
	}
	x.says("unmount", unmounting.output.String(), "its process died before 1 edit of")
	x.heals("left")
}

// TestUnmountOfDeadTakenOver checks that edits are not reported as lost if another mount has
// taken them over, and that unmount does not wait for that.
func TestUnmountOfDeadTakenOver(t *testing.T) {
	testneeds.Seconds(t)
	x := newTrouble(t)
	x.mount()
	x.edit("left")
	x.die()
	other := filepath.Join(filepath.Dir(x.mnt), "other")
	if err := os.Mkdir(other, 0o700); err != nil {
		t.Fatal(err)
	}
	x.lorefs(cli.ExitOK, "mount", "--rw", x.path, other)
	if out := x.lorefs(cli.ExitOK, "unmount", x.mnt); out != "" {
		t.Errorf("unmount says %q", out)
	}
	x.says("unmount", x.lorefs(cli.ExitOK, "unmount", other), "saved 1 edit")
}

// TestUnmountOfDeadReadOnly checks that a dead read-only mount has left no edits.
func TestUnmountOfDeadReadOnly(t *testing.T) {
	testneeds.Seconds(t)
	x := newTrouble(t)
	x.mount()
	x.edit("left")
	other := filepath.Join(filepath.Dir(x.mnt), "other")
	if err := os.Mkdir(other, 0o700); err != nil {
		t.Fatal(err)
	}
	edited := x.mnt
	x.lorefs(cli.ExitOK, "mount", x.path, other)
	x.mnt = other
	x.die()
	x.lorefs(cli.ExitOK, "unmount", other)
	x.mnt = edited
	x.saves("left")
}
