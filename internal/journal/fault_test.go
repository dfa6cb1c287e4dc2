package journal

import (
	"bytes"
	"errors"
	"fmt"
	iofs "io/fs"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"lorefs/internal/disk/disktest"
)

// progress is what a journal has confirmed to its user.
type progress struct {
	created bool
	// tried, acked and synced are numbers of records, counted from the first.
	tried, acked, synced int
}

// use makes a journal and fills it, until too much fails. It tries a failed record again.
func use(m *place) (p progress) {
	useWith(m, &p)
	return p
}

func useWith(m *place, p *progress) {
	j, err := create(m, testHeader)
	if err != nil {
		return
	}
	p.created = true
	for tries := 0; p.acked < 6 && tries < 8; tries++ {
		p.tried = p.acked + 1
		if j.Append(payload(p.acked)) == nil {
			p.acked++
		}
		if p.acked%3 != 2 {
			continue
		}
		if j.Sync() == nil {
			p.synced = p.acked
		}
	}
	if j.Close() == nil {
		p.synced = p.acked
	}
}

// checkAlive checks a journal after the death of its process: everything that was appended
// is there, and nothing else.
func checkAlive(t *testing.T, what string, m *place, p progress) {
	t.Helper()
	data, there := m.now()
	if there != p.created {
		t.Errorf("%s: it is there: %v, it was made: %v", what, there, p.created)
	}
	if !there {
		return
	}
	c, err := parseBytes(data)
	if err != nil || c.Damage() != nil {
		t.Errorf("%s: %v, %v", what, c, err)
		return
	}
	records, err := readAll(c)
	if err != nil {
		t.Errorf("%s: %v", what, err)
	}
	wantPayloads(t, what, records, p.acked)
}

// checkAfterCut checks a journal after a power cut: it has all synced records, and nothing that was
// never appended.
func checkAfterCut(t *testing.T, what string, data []byte, there bool, p progress) {
	t.Helper()
	if c := checkKept(t, what, data, there, p); c != nil && c.Damage() != nil {
		t.Errorf("%s: %v", what, c.Damage())
	}
}

// checkKept is checkAfterCut for a power cut that may look like damage.
func checkKept(t *testing.T, what string, data []byte, there bool, p progress) *Contents {
	t.Helper()
	if !there {
		if p.created {
			t.Errorf("%s: the journal is gone", what)
		}
		return nil
	}
	c, err := parseBytes(data)
	if err != nil {
		t.Errorf("%s: %v", what, err)
		return nil
	}
	if c.Len() < p.synced || c.Len() > max(p.tried, p.acked) {
		t.Errorf("%s: %d records; %d were synced, %d appended", what, c.Len(), p.synced, p.acked)
	}
	records, err := readAll(c)
	if !errors.Is(err, c.Damage()) {
		t.Errorf("%s: %v", what, err)
	}
	wantPayloads(t, what, records, c.Len())
	return c
}

// TestFaults makes each operation in turn fail, in each possible way.
func TestFaults(t *testing.T) {
	clean := newPlace(t)
	if p := use(clean); p != (progress{created: true, tried: 6, acked: 6, synced: 6}) {
		t.Fatalf("without faults: %+v", p)
	}
	kinds := slices.Compact(slices.Sorted(slices.Values(clean.ops())))
	if want := []string{"close", "create", "link", "open", "remove", "sync", "syncDir", "write"}; !slices.Equal(kinds, want) {
		t.Errorf("the operations are %v, want %v", kinds, want)
	}
	for at, op := range clean.ops() {
		for _, mode := range []string{"fails", "short", "silent", "untruncatable", "fails for ever"} {
			if op != "write" && mode != "fails" && mode != "fails for ever" {
				continue
			}
			what := fmt.Sprintf("operation %d, %s %s", at, op, mode)
			m := newPlace(t)
			m.Short = mode != "fails" && mode != "fails for ever"
			n, truncates := 0, 0
			m.before(func(o string) error {
				n++
				switch {
				case o == "truncate" && mode == "untruncatable":
					if truncates++; truncates <= 2 {
						return errInjected
					}
				case mode == "fails for ever" && n > at && o == op && op != "remove":
					return errInjected
				case n != at+1:
				case mode == "silent":
					return disktest.ErrSilent
				default:
					return errInjected
				}
				return nil
			})
			p := use(m)
			checkAlive(t, what, m, p)
			data, there := m.afterCut()
			checkAfterCut(t, what, data, there, p)
			for _, name := range m.files() {
				if name != filepath.Base(m.path) {
					t.Errorf("%s: %s is left", what, name)
				}
			}
			if mode == "short" && op == "write" && p.created && p.acked != 6 {
				t.Errorf("%s: the journal did not stay usable: %+v", what, p)
			}
		}
	}
}

// TestPowerCut cuts the power before each operation.
func TestPowerCut(t *testing.T) {
	m := newPlace(t)
	var p progress
	r := rand.New(rand.NewPCG(1, 2))
	cuts, damaged, torn := 0, 0, 0
	m.before(func(op string) error {
		cuts++
		what := fmt.Sprintf("cut %d, before %s", cuts, op)
		data, there := m.afterCut()
		checkAfterCut(t, what, data, there, p)
		if !there {
			return nil
		}
		// The records that were not synced may have reached the disk in part, in their order.
		// Without a new promise that is no damage.
		now, _ := m.now()
		for size := len(data); size <= len(now); size++ {
			kept := append(bytes.Clone(data), now[len(data):size]...)
			checkAfterCut(t, fmt.Sprintf("%s, %d bytes", what, size), kept, true, p)
		}
		// They may also have done so in any order, with the promise or without.
		for i := range 200 {
			c := checkKept(t, fmt.Sprintf("%s, disorder %d", what, i), m.Disorder(m.path, r), true, p)
			switch {
			case c == nil:
			case c.Damage() != nil:
				damaged++
			case c.Unreadable() > 0:
				torn++
			}
		}
		return nil
	})
	useWith(m, &p)
	if cuts < 15 || damaged < 50 || torn < 50 {
		t.Errorf("there were only %d moments; %d times something was damaged, %d times torn", cuts, damaged, torn)
	}
	data, there := m.afterCut()
	checkAfterCut(t, "at the end", data, there, p)
	if p.synced != 6 {
		t.Errorf("%+v", p)
	}
}

