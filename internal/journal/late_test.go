package journal

import (
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// TestSyncedLate checks that a record is on the disk a second after it was appended, and
// that nothing runs if there is nothing to sync.
func TestSyncedLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newPlace(t)
		j, err := create(m, testHeader)
		if err != nil {
			t.Fatal(err)
		}
		syncs := m.Count("sync")
		want := func(more int) {
			t.Helper()
			if got := m.Count("sync") - syncs; got != more {
				t.Errorf("synced %d times, want %d", got, more)
			}
			syncs = m.Count("sync")
		}
		time.Sleep(time.Hour)
		want(0)
		for n := range 3 {
			if err := j.Append(payload(n)); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Second)
			synctest.Wait()
			want(1)
			data, there := m.afterCut()
			checkAfterCut(t, "after a second", data, there, progress{created: true, tried: n + 1, acked: n + 1, synced: n + 1})
		}
		// Many records at once take one sync, and synced records take none.
		for n := 3; n < 10; n++ {
			if err := j.Append(payload(n)); err != nil {
				t.Fatal(err)
			}
		}
		if err := j.Sync(); err != nil {
			t.Fatal(err)
		}
		want(1)
		time.Sleep(time.Hour)
		want(0)
		if err := j.Append(payload(10)); err != nil {
			t.Fatal(err)
		}
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
		want(1)
		time.Sleep(time.Hour)
		want(0)
	})
}

// TestGroupCommit checks that callers that come while the disk is busy share the next sync,
// and that each returns only when its own record is there.
func TestGroupCommit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newPlace(t)
		j, err := create(m, testHeader)
		if err != nil {
			t.Fatal(err)
		}
		m.before(func(op string) error {
			if op == "sync" {
				time.Sleep(100 * time.Millisecond)
			}
			return nil
		})
		before := m.Count("sync")
		var wg sync.WaitGroup
		for range 50 {
			wg.Go(func() {
				if err := j.Append([]byte("x")); err != nil {
					t.Error(err)
				}
				size := j.Size() // at least as far as this record
				if err := j.Sync(); err != nil {
					t.Error(err)
				}
				if data, _ := m.afterCut(); int64(len(data)) < size {
					t.Errorf("synced, but the disk has %d bytes of %d", len(data), size)
				}
			})
		}
		wg.Wait()
		if n := m.Count("sync") - before; n > 2 {
			t.Errorf("50 callers made %d syncs", n)
		}
		if err := j.Close(); err != nil {
			t.Error(err)
		}
	})
}

// TestGroupFailure checks that all callers that wait for a failing sync get the error, and so do later
// ones.
func TestGroupFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newPlace(t)
		j, err := create(m, testHeader)
		if err != nil {
			t.Fatal(err)
		}
		m.before(func(op string) error {
			if op == "sync" {
				time.Sleep(100 * time.Millisecond)
				return errInjected
			}
			return nil
		})
		if err := j.Append([]byte("x")); err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		for range 5 {
			wg.Go(func() {
				if err := j.Sync(); !errors.Is(err, errInjected) {
					t.Errorf("%v", err)
				}
			})
		}
		wg.Wait()
		if err := j.Close(); !errors.Is(err, ErrUnusable) {
			t.Errorf("closed: %v", err)
		}
	})
}

// TestLateFailure checks that the late sync's failure is not lost, although nobody waits
// for it.
func TestLateFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newPlace(t)
		j, err := create(m, testHeader)
		if err != nil {
			t.Fatal(err)
		}
		m.before(func(op string) error {
			if op == "sync" {
				return errInjected
			}
			return nil
		})
		if err := j.Append([]byte("x")); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if err := j.Append([]byte("y")); !errors.Is(err, ErrUnusable) || !errors.Is(err, errInjected) {
			t.Errorf("%v", err)
		}
		if err := j.Close(); !errors.Is(err, ErrUnusable) {
			t.Errorf("closed: %v", err)
		}
	})
}

// TestLatePromise checks that a late sync without space for its promise tries again,
// although nobody waits for it and nothing else is appended.
func TestLatePromise(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newPlace(t)
		j, err := create(m, testHeader)
		if err != nil {
			t.Fatal(err)
		}
		writes := 0 // the first one writes the record
		m.before(func(op string) error {
			if op != "write" {
				return nil
			}
			if writes++; writes > 1 && writes < 5 {
				return errInjected
			}
			return nil
		})
		if err := j.Append(payload(0)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		data, there := m.afterCut()
		checkAfterCut(t, "after a minute", data, there, progress{created: true, tried: 1, acked: 1, synced: 1})
		if c, err := parseBytes(data); err != nil || writes != 5 || c.promises.last() != c.end {
			t.Errorf("written %d times; promised are %v, %v", writes, c.promises, err)
		}
		syncs := m.Count("sync")
		time.Sleep(time.Hour)
		if m.Count("sync") != syncs {
			t.Error("it is synced for ever")
		}
		if err := j.Close(); err != nil {
			t.Error(err)
		}
	})
}
