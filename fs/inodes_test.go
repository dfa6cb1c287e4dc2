//go:build linux

package fs

import (
	"context"
	"log/slog"
	"slices"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"

	"lorefs/nodes"
	"lorefs/nodes/nodetest"
)

// kernel plays the kernel's part: it learns inodes by LOOKUP and forgets them when asked
// to, unless they are in use.
type kernel struct {
	raw     fuse.RawFileSystem
	inUse   map[uint64]bool
	noPrune bool
	names   map[string]uint64
	offers  [][]uint64
}

func (k *kernel) PruneNotify(ids []uint64) fuse.Status {
	if k.noPrune {
		return fuse.ENOSYS
	}
	k.offers = append(k.offers, slices.Clone(ids))
	for _, id := range ids {
		if !k.inUse[id] {
			k.raw.Forget(id, 1)
		}
	}
	return fuse.OK
}

func (k *kernel) EntryNotify(_ uint64, name string) fuse.Status {
	if id := k.names[name]; !k.inUse[id] {
		k.raw.Forget(id, 1)
	}
	return fuse.OK
}

// forget makes the kernel forget n files on its own.
func (k *kernel) forget(n int) {
	for name, id := range k.names {
		if n--; n < 0 {
			return
		}
		k.raw.Forget(id, 1)
		delete(k.names, name)
	}
}

// lookup makes the kernel know some files of the root.
func (k *kernel) lookup(t *testing.T, from, to int) {
	t.Helper()
	for i := from; i < to; i++ {
		name := testName(i)
		var out fuse.EntryOut
		if st := k.raw.Lookup(nil, &fuse.InHeader{NodeId: fuse.FUSE_ROOT_ID}, name, &out); !st.Ok() {
			t.Fatalf("LOOKUP of %s: %v", name, st)
		}
		k.names[name] = out.NodeId
	}
}

func testName(i int) string {
	return string([]rune{'a' + rune(i/1000), rune('0' + i/100%10), rune('0' + i/10%10), rune('0' + i%10)})
}

// newTestMount serves n files without a kernel.
func newTestMount(t *testing.T, files, limit int) (*mount, *kernel) {
	t.Helper()
	var b nodetest.Builder
	for i := range files {
		b.File(nodes.Root, testName(i), "text")
	}
	tree, err := b.Build(testTime)
	if err != nil {
		t.Fatal(err)
	}
	o := Options{MaxInodes: limit, Logger: slog.New(slog.DiscardHandler)}
	m := newMount(tree, o)
	return m, &kernel{raw: newFront(m, o), inUse: map[uint64]bool{}, names: map[string]uint64{}}
}

func shrink(m *mount, k *kernel) {
	p := pruner{list: &m.inodes, kernel: k, counters: &m.counters}
	p.shrink(context.Background())
}

func TestPruneDropsTheOldest(t *testing.T) {
	m, k := newTestMount(t, 1000, 800)
	k.lookup(t, 0, 1000)
	if n := m.inodes.len(); n != 1000 {
		t.Fatalf("%d inodes known, want 1000", n)
	}
	shrink(m, k)
	if n := m.inodes.len(); n != 700 {
		t.Errorf("%d inodes left, want 7/8 of 800", n)
	}
	if n := m.inodes.find(k.names[testName(299)]); n != nil {
		t.Error("an old inode is still there")
	}
	if n := m.inodes.find(k.names[testName(300)]); n == nil {
		t.Error("a new inode is gone")
	}
	if first := k.offers[0]; first[0] < first[len(first)-1] {
		t.Error("the oldest of a batch come first: directories would precede their entries")
	}
}

