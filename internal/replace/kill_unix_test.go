//go:build unix

package replace

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"lorefs/internal/testneeds"
)

const (
	// childVar is the file that a child process replaces.
	childVar = "LOREFS_REPLACE_CHILD"
	// opVar is the number of the operation before which the child kills itself.
	opVar = "LOREFS_REPLACE_OP"
)

func TestMain(m *testing.M) {
	if path := os.Getenv(childVar); path != "" {
		if err := replaceForever(path, os.Getenv(opVar)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			panic("the child could not replace its file")
		}
		return
	}
	m.Run()
}

// replaceForever replaces a file with its next version, prints its number, and goes on until
// it is killed.
func replaceForever(path, die string) error {
	o := Options{}
	if die != "" {
		nth, err := strconv.Atoi(die)
		if err != nil {
			return err
		}
		o.Disk = at(nth, func() error { return syscall.Kill(os.Getpid(), syscall.SIGKILL) }, nil)
	}
	first, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	version, err := versionOf(first)
	if err != nil {
		return err
	}
	for {
		version++
		if err := replaceOnce(path, o, version); err != nil {
			return err
		}
		fmt.Println(version)
	}
}

func replaceOnce(path string, o Options, version int) error {
	return Replace(context.Background(), path, o, writeText(version), nil)
}

// runChild runs a child that replaces a file until it is killed. It returns the last version
// that the child has reported to be in place.
func runChild(t *testing.T, path, die string, kill func(*os.Process)) int {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	child := exec.CommandContext(t.Context(), exe)
	child.Env = append(os.Environ(), childVar+"="+path, opVar+"="+die)
	child.Stderr = os.Stderr
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	if kill != nil {
		kill(child.Process)
	}
	said, err := io.ReadAll(bufio.NewReader(out))
	if err != nil {
		t.Error(err)
	}
	_ = child.Wait()
	if ws, ok := child.ProcessState.Sys().(syscall.WaitStatus); !ok || ws.Signal() != syscall.SIGKILL {
		t.Fatalf("the child was not killed: %v", child.ProcessState)
	}
	lines := strings.Fields(string(said))
	if len(lines) == 0 {
		return 0
	}
	version, err := strconv.Atoi(lines[len(lines)-1])
	if err != nil {
		t.Fatal(err)
	}
	return version
}

// checkSurvivor checks that a whole file is in place, of the version that was last reported
// or the next one, and a whole backup, and that nothing else is left after a sweep.
func checkSurvivor(t *testing.T, path string, last int) {
	t.Helper()
	now := versionAt(t, path)
	if now != last && now != last+1 {
		t.Errorf("version %d was in place, now it is %d", last, now)
	}
	if bak := versionAt(t, path+".bak"); bak != now && bak != now-1 {
		t.Errorf("the backup of version %d is version %d", now, bak)
	}
	if _, err := Sweep(path); err != nil {
		t.Error(err)
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(entries) != 2 {
		t.Errorf("left are %v, %v", entries, err)
	}
}

func killRounds() int {
	if testneeds.Quick() {
		return 10
	}
	return 50
}

// TestKillAnywhere checks that a writer which is killed at any moment leaves a whole file,
// old or new.
func TestKillAnywhere(t *testing.T) {
	testneeds.Seconds(t)
	path := oldFile(t)
	if err := replaceOnce(path, Options{}, 2); err != nil {
		t.Fatal(err)
	}
	last, advanced := 2, 0
	for range killRounds() {
		said := runChild(t, path, "", func(p *os.Process) {
			time.Sleep(time.Duration(rand.IntN(60_000)) * time.Microsecond)
			if err := p.Kill(); err != nil {
				t.Error(err)
			}
		})
		if said > last {
			advanced++
		}
		last = max(last, said)
		checkSurvivor(t, path, last)
		last = versionAt(t, path)
	}
	t.Logf("%d of the children got as far as to replace something, %d times in all", advanced, last-2)
}

// TestKillAtOp checks the same for a kill right before each operation.
func TestKillAtOp(t *testing.T) {
	testneeds.Seconds(t)
	placed := false
	for nth, op := range systems()[len(systems())-1].ops(t) {
		t.Run(fmt.Sprintf("%d,%s", nth, op.Name), func(t *testing.T) {
			path := oldFile(t)
			if err := replaceOnce(path, Options{}, 2); err != nil {
				t.Fatal(err)
			}
			if said := runChild(t, path, strconv.Itoa(nth), nil); said != 0 {
				t.Errorf("version %d was put in place", said)
			}
			want := 2
			if placed {
				want = 3
			}
			if got := versionAt(t, path); got != want {
				t.Errorf("version %d is in place, want %d", got, want)
			}
			checkSurvivor(t, path, 2)
		})
		placed = placed || filepath.Base(op.Path) == "file.dat"
	}
}
