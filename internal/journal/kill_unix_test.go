//go:build unix

package journal_test

import (
	"bufio"
	"bytes"
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

	"lorefs/internal/disk"
	"lorefs/internal/journal"
	"lorefs/internal/testneeds"
)

// childVar holds the journal that a child process is to append to.
const childVar = "LOREFS_JOURNAL_CHILD"

func TestMain(m *testing.M) {
	if path := os.Getenv(childVar); path != "" {
		if err := appendForever(path); err != nil {
			fmt.Fprintln(os.Stderr, err)
			panic("the child could not append")
		}
		return
	}
	m.Run()
}

// numbered returns the n-th record: its number, and bytes computed from that, mostly few, sometimes
// many.
func numbered(n int) []byte {
	size := n * 37 % 300
	if n%16 == 0 {
		size = 200_000 + n%1000
	}
	return append(fmt.Appendf(nil, "%d:", n), bytes.Repeat([]byte{byte(n)}, size)...)
}

// appendForever appends to a journal until it is killed, and prints the number of records after each
// one.
func appendForever(path string) error {
	j, _, err := journal.Resume(disk.OS{}, path)
	if err != nil {
		return err
	}
	for n := j.Records(); ; n++ {
		if err := j.Append(numbered(n)); err != nil {
			return err
		}
		if _, err := fmt.Println(n + 1); err != nil {
			return err
		}
		if n%64 == 0 {
			go j.Sync() //nolint:errcheck // a concurrent sync; if it fails, the next call returns that
		}
	}
}

// TestKill checks that everything that was appended when a process is killed is there.
func TestKill(t *testing.T) {
	rounds := 50
	if testneeds.Quick() {
		rounds = 10
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "x.journal")
	j, err := journal.Create(disk.OS{}, path, []byte("header"))
	if err != nil {
		t.Fatal(err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	torn, total := 0, 0
	for range rounds {
		said := killOne(t, exe, path)
		n, cut := checkNumbered(t, path)
		if n < said || n < total {
			t.Fatalf("%d records are left; %d were appended, and %d before", n, said, total)
		}
		total = n
		if cut > 0 {
			torn++
			if err := journal.Renew(disk.OS{}, path); err != nil {
				t.Fatal(err)
			}
		}
	}
	t.Logf("%d records outlasted %d kills, of which %d tore one", total, rounds, torn)
	if total == 0 {
		t.Error("no child got as far as to append anything")
	}
}

// killOne lets a child append for a moment, and returns how many records it reported.
func killOne(t *testing.T, exe, path string) int {
	t.Helper()
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
	// Wait for its first record: a busy machine may need longer to begin.
	said := bufio.NewReader(out)
	first, err := said.ReadString('\n')
	if err != nil {
		t.Error(err)
	}
	time.AfterFunc(time.Duration(rand.IntN(8_000))*time.Microsecond, func() {
		_ = child.Process.Kill() // how it ended is checked below
	})
	rest, err := io.ReadAll(said)
	if err != nil {
		t.Error(err)
	}
	_ = child.Wait()
	if ws, ok := child.ProcessState.Sys().(syscall.WaitStatus); !ok || ws.Signal() != syscall.SIGKILL {
		t.Fatalf("the child was not killed: %v", child.ProcessState)
	}
	lines := strings.Split(first+string(rest), "\n")
	n, err := strconv.Atoi(lines[len(lines)-2]) // the last one is not whole
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// checkNumbered checks each record, and returns the number of records and of torn bytes.
func checkNumbered(t *testing.T, path string) (records int, torn int64) {
	t.Helper()
	c, err := journal.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	n := 0
	for r, err := range c.Records() {
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(r, numbered(n)) {
			t.Fatalf("record %d is %.20q", n, r)
		}
		n++
	}
	return n, c.Unreadable()
}
