//go:build linux || darwin || freebsd

package fs

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"

	"lorefs/nodes"
)

const (
	// pruneBatch is how many inodes the kernel is asked to drop at once.
	pruneBatch = 4096
	// pruneSlack is the part of the limit that is pruned below it, so that the pruner works
	// now and then instead of all the time.
	pruneSlack = 8
	// settleStep and settleTries bound the wait for the kernel's FORGETs.
	settleStep  = 500 * time.Microsecond
	settleTries = 20
	// throttleStep and throttleTries bound how long a listing waits for the pruner.
	throttleStep  = time.Millisecond
	throttleTries = 20
)

// notifier has the part of a [fuse.Server] that the pruner calls.
type notifier interface {
	PruneNotify(nodes []uint64) fuse.Status
	EntryNotify(parent uint64, name string) fuse.Status
}

// inodeList bounds the number of inodes that the kernel knows. It lists them from the
// oldest to the newest. Above the limit it offers the oldest to the kernel, which forgets
// those that are unused. What the kernel keeps (open files, working directories,
// directories with known entries) moves to the new end of the list, and is offered again
// after everything else.
//
// The nodes themselves are the links of the list: two pointers in each, and no allocation.
// All methods are safe for parallel use.
type inodeList struct {
	// limit is 0 for no limit. It never changes.
	limit int
	wake  chan struct{}
	// n is the length of the list. It changes under mu, but is read without it.
	n atomic.Int64
	// removed counts removals.
	removed atomic.Uint64
	// stuck is the length at which nothing more could be dropped, else 0.
	stuck atomic.Int64
	// pruning is set while the kernel is asked to drop inodes by their numbers.
	pruning atomic.Bool

	// mu guards the list: the ends here and the links in the nodes. It is taken after
	// go-fuse's locks, never before.
	mu             sync.Mutex
	oldest, newest *node
}

func (l *inodeList) init(limit int) {
	l.limit = max(limit, 0)
	l.wake = make(chan struct{}, 1)
}

func (l *inodeList) len() int { return int(l.n.Load()) }

// crowded reports whether the number of inodes is near the limit. Pruning stops above that,
// so that it stays true while a large tree is walked.
func (l *inodeList) crowded() bool {
	return l.limit > 0 && l.len() > l.limit-2*l.limit/pruneSlack
}

// add puts a node that the kernel learns of at the new end, unless it is listed.
func (l *inodeList) add(n *node) {
	count := l.insert(n)
	if l.limit > 0 && count > int64(l.limit) && count > l.stuck.Load() {
		select {
		case l.wake <- struct{}{}:
		default:
		}
	}
}

// insert returns the length of the list if n is new to it, else 0.
func (l *inodeList) insert(n *node) int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	if n.listed || n.IsRoot() {
		return 0
	}
	l.push(n)
	return l.n.Add(1)
}

// remove removes a node that the kernel has forgotten.
func (l *inodeList) remove(n *node) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !n.listed {
		return
	}
	l.unlink(n)
	l.removed.Add(1)
	if l.n.Add(-1) < int64(l.limit) {
		l.stuck.Store(0) // what was in use is not any more
	}
}

func (l *inodeList) push(n *node) {
	n.listed = true
	n.older, n.newer = l.newest, nil
	if l.newest != nil {
		l.newest.newer = n
	} else {
		l.oldest = n
	}
	l.newest = n
}

func (l *inodeList) unlink(n *node) {
	if n.older != nil {
		n.older.newer = n.newer
	} else {
		l.oldest = n.newer
	}
	if n.newer != nil {
		n.newer.older = n.older
	} else {
		l.newest = n.older
	}
	n.older, n.newer, n.listed = nil, nil, false
}

// rotate moves up to k of the oldest nodes to the new end and appends them to batch. The
// newest of them comes first, so that a directory follows its entries: the kernel drops no
// directory with known entries.
func (l *inodeList) rotate(batch []*node, k int) []*node {
	l.mu.Lock()
	for range min(k, l.len()) {
		n := l.oldest
		l.unlink(n)
		l.push(n)
		batch = append(batch, n)
	}
	l.mu.Unlock()
	slices.Reverse(batch)
	return batch
}

// find searches the list for a number. It is slow, for messages only.
func (l *inodeList) find(id uint64) *node {
	l.mu.Lock()
	defer l.mu.Unlock()
	for n := l.oldest; n != nil; n = n.newer {
		if n.StableAttr().Ino == id {
			return n
		}
	}
	return nil
}

