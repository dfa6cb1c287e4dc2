//go:build linux

package fs

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"

	"lorefs/nodes"
	"lorefs/nodes/nodetest"
)

// editFront serves a writable tree without a kernel.
func editFront(t *testing.T, tree nodes.Mutable) *front {
	t.Helper()
	o := Options{MaxInodes: -1, ReadWrite: true, Logger: slog.New(slog.DiscardHandler)}
	w := watch(tree)
	e, err := newEdits(tree, w, o)
	if err != nil {
		t.Fatal(err)
	}
	m := newMount(tree, o)
	m.edits, m.watched = e, w
	return newFront(m, o)
}

// fake is a tree with some methods replaced.
type fake struct {
	*nodetest.Mutable
	inLookup, inReadDir, inReadAt func()
	openErr                       error
}

func (f fake) Lookup(ctx context.Context, dir nodes.ID, name string) (nodes.Entry, error) {
	e, err := f.Mutable.Lookup(ctx, dir, name)
	if f.inLookup != nil {
		f.inLookup()
	}
	return e, err
}

func (f fake) ReadDir(ctx context.Context, dir nodes.ID, cursor uint64) iter.Seq2[nodes.Entry, error] {
	return func(yield func(nodes.Entry, error) bool) {
		for e, err := range f.Mutable.ReadDir(ctx, dir, cursor) {
			if !yield(e, err) {
				return
			}
		}
		if f.inReadDir != nil {
			f.inReadDir()
		}
	}
}

func (f fake) ReadAt(ctx context.Context, id nodes.ID, p []byte, off int64) (int, error) {
	n, err := f.Mutable.ReadAt(ctx, id, p, off)
	if f.inReadAt != nil {
		f.inReadAt()
	}
	return n, err
}

func (f fake) OpenWrite(ctx context.Context, id nodes.ID) (nodes.Writer, error) {
	if f.openErr != nil {
		return nil, f.openErr
	}
	return f.Mutable.OpenWrite(ctx, id)
}

func files() *nodetest.Mutable {
	return nodetest.NewMutable(map[string]string{"a": "text", "b": "text", "d/c": "text"})
}

func (f *front) known(t *testing.T, name string) nodes.ID {
	t.Helper()
	var out fuse.EntryOut
	if st := f.Lookup(nil, &rootHeader, name, &out); !st.Ok() {
		t.Fatalf("LOOKUP of %s: %v", name, st)
	}
	return nodes.ID(out.NodeId)
}

// TestAnswersThatRaceWithChanges checks that such answers are not cached.
func TestAnswersThatRaceWithChanges(t *testing.T) {
	tree := fake{Mutable: files()}
	var f *front
	change := func() {}
	tree.inLookup = func() { change() }
	tree.inReadDir = tree.inLookup
	f = editFront(t, &tree)
	b := f.known(t, "b")
	for name, c := range map[string]struct {
		do   func()
		kept bool
	}{
		"nothing":   {func() {}, true},
		"by itself": {func() { tree.Put(b, "new") }, false},
		"mkdir":     {func() { f.Mkdir(nil, &fuse.MkdirIn{InHeader: rootHeader}, "new", new(fuse.EntryOut)) }, false},
		"failed":    {func() { f.Unlink(nil, &rootHeader, "none") }, false},
	} {
		change = c.do
		var out fuse.EntryOut
		if st := f.Lookup(nil, &rootHeader, "a", &out); !st.Ok() {
			t.Fatal(st)
		}
		if kept := out.EntryTimeout() != 0 && out.AttrTimeout() != 0; kept != c.kept {
			t.Errorf("%s: LOOKUP is kept: %v", name, kept)
		}
		list := fuse.NewDirEntryList(make([]byte, 4096), 0)
		if st := f.ReadDirPlus(nil, &fuse.ReadIn{InHeader: rootHeader}, list); !st.Ok() {
			t.Fatal(st)
		}
		if kept := list.Bytes()[24] != 0 || list.Bytes()[16] != 0; kept != c.kept { // entry_valid, see readDirPlus
			t.Errorf("%s: READDIRPLUS is kept: %v", name, kept)
		}
	}
	f.m.edits.changes.begin() // by somebody who is not done
	change = func() {}
	var out fuse.EntryOut
	if st := f.Lookup(nil, &rootHeader, "a", &out); !st.Ok() || out.AttrTimeout() != 0 {
		t.Errorf("LOOKUP while something changes: %v, kept for %v", st, out.AttrTimeout())
	}
	var attr fuse.AttrOut
	in := fuse.SetAttrIn{}
	in.NodeId = uint64(b)
	if st := f.SetAttr(nil, &in, &attr); !st.Ok() || attr.Timeout() != cacheTimeout {
		t.Errorf("SETATTR: %v, kept for %v", st, attr.Timeout())
	}
}