// TestCreateWithoutLinks checks that where files have only one name, the new file is renamed, and
// nothing is lost.
func TestCreateWithoutLinks(t *testing.T) {
	m := newPlace(t)
	m.before(func(op string) error {
		if op == "link" {
			return errInjected
		}
		return nil
	})
	if p := use(m); p.synced != 6 {
		t.Errorf("%+v", p)
	}
	before, _ := m.now()
	if _, err := create(m, nil); !errors.Is(err, iofs.ErrExist) {
		t.Errorf("made twice: %v", err)
	}
	if after, _ := m.now(); !bytes.Equal(before, after) || len(m.files()) != 1 {
		t.Errorf("the first one was changed; there are %d files", len(m.files()))
	}
}

// TestFailedSync checks that a failed sync is never forgotten.
func TestFailedSync(t *testing.T) {
	m := newPlace(t)
	j, err := create(m, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := j.Append(payload(0)); err != nil {
		t.Fatal(err)
	}
	m.before(func(op string) error {
		if op == "sync" {
			return errInjected
		}
		return nil
	})
	first := j.Sync()
	m.before(nil)
	syncs := m.Count("sync")
	for what, err := range map[string]error{
		"first": first, "sync": j.Sync(), "append": j.Append(payload(1)), "close": j.Close(), "sync after close": j.Sync(),
	} {
		if !errors.Is(err, ErrUnusable) || !errors.Is(err, errInjected) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if m.Count("sync") != syncs {
		t.Error("it was synced again, as if that could help")
	}
	if err := j.Remove(); err != nil {
		t.Errorf("it cannot be removed: %v", err)
	}
	if _, there := m.afterCut(); there {
		t.Error("the removed journal comes back")
	}
}

// TestFailedPromise checks that a promise that can't be written, as for lack of space, is written
// later to the same slot, because the other slot has the promise that counts.
func TestFailedPromise(t *testing.T) {
	m := newPlace(t)
	j, err := create(m, testHeader)
	if err != nil {
		t.Fatal(err)
	}
	var p progress
	p.created = true
	for n := range 4 {
		if err := j.Append(payload(n)); err != nil {
			t.Fatal(err)
		}
		p.tried, p.acked = n+1, n+1
		m.Short = true
		m.before(func(op string) error {
			if op == "write" {
				return errInjected
			}
			return nil
		})
		for range 3 {
			if err := j.Sync(); !errors.Is(err, errInjected) || errors.Is(err, ErrUnusable) {
				t.Errorf("%v", err)
			}
			now, _ := m.now()
			checkAfterCut(t, "without a promise", now, true, p)
			if c, err := parseBytes(now); err != nil || n > 0 && c.promises.last() < c.first+1 {
				t.Errorf("the promise before is gone: %v, %v", c.promises, err)
			}
		}
		m.before(nil)
		if err := j.Sync(); err != nil {
			t.Fatal(err)
		}
		p.synced = n + 1
		data, there := m.afterCut()
		checkAfterCut(t, "with a promise again", data, there, p)
		if c, err := parseBytes(data); err != nil || !c.promises.whole() || c.promises.last() != c.end {
			t.Errorf("%v, %v", c.promises, err)
		}
	}
	if err := j.Close(); err != nil {
		t.Error(err)
	}
}

// TestResumeFaults makes each operation of resuming and renewing fail, and cuts the power. No record
// may be lost.
func TestResumeFaults(t *testing.T) {
	data, _ := build(3, 1)
	torn := data[:len(data)-2]
	again := func(m *place) error {
		err := Renew(m.Disk, m.path)
		if err == nil {
			_, _, err = Resume(m.Disk, m.path)
		}
		return err
	}
	clean := newPlace(t)
	clean.put(bytes.Clone(torn))
	if err := again(clean); err != nil {
		t.Fatal(err)
	}
	p := progress{created: true, tried: 2, acked: 2, synced: 2}
	for at, op := range clean.ops() {
		m := newPlace(t)
		m.put(bytes.Clone(torn))
		n := 0
		m.before(func(string) error {
			for _, file := range m.beforeAndAfter() {
				if !bytes.Equal(file, torn) {
					checkAfterCut(t, op, file, true, p)
				}
			}
			if n++; n == at+1 {
				return errInjected
			}
			return nil
		})
		if err := again(m); !errors.Is(err, errInjected) && op != "close" {
			t.Errorf("%s fails: %v", op, err)
		}
		after, _ := m.now()
		if c, err := parseBytes(after); err != nil || c.Damage() != nil || c.Len() != 2 {
			t.Errorf("%s fails: records are lost: %v, %+v", op, err, c)
		}
		if len(m.files()) > 1 {
			t.Errorf("%s fails: %d files are left", op, len(m.files()))
		}
	}
	for _, op := range []string{"rename", "sync", "syncDir", "read", "write"} {
		if !slices.Contains(clean.ops(), op) {
			t.Errorf("the operations were %v", clean.ops())
		}
	}
}