func TestPruneGivesUpOnWhatIsInUse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, k := newTestMount(t, 1000, 400)
		k.lookup(t, 0, 900)
		for _, id := range k.names {
			k.inUse[id] = true
		}
		shrink(m, k)
		if n := m.inodes.len(); n != 900 {
			t.Errorf("%d inodes left, want all 900", n)
		}
		if got := m.inodes.stuck.Load(); got != 950 {
			t.Errorf("tries again at %d inodes, want 950", got)
		}
		m.inodes.throttle() // must not wait: it would not help
		clear(k.inUse)
		k.forget(550)
		if got := m.inodes.stuck.Load(); got != 0 {
			t.Errorf("tries again at %d inodes although there were few meanwhile", got)
		}
		k.lookup(t, 0, 900)
		k.lookup(t, 900, 950)
		shrink(m, k)
		if n := m.inodes.len(); n != 350 {
			t.Errorf("%d inodes left, want 350", n)
		}
	})
}

func TestPruneWithoutNotifyPrune(t *testing.T) {
	m, k := newTestMount(t, 1000, 800)
	k.noPrune = true
	k.lookup(t, 0, 1000)
	shrink(m, k)
	if n := m.inodes.len(); n != 700 {
		t.Errorf("%d inodes left, want 700", n)
	}
}

func TestInodesAreListedOnce(t *testing.T) {
	m, k := newTestMount(t, 10, 100)
	for range 3 {
		k.lookup(t, 0, 10)
	}
	if n := m.inodes.len(); n != 10 {
		t.Errorf("%d inodes listed, want 10", n)
	}
	for _, id := range k.names {
		k.raw.Forget(id, 3)
	}
	if n := m.inodes.len(); n != 0 || m.inodes.oldest != nil || m.inodes.newest != nil {
		t.Errorf("%d inodes listed after all were forgotten", n)
	}
}

func TestNoLimit(t *testing.T) {
	m, k := newTestMount(t, 100, -1)
	k.lookup(t, 0, 100)
	if m.inodes.crowded() || len(m.inodes.wake) != 0 {
		t.Error("inodes are to be dropped although there is no limit")
	}
}

// TestNodeAnswers checks answers that a mount can't show, because the kernel asks only
// once.
func TestNodeAnswers(t *testing.T) {
	_, k := newTestMount(t, 1, 10)
	k.lookup(t, 0, 1)
	id := k.names[testName(0)]
	head := fuse.InHeader{NodeId: id}
	if st := k.raw.Open(nil, &fuse.OpenIn{InHeader: head}, new(fuse.OpenOut)); st != fuse.ENOSYS {
		t.Errorf("OPEN = %v, want ENOSYS", st)
	}
	if st := k.raw.Flush(nil, &fuse.FlushIn{InHeader: head}); st != fuse.ENOSYS {
		t.Errorf("FLUSH = %v, want ENOSYS", st)
	}
	if st := k.raw.Access(nil, &fuse.AccessIn{InHeader: head}); st != fuse.ENOSYS {
		t.Errorf("ACCESS = %v, want ENOSYS", st)
	}
	for name, want := range map[string]syscall.Errno{
		"security.selinux": syscall.ENOTSUP, "system.posix_acl_access": syscall.ENOTSUP,
		"user.other": syscall.ENODATA, "user.lorefs.none": syscall.ENODATA,
	} {
		if _, st := k.raw.GetXAttr(nil, &head, name, nil); syscall.Errno(st) != want {
			t.Errorf("GETXATTR %s = %v, want %v", name, st, want)
		}
	}
}

// slowly is a kernel that takes a while to drop inodes.
type slowly struct{ dropped bool }

func (k *slowly) PruneNotify([]uint64) fuse.Status {
	time.Sleep(5 * throttleStep)
	k.dropped = true
	return fuse.OK
}

func (*slowly) EntryNotify(uint64, string) fuse.Status { return fuse.OK }

// TestListingsWaitForPruning checks that a listing waits while inodes are dropped: the kernel would
// ask again for all attributes in it.
func TestListingsWaitForPruning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := inodeList{limit: 1000}
		k := &slowly{}
		p := pruner{list: &l, kernel: k, counters: &counters{}}
		go p.offer()
		synctest.Wait()
		l.throttle()
		if !k.dropped {
			t.Error("a listing does not wait")
		}
		synctest.Wait()
		if l.pruning.Load() {
			t.Error("listings wait for what is done")
		}
	})
}