// TestReadsThatRaceWithWrites finds a file shorter than it is by then.
func TestReadsThatRaceWithWrites(t *testing.T) {
	tree := fake{Mutable: files()}
	f := editFront(t, &tree)
	a := f.known(t, "a")
	tree.inReadAt = func() { tree.Put(a, "longer text") }
	in := fuse.ReadIn{InHeader: fuse.InHeader{NodeId: uint64(a)}, Size: 4096}
	res, st := f.Read(nil, &in, make([]byte, 4096))
	if !st.Ok() || res.Size() != 4 {
		t.Errorf("READ = %v", st)
	}
}

func TestCreateOfWhatHasComeUp(t *testing.T) {
	f := editFront(t, files())
	in := fuse.CreateIn{InHeader: rootHeader, Flags: syscall.O_RDWR | syscall.O_CREAT}
	if st := f.Create(nil, &in, "a", new(fuse.CreateOut)); syscall.Errno(st) != syscall.ESTALE {
		t.Errorf("CREATE = %v, want ESTALE", st)
	}
	in.Flags |= syscall.O_EXCL
	if st := f.Create(nil, &in, "a", new(fuse.CreateOut)); syscall.Errno(st) != syscall.EEXIST {
		t.Errorf("CREATE = %v, want EEXIST", st)
	}
}

func TestCreateIsAllOrNothing(t *testing.T) {
	tree := fake{Mutable: files(), openErr: nodes.ErrNoSpace}
	f := editFront(t, &tree)
	in := fuse.CreateIn{InHeader: rootHeader, Flags: syscall.O_RDWR | syscall.O_CREAT}
	if st := f.Create(nil, &in, "new", new(fuse.CreateOut)); syscall.Errno(st) != syscall.ENOSPC {
		t.Errorf("CREATE = %v, want ENOSPC", st)
	}
	if _, err := tree.Lookup(t.Context(), nodes.Root, "new"); !errors.Is(err, nodes.ErrNotExist) {
		t.Errorf("the file is there: %v", err)
	}
	if st := f.Create(nil, &in, "a/b", new(fuse.CreateOut)); syscall.Errno(st) != syscall.EINVAL {
		t.Errorf("CREATE of no name = %v, want EINVAL", st)
	}
}

