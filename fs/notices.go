//go:build linux || darwin || freebsd

package fs

import (
	"context"
	"sync"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"

	"lorefs/nodes"
)

const (
	// maxNotices is how many changes may wait. Above it everything is dropped.
	maxNotices = 4096
	// maxDirs is in how many directories names are dropped at the same time. A name may have to
	// wait for a request in its directory.
	maxDirs = 64
	// lateStep is when notices about inodes that the kernel did not know are repeated.
	lateStep = 100 * time.Millisecond
	// heldTime bounds how long a request waits that holds a directory, if more than maxDirs others
	// do so at the same time.
	heldTime = 5 * time.Second
)

// dropper has the part of a [fuse.Server] that the notices call.
type dropper interface {
	EntryNotify(parent uint64, name string) fuse.Status
	InodeNotify(node uint64, off, length int64) fuse.Status
}

// notices removes from the kernel's caches what the tree changed by itself, in goroutines of its
// own. Who makes a change is answered when that is done: see settle.
//
// A notice of an inode waits for the READs of its pages that are under way, and these wait for
// nothing here. A notice of a name waits for all requests in its directory, of which some wait for
// notices. So each directory has a goroutine while names in it are dropped, and the inodes have
// another. It does not begin before a request is answered that is known to hold the directory.
//
// Because they wait, notices also come after the answers that were under way: a LOOKUP or
// a listing of the directory ends first, and what it brought is dropped. The kernel itself
// protects the attributes of inodes that it knows. [changes] covers inodes that it does not
// know yet; and since an answer may have passed that check and still be under way, the
// notice is repeated.
type notices struct {
	// mu guards the fields below. Nothing is called under it.
	mu sync.Mutex
	// added counts changes, and numbers them.
	added uint64
	// inodes and dirs have what the kernel was not told yet, or is being told. In all of them are
	// those that were too many to be remembered.
	inodes map[nodes.ID]*staleInode
	dirs   map[nodes.ID]*staleDir
	all    stale
	// requests are the edits through the mount. turns numbers those that wait.
	requests map[*request]struct{}
	turns    uint64
	// begun and ended count the stores of the primer.
	begun, ended uint64
	// step is closed when something was delivered or ended, or another request waits. Nobody waits
	// unless kernel is set, from the first request of a kernel to the last.
	step   chan struct{}
	kernel bool

	wake chan struct{}
}

// stale is something that the kernel has to drop.
type stale struct {
	// first is the number of the first change that the kernel was not told, or 0. later is that of
	// the first one that came while it is being told.
	first, later uint64
	telling      bool
}

// add records a change.
func (s *stale) add(number uint64) {
	at := &s.first
	if s.telling {
		at = &s.later
	}
	if *at == 0 || number < *at {
		*at = number
	}
}

// before reports whether the kernel was not told of a change up to a number.
func (s *stale) before(number uint64) bool { return s.first != 0 && s.first <= number }

// told records that the kernel was told, and reports whether there is more.
func (s *stale) told() (more bool) {
	s.first, s.later, s.telling = s.later, 0, false
	return s.first != 0
}

// staleInode is an inode of which the kernel may hold old attributes, and old content from a place on.
type staleInode struct {
	stale
	from int64
}

// staleDir is a directory of which the kernel may hold old names.
type staleDir struct {
	stale
	names map[string]struct{}
	// any is set if any name may be old.
	any bool
}

// request is an edit through the mount. Until it is answered the kernel holds its directories, so
// that names in these can't be dropped.
type request struct {
	dirs [2]nodes.ID
	// turn is 0 until the request waits for the changes up to upTo.
	turn, upTo uint64
}

func (r *request) holds(dir nodes.ID) bool { return r.dirs[0] == dir || r.dirs[1] == dir }

func (q *notices) init() {
	q.inodes, q.dirs = map[nodes.ID]*staleInode{}, map[nodes.ID]*staleDir{}
	q.requests = map[*request]struct{}{}
	q.step = make(chan struct{})
	q.wake = make(chan struct{}, 1)
}

// add queues a change, and never blocks.
func (q *notices) add(c nodes.Change) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.added++
	if len(q.inodes)+len(q.dirs) >= maxNotices {
		q.forget()
		q.all.add(q.added)
		q.wakeUp()
		return
	}
	if c.ID != 0 {
		q.addInode(c.ID, c.From)
	}
	if c.Dir != 0 {
		q.addName(c.Dir, c.Name, q.added)
	}
	q.wakeUp()
}