func (l *inodeList) all() []*node {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := make([]*node, 0, l.len())
	for n := l.oldest; n != nil; n = n.newer {
		all = append(all, n)
	}
	return all
}

// findAll sets the nodes of those numbers that are on the list.
func (l *inodeList) findAll(known map[nodes.ID]*node) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for n := l.oldest; n != nil; n = n.newer {
		if _, ok := known[n.id()]; ok {
			known[n.id()] = n
		}
	}
}

// throttle makes a listing wait while inodes are dropped: the kernel does not trust attributes that
// it gets meanwhile, and would ask for each again. It also waits while there are twice as many
// inodes as allowed. Both are for a bounded time, since the caller itself may hold what must be
// forgotten.
func (l *inodeList) throttle() {
	for range throttleTries {
		n := l.n.Load()
		crammed := n > 2*int64(l.limit) && n > l.stuck.Load()
		if l.limit == 0 || !crammed && !l.pruning.Load() {
			return
		}
		time.Sleep(throttleStep)
	}
}

// prune drops inodes whenever there are too many, until ctx is done.
func (m *mount) prune(ctx context.Context, k notifier) {
	p := pruner{list: &m.inodes, kernel: k, counters: &m.counters, byEntry: m.byEntry}
	for {
		select {
		case <-ctx.Done():
			return
		case <-m.inodes.wake:
			m.guard("dropping inodes", func() { p.shrink(ctx) })
		}
	}
}

// pruner is the state of the goroutine that drops inodes. Only that goroutine uses it.
type pruner struct {
	list     *inodeList
	kernel   notifier
	counters *counters
	batch    []*node
	ids      []uint64
	// byEntry is set once the kernel turned out not to know NOTIFY_PRUNE.
	byEntry bool
}

// shrink goes on until the list is short enough, or until all of it was offered and nothing
// was dropped. Then everything is in use, and it waits for the list to grow by another
// part.
func (p *pruner) shrink(ctx context.Context) {
	l := p.list
	l.stuck.Store(0)
	target := l.limit - l.limit/pruneSlack
	for fruitless := 0; fruitless <= l.len(); {
		excess := l.len() - target
		if excess <= 0 || ctx.Err() != nil {
			return
		}
		p.batch = l.rotate(p.batch[:0], min(excess, pruneBatch))
		before := l.removed.Load()
		p.offer()
		p.settle(before)
		if l.removed.Load() == before {
			fruitless += len(p.batch)
		} else {
			fruitless = 0
		}
	}
	l.stuck.Store(int64(l.len() + l.limit/pruneSlack))
}

func (p *pruner) offer() {
	defer clear(p.batch) // hold no node longer than the kernel does
	p.ids = p.ids[:0]
	for _, n := range p.batch {
		p.ids = append(p.ids, n.StableAttr().Ino)
	}
	p.counters.pruned.Add(uint64(len(p.ids)))
	if !p.byEntry {
		p.list.pruning.Store(true)
		st := p.kernel.PruneNotify(p.ids)
		p.list.pruning.Store(false)
		if st != fuse.ENOSYS && st != fuse.EINVAL {
			return
		}
		p.byEntry = true
	}
	p.dropEntries()
}

// dropEntries drops inodes on kernels before Linux 6.18, by invalidating names. That would
// also remove the name of somebody's working directory, so it drops only directories
// without known entries, and only idle ones: the oldest of the list. go-fuse reveals the
// number of known entries only by a copy of them; all copies of a round have at most as
// many entries as the list has nodes.
func (p *pruner) dropEntries() {
	for _, n := range p.batch {
		if n.IsDir() && len(n.Children()) > 0 {
			continue
		}
		name, parent := n.Parent()
		if parent == nil {
			continue
		}
		if st := p.kernel.EntryNotify(nodeID(parent), name); st == fuse.Status(syscall.ENODEV) {
			return
		}
	}
}

// settle waits for a bounded time until the kernel has answered an offer. How much of a
// batch the kernel takes is not known.
func (p *pruner) settle(before uint64) {
	want := uint64(len(p.ids)+1) / 2
	for range settleTries {
		if p.list.removed.Load()-before >= want {
			return
		}
		time.Sleep(settleStep)
	}
}