// TestNewInodesAreKnown checks the list, and what the tree is told in the end.
func TestNewInodesAreKnown(t *testing.T) {
	tree := files()
	f := editFront(t, tree)
	var dir, file fuse.EntryOut
	var open fuse.CreateOut
	statuses := []fuse.Status{
		f.Mkdir(nil, &fuse.MkdirIn{InHeader: rootHeader}, "dir", &dir),
		f.Mknod(nil, &fuse.MknodIn{InHeader: rootHeader, Mode: syscall.S_IFREG}, "file", &file),
		f.Create(nil, &fuse.CreateIn{InHeader: rootHeader, Flags: syscall.O_RDWR}, "open", &open),
	}
	if slices.ContainsFunc(statuses, func(st fuse.Status) bool { return !st.Ok() }) {
		t.Fatal(statuses)
	}
	if n := f.m.inodes.len(); n != 3 {
		t.Errorf("%d inodes listed, want 3", n)
	}
	head := fuse.InHeader{NodeId: dir.NodeId}
	if st := f.Rename(nil, &fuse.RenameIn{InHeader: rootHeader, Newdir: dir.NodeId}, "open", "moved"); !st.Ok() {
		t.Error(st)
	}
	if n := f.m.inodes.find(open.NodeId); n == nil || n.path() != "/dir/moved" {
		t.Errorf("after a rename the node is %v", n)
	}
	if st := f.Unlink(nil, &head, "moved"); !st.Ok() {
		t.Error(st)
	}
	if n := f.m.inodes.find(open.NodeId); n == nil {
		t.Error("a removed file that is open is lost")
	}
	if f.m.edits.open.of(nodes.ID(open.NodeId)) == nil {
		t.Error("an open file is not known as open")
	}
	f.Release(nil, &fuse.ReleaseIn{InHeader: fuse.InHeader{NodeId: open.NodeId}, Fh: open.Fh})
	for _, id := range []uint64{open.NodeId, file.NodeId, dir.NodeId} {
		f.Forget(id, 1)
		if n := tree.Forgotten(nodes.ID(id)); n != 1 {
			t.Errorf("node %d is forgotten %d times, want 1", id, n)
		}
	}
	if n := f.m.inodes.len(); n != 0 || len(f.m.edits.refs.n) != 0 {
		t.Errorf("%d inodes listed and %d counted after all were forgotten", n, len(f.m.edits.refs.n))
	}
}

func TestForgetWaitsForTheLast(t *testing.T) {
	tree := files()
	f := editFront(t, tree)
	a := f.known(t, "a")
	for range 4 {
		f.known(t, "a")
	}
	f.Forget(uint64(a), 3)
	if n := tree.Forgotten(a); n != 0 {
		t.Errorf("forgotten %d times while the kernel knows it", n)
	}
	f.Forget(uint64(a), 2)
	if n := tree.Forgotten(a); n != 1 {
		t.Errorf("forgotten %d times, want 1", n)
	}
}

// told records what the kernel is told to drop.
type told struct {
	mu     sync.Mutex
	drops  []string
	status fuse.Status
	wait   chan struct{}
}

func (k *told) EntryNotify(parent uint64, name string) fuse.Status {
	if k.wait != nil {
		<-k.wait
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.drops = append(k.drops, fmt.Sprintf("%d %s", parent, name))
	return k.status
}

func (k *told) InodeNotify(node uint64, _, _ int64) fuse.Status {
	if k.wait != nil {
		<-k.wait
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.drops = append(k.drops, fmt.Sprint(node))
	return k.status
}

// during runs the goroutine of the notices while do runs.
func (*told) during(t *testing.T, f *front, k dropper, do func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	f.m.edits.notices.serve(true)
	go func() { defer close(done); f.m.notify(ctx, k) }()
	do()
	cancel()
	<-done
}

func TestNoticesAreDelivered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := editFront(t, files())
		a, d := f.known(t, "a"), f.known(t, "d")
		for _, c := range []struct {
			change nodes.Change
			want   []string
		}{
			{nodes.Change{ID: a}, []string{fmt.Sprint(a)}},
			{nodes.Change{Dir: 1, Name: "none"}, []string{"1 none", "1"}},
			{nodes.Change{Dir: 1, Name: "d"}, []string{"1"}}, // a directory that is unchanged
			{nodes.Change{Dir: 1}, []string{"1", "1 .", "1 a", "1"}},
			{nodes.Change{Dir: d, Name: "c"}, []string{fmt.Sprint(d, " c"), fmt.Sprint(d)}},
		} {
			k := &told{}
			k.during(t, f, k, func() {
				f.m.edits.notice(c.change)
				f.m.edits.notices.settle(nil)
			})
			if !slices.Equal(k.drops, c.want) {
				t.Errorf("%+v: dropped %q, want %q", c.change, k.drops, c.want)
			}
		}
	})
}