// forget has everything dropped in place of what the kernel is not being told yet. The caller holds
// mu.
func (q *notices) forget() {
	for id, s := range q.inodes {
		if !s.telling {
			q.all.add(s.first)
			delete(q.inodes, id)
		}
	}
	for dir, s := range q.dirs {
		if !s.telling {
			q.all.add(s.first)
			delete(q.dirs, dir)
		}
	}
}

// addInode records an inode as old. The caller holds mu.
func (q *notices) addInode(id nodes.ID, from int64) {
	s := q.inodes[id]
	if s == nil {
		s = &staleInode{from: from}
		q.inodes[id] = s
	}
	s.from = min(s.from, from)
	s.add(q.added)
}

// addName records that a change made a name old, or all if it is empty. The caller holds mu.
func (q *notices) addName(dir nodes.ID, name string, number uint64) {
	s := q.dirs[dir]
	if s == nil {
		s = &staleDir{names: map[string]struct{}{}}
		q.dirs[dir] = s
	}
	s.add(number)
	if name == "" || len(s.names) >= maxNotices {
		s.any = true
		clear(s.names)
	}
	if !s.any {
		s.names[name] = struct{}{}
	}
}

func (q *notices) wakeUp() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// stepped wakes those who wait. The caller holds mu.
func (q *notices) stepped() {
	close(q.step)
	q.step = make(chan struct{})
}

// beginStore is called before a file is read to be stored in the kernel. What is stored may be
// older than a change that is made meanwhile.
func (q *notices) beginStore() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.begun++
}

// endStore is called after the store, and after the notice that takes it back if it is too old.
func (q *notices) endStore() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.ended++
	q.stepped()
}

// begin records a request that holds directories; 0 is none.
func (q *notices) begin(dirs [2]nodes.ID) *request {
	r := &request{dirs: dirs}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.requests[r] = struct{}{}
	return r
}

// end waits until the kernel knows the changes of a request, and of all before: a program that has
// changed something sees everywhere what that has changed.
//
// The request itself is in the way of notices for its own directories, where the kernel does what
// is needed. Of requests that are in each other's way the first that waits is answered last.
func (q *notices) end(r *request) {
	q.await(nil, r)
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.requests, r)
	q.wakeUp() // names in its directories can be dropped
	q.stepped()
}

// settle is end for who holds no directory.
func (q *notices) settle(stop <-chan struct{}) { q.await(stop, &request{}) }

// await waits until all changes added so far are delivered, or until stop is closed. Before that
// it waits for a store that is under way, since that may need a notice, too.
func (q *notices) await(stop <-chan struct{}, r *request) {
	var limit <-chan time.Time
	q.mu.Lock()
	defer q.mu.Unlock()
	for begun := q.begun; q.ended < begun; {
		if !q.wait(stop, nil) {
			return
		}
	}
	q.turns++
	r.turn, r.upTo = q.turns, q.added
	for !q.delivered(r) {
		if limit == nil && r.dirs[0] != 0 {
			limit = time.After(heldTime)
			q.stepped() // others may be in its way
			continue
		}
		if !q.wait(stop, limit) {
			return
		}
	}
}

// wait waits for the next step, and reports whether to go on. The caller holds mu, which is not
// held meanwhile.
func (q *notices) wait(stop <-chan struct{}, limit <-chan time.Time) (goOn bool) {
	if !q.kernel {
		return false
	}
	step := q.step
	q.mu.Unlock()
	defer q.mu.Lock()
	select {
	case <-step:
		return true
	case <-stop:
	case <-limit:
	}
	return false
}

// delivered reports whether the kernel knows the changes that a request waits for, but for those
// that come after its answer. The caller holds mu.
func (q *notices) delivered(r *request) bool {
	if q.all.before(r.upTo) {
		return false
	}
	for _, s := range q.inodes {
		if s.before(r.upTo) {
			return false
		}
	}
	for dir, s := range q.dirs {
		if s.before(r.upTo) && !r.holds(dir) && !q.inTheWay(dir, r) {
			return false
		}
	}
	return true
}

