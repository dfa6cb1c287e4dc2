package journal_test

import (
	"bytes"
	"errors"
	"fmt"
	iofs "io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"lorefs/internal/disk"
	"lorefs/internal/journal"
)

func newJournal(t *testing.T) *journal.Journal {
	t.Helper()
	j, err := journal.Create(disk.OS{}, filepath.Join(t.TempDir(), "x.journal"), []byte("header"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.Close() })
	return j
}

// records reads a journal from its file.
func records(t *testing.T, path string) []string {
	t.Helper()
	c, err := journal.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if string(c.Header()) != "header" || c.Unreadable() != 0 {
		t.Errorf("header %q, %d torn", c.Header(), c.Unreadable())
	}
	var all []string
	for r, err := range c.Records() {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, string(r))
	}
	if len(all) != c.Len() {
		t.Errorf("%d records, it says %d", len(all), c.Len())
	}
	return all
}

func wantRecords(t *testing.T, path string, want ...string) {
	t.Helper()
	if got := records(t, path); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("the records are %q, want %q", got, want)
	}
}

func TestJournal(t *testing.T) {
	j := newJournal(t)
	wantRecords(t, j.Path())
	for _, text := range []string{"one", "two"} {
		if err := j.Append([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	wantRecords(t, j.Path(), "one", "two") // without syncing
	info, err := os.Stat(j.Path())
	if err != nil {
		t.Fatal(err)
	}
	if j.Records() != 2 || j.Size() != info.Size() {
		t.Errorf("%d records, %d bytes; the file has %d", j.Records(), j.Size(), info.Size())
	}
	if runtime.GOOS != "windows" && info.Mode() != 0o600 {
		t.Errorf("its mode is %v", info.Mode())
	}
	for range 2 {
		if err := j.Sync(); err != nil {
			t.Error(err)
		}
	}
	for range 2 {
		if err := j.Close(); err != nil {
			t.Error(err)
		}
	}
	if err := j.Append([]byte("x")); !errors.Is(err, os.ErrClosed) {
		t.Errorf("appended after closing: %v", err)
	}
	if err := j.Sync(); !errors.Is(err, os.ErrClosed) {
		t.Errorf("synced after closing: %v", err)
	}

	j, c, err := journal.Resume(disk.OS{}, j.Path())
	if err != nil {
		t.Fatal(err)
	}
	if c.Len() != 2 || j.Records() != 2 {
		t.Errorf("resumed with %d and %d records", c.Len(), j.Records())
	}
	if err := j.Append([]byte("three")); err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, err := range c.Records() { // the records that it had when opened, while more are added
		if n++; err != nil {
			t.Error(err)
		}
	}
	if n != 2 {
		t.Errorf("%d records were there", n)
	}
	if err := errors.Join(c.Close(), j.Append([]byte("four"))); err != nil {
		t.Error(err)
	}
	wantRecords(t, j.Path(), "one", "two", "three", "four")
	for range 2 {
		if err := j.Remove(); err != nil {
			t.Error(err)
		}
	}
	if entries, err := os.ReadDir(filepath.Dir(j.Path())); err != nil || len(entries) != 0 {
		t.Errorf("left are %v, %v", entries, err)
	}
	if _, err := journal.Read(j.Path()); !errors.Is(err, iofs.ErrNotExist) {
		t.Errorf("read after removing: %v", err)
	}
	if _, _, err := journal.Resume(disk.OS{}, j.Path()); !errors.Is(err, iofs.ErrNotExist) {
		t.Errorf("resumed after removing: %v", err)
	}
}

func TestLimits(t *testing.T) {
	j := newJournal(t)
	if _, err := journal.Create(disk.OS{}, j.Path(), nil); !errors.Is(err, iofs.ErrExist) {
		t.Errorf("made twice: %v", err)
	}
	if err := j.Append(nil); err == nil {
		t.Error("an empty record was taken")
	}
	big := make([]byte, journal.MaxPayload+1)
	if err := j.Append(big); err == nil {
		t.Error("too large a record was taken")
	}
	copy(big, "big")
	for _, r := range [][]byte{big[:journal.MaxPayload], []byte("small")} {
		if err := j.Append(r); err != nil {
			t.Fatal(err)
		}
	}
	if got := records(t, j.Path()); len(got) != 2 || got[0] != string(big[:journal.MaxPayload]) || got[1] != "small" {
		t.Errorf("%d records", len(got))
	}
	other := j.Path() + "2"
	if _, err := journal.Create(disk.OS{}, other, make([]byte, journal.MaxHeader+1)); err == nil {
		t.Error("too large a header was taken")
	}
	if _, err := os.Lstat(other); err == nil {
		t.Error("something was made all the same")
	}
	k, err := journal.Create(disk.OS{}, other, make([]byte, journal.MaxHeader))
	if err != nil {
		t.Fatal(err)
	}
	if err := k.Close(); err != nil {
		t.Error(err)
	}
	c, err := journal.Read(other)
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Header()) != journal.MaxHeader {
		t.Errorf("a header of %d bytes", len(c.Header()))
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

// TestConcurrent appends and syncs from many goroutines. Nothing is lost or mixed up.
func TestConcurrent(t *testing.T) {
	const writers, each = 8, 40
	j := newJournal(t)
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := range each {
				if err := j.Append(fmt.Appendf(nil, "%d:%d:%s", w, i, bytes.Repeat([]byte{'x'}, i*w))); err != nil {
					t.Error(err)
				}
				if i%8 == 7 {
					if err := j.Sync(); err != nil {
						t.Error(err)
					}
				}
				if j.Size() <= 0 || j.Records() <= 0 {
					t.Error("it is empty")
				}
			}
		})
	}
	wg.Wait()
	if err := j.Close(); err != nil {
		t.Error(err)
	}
	next := [writers]int{}
	all := records(t, j.Path())
	for _, r := range all {
		var w, i int
		if _, err := fmt.Sscanf(r, "%d:%d:", &w, &i); err != nil || i != next[w] {
			t.Fatalf("%.20q comes when %v are next: %v", r, next, err)
		}
		next[w]++
	}
	if len(all) != writers*each {
		t.Errorf("%d records", len(all))
	}
}

// TestCloseWhileBusy closes or removes a journal in use. Every call must return.
func TestCloseWhileBusy(t *testing.T) {
	for _, end := range []func(*journal.Journal) error{(*journal.Journal).Close, (*journal.Journal).Remove} {
		for range 20 {
			j := newJournal(t)
			var wg sync.WaitGroup
			for range 4 {
				wg.Go(func() {
					for {
						err := errors.Join(j.Append([]byte("x")), j.Sync())
						if errors.Is(err, os.ErrClosed) {
							return
						}
						if err != nil {
							t.Error(err)
							return
						}
					}
				})
			}
			if err := end(j); err != nil {
				t.Error(err)
			}
			wg.Wait()
		}
	}
}