// TestNoticesOverflow drops everything if there were too many.
func TestNoticesOverflow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := editFront(t, files())
		a, b, d := f.known(t, "a"), f.known(t, "b"), f.known(t, "d")
		for i := range nodes.ID(maxNotices + 1) {
			f.m.edits.notice(nodes.Change{ID: 1000 + i})
		}
		k := &told{}
		k.during(t, f, k, func() { f.m.edits.notices.settle(nil) })
		for _, want := range []string{fmt.Sprint(a), fmt.Sprint(b), fmt.Sprint(d), fmt.Sprint(d, " ."), "1 .", "1 a", "1 b", "1"} {
			if !slices.Contains(k.drops, want) {
				t.Errorf("%q is not dropped: %q", want, k.drops)
			}
		}
		if len(k.drops) > 20 {
			t.Errorf("%d notices for an overflow", len(k.drops))
		}
	})
}

// TestLateNotices checks that notices the kernel did not know are repeated.
func TestLateNotices(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := editFront(t, files())
		k := &told{status: fuse.ENOENT}
		k.during(t, f, k, func() {
			f.m.edits.notice(nodes.Change{ID: 77})
			time.Sleep(10 * lateStep)
		})
		if !slices.Equal(k.drops, []string{"77", "77"}) {
			t.Errorf("dropped %q, want 77 twice", k.drops)
		}
	})
}

// heldDirs is a kernel in which requests hold directories: a name in one can't be dropped until
// the request is answered.
type heldDirs struct {
	told
	answered map[uint64]chan struct{}
}

func (k *heldDirs) EntryNotify(parent uint64, name string) fuse.Status {
	if c := k.answered[parent]; c != nil {
		<-c
	}
	return k.told.EntryNotify(parent, name)
}

// TestRequestsInEachOthersWay has two requests of which each changes the directory that the other
// one holds. The second is answered first; the first waits until its change is known.
func TestRequestsInEachOthersWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := editFront(t, files())
		q := &f.m.edits.notices
		k := &heldDirs{answered: map[uint64]chan struct{}{101: make(chan struct{}), 102: make(chan struct{})}}
		k.during(t, f, k, func() {
			first, second := q.begin([2]nodes.ID{101}), q.begin([2]nodes.ID{102})
			var order []string
			var both sync.WaitGroup
			both.Go(func() {
				q.add(nodes.Change{Dir: 102, Name: "x"})
				q.end(first)
				order = append(order, "first")
				close(k.answered[101])
			})
			synctest.Wait()
			both.Go(func() {
				q.add(nodes.Change{Dir: 101, Name: "y"})
				q.end(second)
				order = append(order, "second")
				close(k.answered[102])
			})
			both.Wait()
			q.settle(nil)
			if !slices.Equal(order, []string{"second", "first"}) {
				t.Errorf("answered %q", order)
			}
			if !slices.Contains(k.drops, "102 x") || !slices.Contains(k.drops, "101 y") {
				t.Errorf("dropped %q", k.drops)
			}
		})
	})
}

// TestNamesWaitForTheAnswer checks that no name is dropped in a directory that a request holds: the
// notice would wait in the kernel, where a process that is killed can't be ended.
func TestNamesWaitForTheAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := editFront(t, files())
		q := &f.m.edits.notices
		k := &told{}
		k.during(t, f, k, func() {
			r := q.begin([2]nodes.ID{101})
			q.add(nodes.Change{Dir: 101, Name: "x"})
			q.add(nodes.Change{Dir: 102, Name: "y"})
			synctest.Wait()
			if slices.Contains(k.drops, "101 x") || !slices.Contains(k.drops, "102 y") {
				t.Errorf("before the answer: dropped %q", k.drops)
			}
			q.end(r)
			synctest.Wait()
			if !slices.Contains(k.drops, "101 x") {
				t.Errorf("after the answer: dropped %q", k.drops)
			}
		})
	})
}

