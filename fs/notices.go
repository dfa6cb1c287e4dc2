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
	// lateStep is when notices about inodes that the kernel did not know are repeated.
	lateStep = 100 * time.Millisecond
	// settleTime bounds how long a request waits for notices of its changes elsewhere.
	settleTime = 100 * time.Millisecond
)

// dropper is what the notices need of a [fuse.Server].
type dropper interface {
	EntryNotify(parent uint64, name string) fuse.Status
	InodeNotify(node uint64, off, length int64) fuse.Status
}

// notices removes from the kernel's caches what the tree changed by itself. It has a
// goroutine of its own: the kernel makes a notice wait for the requests in the same
// directory and of the same page, so no request that holds a directory or a page may wait
// for a notice. (A FLUSH holds neither, see settle.)
//
// Because it waits, a notice also comes after the answers that were under way: a LOOKUP or
// a listing of the directory ends first, and what it brought is dropped. The kernel itself
// protects the attributes of inodes that it knows. [changes] covers inodes that it does not
// know yet; and since an answer may have passed that check and still be under way, the
// notice is repeated.
type notices struct {
	// mu guards the fields below. Nothing is called under it.
	mu      sync.Mutex
	pending map[nodes.Change]struct{}
	// all is set if there were too many changes: everything is dropped.
	all bool
	// added and done count changes, begun and ended the stores of the primer. settle waits for
	// them. step is closed when done or ended grows.
	added, done  uint64
	begun, ended uint64
	step         chan struct{}

	wake chan struct{}
}

func (q *notices) init() {
	q.pending = map[nodes.Change]struct{}{}
	q.step = make(chan struct{})
	q.wake = make(chan struct{}, 1)
}

// add queues a change, and never blocks.
func (q *notices) add(c nodes.Change) {
	q.mu.Lock()
	q.added++
	if len(q.pending) >= maxNotices {
		q.all = true
		clear(q.pending)
	}
	if !q.all {
		q.pending[c] = struct{}{}
	}
	q.mu.Unlock()
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// take empties the queue. upto is for finish.
func (q *notices) take() (batch map[nodes.Change]struct{}, all bool, upto uint64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	batch, all, upto = q.pending, q.all, q.added
	q.pending, q.all = map[nodes.Change]struct{}{}, false
	return batch, all, upto
}

func (q *notices) finish(upto uint64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.done = upto
	q.stepped()
}

// stepped wakes those who wait in settle. The caller holds mu.
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

// settle waits until all changes added so far are delivered, so that a program that closes
// a file and then reads another one sees what the first has changed. Before that it waits for a
// store that is under way, since that may need a notice, too. It waits for a bounded time, because
// no request may hang on a slow kernel.
func (q *notices) settle() { q.await(nil, settleTime) }

// await is settle for at most a time, 0 for as long as it takes, and until stop is closed.
func (q *notices) await(stop <-chan struct{}, most time.Duration) {
	var timeout <-chan time.Time
	q.mu.Lock()
	defer q.mu.Unlock()
	begun, target := q.begun, q.added
	for q.ended < begun || q.done < target {
		step, storing := q.step, q.ended < begun
		if timeout == nil && most > 0 {
			timeout = time.After(most)
		}
		q.mu.Unlock()
		select {
		case <-step:
			q.mu.Lock()
		case <-timeout:
			q.mu.Lock()
			return
		case <-stop:
			q.mu.Lock()
			return
		}
		if storing {
			target = q.added
		}
	}
}

// notify delivers notices until ctx is done.
func (m *mount) notify(ctx context.Context, k dropper) {
	d := delivery{m: m, kernel: k}
	var late <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case <-m.watched.notices.wake:
			batch, all, upto := m.watched.notices.take()
			m.guard("dropping what has changed", func() { d.deliver(ctx, batch, all) })
			m.watched.notices.finish(upto)
		case <-late:
			late = nil
			m.guard("dropping what has changed", d.repeat)
		}
		if late == nil && len(d.late)+len(d.ripe) > 0 {
			late = time.After(lateStep)
		}
	}
}

// delivery is the state of the goroutine that delivers. Only that goroutine uses it.
type delivery struct {
	m      *mount
	kernel dropper
	// late are nodes that the kernel did not know, ripe those of them that have waited for
	// at least one step.
	late, ripe []nodes.ID
}

func (d *delivery) deliver(ctx context.Context, batch map[nodes.Change]struct{}, all bool) {
	if all {
		d.everything(ctx)
		return
	}
	known := d.directories(batch)
	for c := range batch {
		if c.Name == "" && known[c.Dir] != nil { // dropping many names takes longer than settle waits
			d.kernel.InodeNotify(uint64(c.Dir), 0, 0)
		}
	}
	for c := range batch {
		if ctx.Err() != nil {
			return
		}
		if c.Dir != 0 {
			d.entries(ctx, c.Dir, c.Name, known[c.Dir])
		}
		if c.ID != 0 {
			d.inode(c.ID, c.From)
		}
	}
}

// directories finds the nodes of the directories in which any name may have changed.
func (d *delivery) directories(batch map[nodes.Change]struct{}) map[nodes.ID]*node {
	known := map[nodes.ID]*node{}
	for c := range batch {
		if c.Dir != 0 {
			known[c.Dir] = nil
		}
	}
	if len(known) > 0 {
		known[nodes.Root] = d.m.root
		d.m.inodes.findAll(known)
	}
	return known
}

// everything drops everything that the kernel may know, because there were too many changes
// to remember.
func (d *delivery) everything(ctx context.Context) {
	for _, n := range append(d.m.inodes.all(), d.m.root) {
		if ctx.Err() != nil {
			return
		}
		if n.IsDir() {
			d.entries(ctx, n.id(), "", n)
		} else {
			d.kernel.InodeNotify(uint64(n.id()), 0, 0)
		}
	}
}

// noName is a name that no directory has in the kernel.
const noName = "."

// entries drops one name of a directory, or all if name is empty, and then its listing. The
// listing must be last: the kernel drops a name only when no listing is under way. n is nil
// if the directory is not known.
func (d *delivery) entries(ctx context.Context, dir nodes.ID, name string, n *node) {
	switch {
	case name != "":
		d.entry(ctx, dir, name, n)
	case n != nil:
		d.kernel.EntryNotify(uint64(dir), noName) // wait for the LOOKUPs that add children
		for child := range n.Children() {
			d.entry(ctx, dir, child, n)
		}
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
	if d.kernel.InodeNotify(uint64(id), from, 0) == fuse.ENOENT && len(d.late) < maxNotices {
		d.late = append(d.late, id)
	}
}

// repeat sends notices again, for answers that were on their way to the kernel the first
// time.
func (d *delivery) repeat() {
	for _, id := range d.ripe {
		d.kernel.InodeNotify(uint64(id), 0, 0)
	}
	d.ripe, d.late = d.late, d.ripe[:0]
}
