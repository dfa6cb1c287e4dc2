//go:build linux || darwin || freebsd

package fs

import (
	"context"
	"sync/atomic"

	"github.com/hanwen/go-fuse/v2/fuse"

	"lorefs/nodes"
)

const (
	// primeMax is the largest file that is primed: one page.
	primeMax = 4096
	// primeQueue is how many directories may wait; more are not primed.
	primeQueue = 256
	// primePerRead is how many files one READ allows to prime, and primeCredit
	// the most that may be saved up.
	primePerRead = 256
	primeCredit  = 8192
	// primeProbe: one in so many files is left out, so that a READ of it tells
	// that the files of these directories are still being read.
	primeProbe = 64
	// primeEntries is how far a directory is looked through for files.
	primeEntries = 16384
)

// storer is what the primer needs of a [fuse.Server].
type storer interface {
	InodeNotifyStoreCache(node uint64, offset int64, data []byte) fuse.Status
}

// primer pushes small files into the kernel's page cache before they are read,
// which spares a round trip a file to what reads a tree, as grep -r does. It
// works on credit: each READ that does arrive gives some, each primed file takes
// one. Without reads, as under find, nothing is primed.
//
// It runs in a goroutine of its own: the kernel makes a store wait while it
// reads the same page, so no request may wait for a store.
type primer struct {
	off    bool
	credit atomic.Int64
	queue  chan nodes.ID
}

func (p *primer) init(off bool) {
	p.off = off
	p.queue = make(chan nodes.ID, primeQueue)
}

// sawRead gives credit.
func (p *primer) sawRead() {
	if c := p.credit.Load(); c < primeCredit {
		p.credit.Store(min(c+primePerRead, primeCredit))
	}
}

// sawListing is told of a directory that the kernel has just listed to its end.
func (p *primer) sawListing(dir nodes.ID) {
	if p.off || p.credit.Load() <= 0 {
		return
	}
	select {
	case p.queue <- dir:
	default:
	}
}

// run primes what is queued until ctx is done.
func (p *primer) run(ctx context.Context, m *mount, k storer) {
	job := priming{m: m, kernel: k, buf: make([]byte, primeMax)}
	for {
		select {
		case <-ctx.Done():
			return
		case dir := <-p.queue:
			m.guard("priming", func() { job.dir(ctx, dir) })
		}
	}
}

// priming is the state of the goroutine that primes, and belongs to it.
type priming struct {
	m      *mount
	kernel storer
	buf    []byte
	// seen counts files, to leave out the probes.
	seen int
}

// dir stores the small files of one directory. An error is not told to anyone:
// whoever reads the file will meet it again.
func (j *priming) dir(ctx context.Context, dir nodes.ID) {
	entries := 0
	for e, err := range j.m.tree.ReadDir(ctx, dir, 0) {
		if entries++; err != nil || ctx.Err() != nil || entries > primeEntries {
			return
		}
		if e.Kind != nodes.File || e.Size <= 0 || e.Size > primeMax {
			continue
		}
		if j.seen++; j.seen%primeProbe == 0 {
			continue
		}
		if j.m.primer.credit.Add(-1) < 0 || !j.file(ctx, &e) {
			return
		}
	}
}

// file stores one file and reports whether to go on.
//
// What is stored must not be older than what the kernel has. Of a tree that can be
// changed, a file is left out while anybody has it open for writing, and who
// opens it waits until the store is done: so reading and storing lie between two
// changes through the mount. (A store waits for READs of the same page at most, and
// those wait for nothing here.) What the tree changes by itself cannot be made to
// wait. It is told before or after this is asked; if before, the store may be older
// and is taken back, and if after, the notice comes behind the store and drops it.
func (j *priming) file(ctx context.Context, e *nodes.Entry) (goOn bool) {
	edits := j.m.edits
	if edits == nil {
		return j.store(ctx, e)
	}
	goOn = true
	edits.open.unlessOpen(e.ID, func() {
		since := edits.told.now()
		attr, err := j.m.tree.Attr(ctx, e.ID)
		if err != nil || attr.Size != e.Size || attr.Removed {
			return
		}
		goOn = j.store(ctx, e)
		if !edits.told.unchanged(since) {
			edits.notices.add(nodes.Change{ID: e.ID})
		}
	})
	return goOn
}

func (j *priming) store(ctx context.Context, e *nodes.Entry) bool {
	p := j.buf[:e.Size]
	n, err := j.m.tree.ReadAt(ctx, e.ID, p, 0)
	if n < len(p) || (err != nil && !isEnd(err)) {
		return true // a part of a file must not pass for the whole
	}
	switch j.kernel.InodeNotifyStoreCache(uint64(e.ID), 0, p) {
	case fuse.OK:
		j.m.counters.primed.Add(1)
	case fuse.ENOENT: // the kernel does not know this one, or no longer
	default:
		return false
	}
	return true
}