// TestSizeComesAfterTheContentIsDropped asks for the attributes of a file while the kernel still
// has old content of it.
func TestSizeComesAfterTheContentIsDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tree := files()
		f := editFront(t, tree)
		a := f.known(t, "a")
		k := &told{wait: make(chan struct{})}
		k.during(t, f, k, func() {
			tree.Put(a, "a longer text")
			var out fuse.AttrOut
			answered := make(chan struct{})
			go func() {
				defer close(answered)
				f.GetAttr(nil, &fuse.GetAttrIn{InHeader: fuse.InHeader{NodeId: uint64(a)}}, &out)
			}()
			synctest.Wait()
			select {
			case <-answered:
				t.Error("the kernel learns a size before it has dropped the old content")
			default:
			}
			close(k.wait)
			<-answered
			if out.Size != uint64(len("a longer text")) {
				t.Errorf("a size of %d", out.Size)
			}
		})
	})
}

// TestNoticesOutlivePanics has a tree that panics in the goroutine of the notices.
func TestNoticesOutlivePanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tree := fake{Mutable: files()}
		f := editFront(t, &tree)
		f.known(t, "d")
		tree.inLookup = func() { panic("BUG: as the test wants it") }
		k := &told{}
		k.during(t, f, k, func() {
			for range 2 {
				f.m.edits.notice(nodes.Change{Dir: 1, Name: "d"})
				f.m.edits.notices.settle(nil)
			}
		})
		if n := f.m.stats().Errors; n != 2 {
			t.Errorf("%d panics, want 2", n)
		}
	})
}

// TestPrimeLeavesOpenFiles checks that nothing is primed that is open for writing, and that
// a store is taken back if the tree reported a change meanwhile.
func TestPrimeLeavesOpenFiles(t *testing.T) {
	tree := fake{Mutable: files()}
	f := editFront(t, &tree)
	a, b := f.known(t, "a"), f.known(t, "b")
	var out fuse.OpenOut
	if st := f.Open(nil, &fuse.OpenIn{InHeader: fuse.InHeader{NodeId: uint64(a)}, Flags: syscall.O_RDWR}, &out); !st.Ok() {
		t.Fatal(st)
	}
	prime := func() map[uint64]string {
		f.m.primer.credit.Store(primeCredit)
		s := &store{data: map[uint64]string{}}
		job := priming{m: f.m, kernel: s}
		job.dir(t.Context(), nodes.Root)
		return s.data
	}
	if got := prime(); len(got) != 1 || got[uint64(b)] != "text" {
		t.Errorf("primed %v", got)
	}
	f.Release(nil, &fuse.ReleaseIn{InHeader: fuse.InHeader{NodeId: uint64(a)}, Fh: out.Fh})
	if got := prime(); len(got) != 2 {
		t.Errorf("primed %v", got)
	}
	f.m.edits.notices.init()
	tree.inReadAt = func() { tree.Put(b, "TEXT") }
	prime()
	if batch, _ := f.m.edits.notices.takeInodes(); len(batch) != 2 { // a, and b both reported and taken back
		t.Errorf("to be dropped: %v", batch)
	}
	tree.inReadAt = nil
	tree.inReadDir = nil
	tree.Put(a, "longer") // after it was listed, so to say
	job := priming{m: f.m, kernel: &store{data: map[uint64]string{}}}
	s := &store{data: map[uint64]string{}}
	job.kernel = s
	if !job.file(t.Context(), &nodes.Entry{ID: a, Size: 4}) || len(s.data) != 0 {
		t.Errorf("a part of a file is primed: %v", s.data)
	}
}

// TestOpenWaitsForAStore checks the other half: opening for writing waits.
func TestOpenWaitsForAStore(t *testing.T) {
	f := editFront(t, files())
	a := f.known(t, "a")
	var stored atomic.Bool
	storing, opened := make(chan struct{}), make(chan struct{})
	go f.m.edits.open.unlessOpen(a, func() {
		close(storing)
		time.Sleep(10 * time.Millisecond)
		stored.Store(true)
	})
	<-storing
	go func() {
		defer close(opened)
		in := fuse.OpenIn{InHeader: fuse.InHeader{NodeId: uint64(a)}, Flags: syscall.O_RDWR}
		if st := f.Open(nil, &in, new(fuse.OpenOut)); !st.Ok() || !stored.Load() {
			t.Errorf("OPEN = %v while the file was being stored", st)
		}
	}()
	<-opened
}
