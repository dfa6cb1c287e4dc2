package filelock_test

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"lorefs/internal/filelock"
)

// childVar holds the lock file that a child process is to take.
const childVar = "LOREFS_FILELOCK_CHILD"

func TestMain(m *testing.M) {
	if path := os.Getenv(childVar); path != "" {
		hold(path)
		return
	}
	m.Run()
}

// hold takes a lock, prints that, and keeps it until the process is killed.
func hold(path string) {
	if _, err := filelock.Acquire(path, "what the child locks"); err != nil {
		panic(err)
	}
	fmt.Println("locked")
	time.Sleep(time.Hour)
}

func requireLocks(t *testing.T) {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), "probe"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := filelock.LockFile(f); errors.Is(err, errors.ErrUnsupported) {
		t.Skipf("files cannot be locked here: %v", err)
	}
}

func TestAcquire(t *testing.T) {
	requireLocks(t)
	path := filepath.Join(t.TempDir(), "x.lock")
	l, err := filelock.Acquire(path, "a file\nof two lines")
	if err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS != "windows" {
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("the lock file: %v, %v", info.Mode(), err)
		}
	}
	_, err = filelock.Acquire(path, "another")
	held, ok := errors.AsType[*filelock.HeldError](err)
	if !ok || !errors.Is(err, filelock.ErrLocked) {
		t.Fatalf("taken twice: %v", err)
	}
	if held.PID != os.Getpid() || held.What != "a file of two lines" || held.Path != path {
		t.Errorf("held by %+v", held)
	}
	if !strings.Contains(err.Error(), fmt.Sprint(os.Getpid())) {
		t.Errorf("the message does not name the process: %v", err)
	}
	for range 2 {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}
	l, err = filelock.Acquire(path, "another")
	if err != nil {
		t.Fatalf("after giving it back: %v", err)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}

// TestStrangeNote checks that the lock holds whatever the lock file says.
func TestStrangeNote(t *testing.T) {
	requireLocks(t)
	for _, text := range []string{"", "\n", "x\ny\n", "-7\nz\n", "12", strings.Repeat("9", 100_000)} {
		path := filepath.Join(t.TempDir(), "x.lock")
		l, err := filelock.Acquire(path, "")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err = filelock.Acquire(path, "")
		held, ok := errors.AsType[*filelock.HeldError](err)
		if want := map[string]int{"12": 12}[text]; !ok || held.PID != want || held.What != "" {
			t.Errorf("%.20q: %v", text, err)
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestDeath checks that a lock ends with its process, also if that is killed.
func TestDeath(t *testing.T) {
	requireLocks(t)
	path := filepath.Join(t.TempDir(), "x.lock")
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	child := exec.CommandContext(t.Context(), exe)
	child.Env = append(os.Environ(), childVar+"="+path)
	child.Stderr = os.Stderr
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "locked\n" {
		t.Fatalf("the child says %q, %v", line, err)
	}
	_, err = filelock.Acquire(path, "")
	held, ok := errors.AsType[*filelock.HeldError](err)
	if !ok || held.PID != child.Process.Pid || held.What != "what the child locks" {
		t.Errorf("while the child lives: %v", err)
	}
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = child.Wait() // it was killed, as it will say
	l, err := filelock.Acquire(path, "")
	if err != nil {
		t.Fatalf("after its death: %v", err)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}

// TestOneAtATime checks that only one of many holds a lock at any time.
func TestOneAtATime(t *testing.T) {
	requireLocks(t)
	path := filepath.Join(t.TempDir(), "x.lock")
	var inside, got atomic.Int32
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 200 {
				l, err := filelock.Acquire(path, "")
				if errors.Is(err, filelock.ErrLocked) {
					continue
				}
				if err != nil {
					t.Error(err)
					return
				}
				got.Add(1)
				if n := inside.Add(1); n != 1 {
					t.Errorf("%d have the lock", n)
				}
				runtime.Gosched()
				inside.Add(-1)
				if err := l.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if got.Load() == 0 {
		t.Error("nobody ever had the lock")
	}
}

func TestLockFile(t *testing.T) {
	requireLocks(t)
	path := filepath.Join(t.TempDir(), "source")
	if err := os.WriteFile(path, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	open := func() *os.File {
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		return f
	}
	a, b := open(), open()
	if err := filelock.LockFile(a); err != nil {
		t.Fatal(err)
	}
	if err := filelock.LockFile(b); !errors.Is(err, filelock.ErrLocked) {
		t.Errorf("locked twice: %v", err)
	}
	// Others may still read.
	if text, err := os.ReadFile(path); err != nil || string(text) != "text" {
		t.Errorf("read %q, %v", text, err)
	}
	a.Close()
	if err := filelock.LockFile(b); err != nil {
		t.Errorf("after the first was closed: %v", err)
	}
	if err := filelock.LockFile(a); err == nil || errors.Is(err, filelock.ErrLocked) {
		t.Errorf("a closed file: %v", err)
	}
}

// TestProbe checks that Probe reports who holds a lock, and changes nothing.
func TestProbe(t *testing.T) {
	requireLocks(t)
	path := filepath.Join(t.TempDir(), "x.lock")
	if err := filelock.Probe(path); err != nil {
		t.Errorf("nobody ever held it: %v", err)
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the lock file: %v", err)
	}
	l, err := filelock.Acquire(path, "it")
	if err != nil {
		t.Fatal(err)
	}
	then := time.Now().Add(-time.Hour).Truncate(time.Second)
	if err := os.Chtimes(path, then, then); err != nil {
		t.Fatal(err)
	}
	held, ok := errors.AsType[*filelock.HeldError](filelock.Probe(path))
	if !ok || held.PID != os.Getpid() || held.What != "it" || !held.Since.Equal(then) {
		t.Errorf("held by %+v", held)
	}
	if err := errors.Join(l.Close(), os.WriteFile(path, []byte("left"), 0o600), os.Chtimes(path, then, then)); err != nil {
		t.Fatal(err)
	}
	if err := filelock.Probe(path); err != nil {
		t.Errorf("nobody holds it: %v", err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(path); err != nil || !info.ModTime().Equal(then) || string(text) != "left" {
		t.Errorf("the lock file holds %q since %v, %v", text, info.ModTime(), err)
	}
}

// TestProbeIsNoHolder checks that Probe keeps nobody from taking the lock.
func TestProbeIsNoHolder(t *testing.T) {
	requireLocks(t)
	path := filepath.Join(t.TempDir(), "x.lock")
	var asking sync.WaitGroup
	var enough atomic.Bool
	for range 2 {
		asking.Go(func() {
			for !enough.Load() {
				if err := filelock.Probe(path); err != nil && !errors.Is(err, filelock.ErrLocked) {
					t.Error(err)
				}
			}
		})
	}
	for range 2000 {
		l, err := filelock.Acquire(path, "it")
		if err == nil {
			err = l.Close()
		}
		if err != nil {
			t.Error(err)
			break
		}
	}
	enough.Store(true)
	asking.Wait()
}