// inTheWay reports whether names in a directory can't be dropped until a request is answered,
// because another one, which began to wait before it, holds the directory and waits for it. The
// caller holds mu.
func (q *notices) inTheWay(dir nodes.ID, r *request) bool {
	for other := range q.requests {
		if other.holds(dir) && other.turn != 0 && other.turn < r.turn && q.waitsFor(other, r, map[*request]bool{}) {
			return true
		}
	}
	return false
}

// waitsFor reports whether a request x waits for a request r, perhaps because it waits for one that
// does. The caller holds mu.
func (q *notices) waitsFor(x, r *request, seen map[*request]bool) bool {
	seen[x] = true
	for dir, s := range q.dirs {
		if x.turn == 0 || !s.before(x.upTo) || x.holds(dir) {
			continue
		}
		for y := range q.requests {
			if y.holds(dir) && (y == r || !seen[y] && q.waitsFor(y, r, seen)) {
				return true
			}
		}
	}
	return false
}

// serve says whether there is a kernel that is told.
func (q *notices) serve(kernel bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.kernel = kernel
	q.stepped()
}

// isOld reports whether the kernel may still hold old content of a file.
func (q *notices) isOld(id nodes.ID) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.kernel && (q.all.first != 0 || q.inodes[id] != nil)
}

// awaitInode waits until the kernel has dropped the old content of a file, or until stop is closed.
func (q *notices) awaitInode(stop <-chan struct{}, id nodes.ID) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for q.all.first != 0 || q.inodes[id] != nil {
		if !q.wait(stop, nil) {
			return
		}
	}
}

// takeInodes returns what to drop now.
func (q *notices) takeInodes() (batch map[nodes.ID]int64, all bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.all.first != 0 {
		q.all.telling = true
	}
	batch = make(map[nodes.ID]int64, len(q.inodes))
	for id, s := range q.inodes {
		s.telling = true
		batch[id] = s.from
	}
	return batch, q.all.first != 0
}

// toldInode records that an inode was dropped.
func (q *notices) toldInode(id nodes.ID) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if s := q.inodes[id]; s.told() {
		q.wakeUp()
	} else {
		delete(q.inodes, id)
	}
	q.stepped()
}

// toldAll records that everything was dropped. The names follow.
func (q *notices) toldAll(dirs []nodes.ID) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, dir := range dirs {
		q.addName(dir, "", q.all.first)
	}
	q.all.told()
	q.wakeUp()
	q.stepped()
}

// takeDirs returns directories in which names have to be dropped and can be, and nobody does so yet,
// up to a number.
func (q *notices) takeDirs(most int) (dirs []nodes.ID) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for dir, s := range q.dirs {
		if len(dirs) == most {
			break
		}
		if !s.telling && !q.isHeld(dir) {
			s.telling = true
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// isHeld reports whether a request holds a directory. A notice of a name there would wait in the
// kernel for the answer. If the process were killed then, nothing could end it nor the program that
// waits, since the kernel ends requests once the last thread of the process is gone. The caller holds
// mu.
func (q *notices) isHeld(dir nodes.ID) bool {
	for r := range q.requests {
		if r.holds(dir) {
			return true
		}
	}
	return false
}

// takeNames returns the names of a directory that have to be dropped.
func (q *notices) takeNames(dir nodes.ID) (names map[string]struct{}, all bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	s := q.dirs[dir]
	names, all = s.names, s.any
	s.names, s.any = map[string]struct{}{}, false
	return names, all
}

// toldNames records that what takeNames returned was dropped.
func (q *notices) toldNames(dir nodes.ID) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.dirs[dir].told() {
		delete(q.dirs, dir)
	}
	q.wakeUp()
	q.stepped()
}

// notify delivers notices until ctx is done.
func (m *mount) notify(ctx context.Context, k dropper) {
	d := delivery{m: m, kernel: k, q: &m.watched.notices, turns: make(chan struct{}, maxDirs)}
	d.q.serve(true)
	defer d.q.serve(false)
	defer d.workers.Wait()
	var late <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case <-d.q.wake:
			d.inodes(ctx)
			d.dirs(ctx)
		case <-late:
			late = nil
			d.repeat()
		}
		if late == nil && d.isLate() {
			late = time.After(lateStep)
		}
	}
}

// delivery tells the kernel. Its methods are for the goroutine of notify, but for those of a
// directory.
type delivery struct {
	m      *mount
	kernel dropper
	q      *notices
	// workers drop names, each in one directory. turns limits their number.
	workers sync.WaitGroup
	turns   chan struct{}

	mu sync.Mutex // guards what follows
	// late are nodes that the kernel did not know, ripe those of them that have waited for
	// at least one step.
	late, ripe []nodes.ID
}

// inodes drops attributes and contents.
func (d *delivery) inodes(ctx context.Context) {
	batch, all := d.q.takeInodes()
	if all {
		d.q.toldAll(d.everything(ctx))
	}
	for id, from := range batch {
		if ctx.Err() == nil {
			d.m.guard("dropping what has changed", func() { d.inode(id, from) })
		}
		d.q.toldInode(id)
	}
}

// everything drops all attributes and contents that the kernel may know, because there were too
// many changes to remember. It returns the directories.
func (d *delivery) everything(ctx context.Context) (dirs []nodes.ID) {
	for _, n := range append(d.m.inodes.all(), d.m.root) {
		if n.IsDir() {
			dirs = append(dirs, n.id())
		} else if ctx.Err() == nil {
			d.kernel.InodeNotify(uint64(n.id()), 0, 0)
		}
	}
	return dirs
}

// dirs begins to drop names.
func (d *delivery) dirs(ctx context.Context) {
	dirs := d.q.takeDirs(cap(d.turns) - len(d.turns))
	if len(dirs) == 0 {
		return
	}
	known := map[nodes.ID]*node{}
	for _, dir := range dirs {
		known[dir] = nil
	}
	d.m.inodes.findAll(known)
	if _, ok := known[nodes.Root]; ok {
		known[nodes.Root] = d.m.root
	}
	for dir, n := range known {
		d.turns <- struct{}{}
		d.workers.Go(func() {
			defer d.q.toldNames(dir)
			defer func() { <-d.turns }()
			d.m.guard("dropping what has changed", func() { d.names(ctx, dir, n) })
		})
	}
}

// noName is a name that no directory has in the kernel.
const noName = "."

// names drops names of a directory, and then its listing. The listing must be last: the kernel
// drops a name only when no listing is under way. But many names take long, so that the listing
// is also dropped before all. n is nil if the directory is not known.
func (d *delivery) names(ctx context.Context, dir nodes.ID, n *node) {
	names, all := d.q.takeNames(dir)
	if all && n != nil {
		d.kernel.InodeNotify(uint64(dir), 0, 0)
		d.kernel.EntryNotify(uint64(dir), noName) // wait for the LOOKUPs that add children
		for child := range n.Children() {
			names[child] = struct{}{}
		}
	}
	for name := range names {
		if ctx.Err() != nil {
			return
		}
		d.entry(ctx, dir, name, n)
	}
	d.inode(dir, 0)
}

// entry drops a name, unless it still is the directory that the kernel knows: that may be
// somebody's working directory, which would vanish.
func (d *delivery) entry(ctx context.Context, dir nodes.ID, name string, n *node) {
	if n != nil {
		if child := n.GetChild(name); child != nil && child.IsDir() {
			e, err := d.m.tree.Lookup(ctx, dir, name)
			if err == nil && uint64(e.ID) == child.StableAttr().Ino {
				return
			}
		}
	}
	d.kernel.EntryNotify(uint64(dir), name)
}

// inode drops attributes, and the content from a place on. The content of a directory is its
// listing.
func (d *delivery) inode(id nodes.ID, from int64) {
	if d.kernel.InodeNotify(uint64(id), from, 0) != fuse.ENOENT {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.late) < maxNotices {
		d.late = append(d.late, id)
	}
}

func (d *delivery) isLate() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.late)+len(d.ripe) > 0
}

// repeat sends notices again, for answers that were on their way to the kernel the first
// time.
func (d *delivery) repeat() {
	d.mu.Lock()
	ripe := d.ripe
	d.ripe, d.late = d.late, nil
	d.mu.Unlock()
	d.m.guard("dropping what has changed", func() {
		for _, id := range ripe {
			d.kernel.InodeNotify(uint64(id), 0, 0)
		}
	})
}
