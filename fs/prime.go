//go:build linux || darwin || freebsd

package fs

import (
	"context"
	"sync/atomic"

	"github.com/hanwen/go-fuse/v2/fuse"

	"lorefs/nodes"
)

const (
	// primePage is the unit of credit, and the largest file that is primed unless
	// Options.PrimeMax says otherwise.
	primePage = 4096
	// primeQueue is how many directories may wait. Others are not primed.
	primeQueue = 256
	// primePerRead is how many pages one READ allows to prime, and primeCredit the most
	// that may be saved up.
	primePerRead = 256
	primeCredit  = 8192
	// primeProbe: one in so many files is not primed, so that a READ of it shows that the
	// files of these directories are still being read. So is the file behind primeProbePages:
	// fewer than the READ of it allows, so that the credit lasts.
	primeProbe      = 64
	primeProbePages = primePerRead / 2
	// primeEntries is how many entries of a directory are searched for files.
	primeEntries = 16384
	// primeSeen is how many files are remembered as read.
	primeSeen = 256
)

// storer is what the primer needs of a [fuse.Server].
type storer interface {
	InodeNotifyStoreCache(node uint64, offset int64, data []byte) fuse.Status
}

// primer pushes small files into the kernel's page cache before they are read, which saves
// programs that read a tree, such as grep -r, a round trip for each file. It works on
// credit: each READ adds credit, each primed file takes some. Without reads, as under find,
// nothing is primed.
//
// It runs in a goroutine of its own: the kernel makes a store wait while it reads the same
// page, so no request may wait for a store.
type primer struct {
	off bool
	// max is the largest file that is primed.
	max    int64
	credit atomic.Int64
	queue  chan nodes.ID
	// read has the files that were read last, each at its place.
	read [primeSeen]atomic.Uint64
}

func (p *primer) init(o *Options) {
	p.off = o.NoPrime
	p.max = max(primePage, o.PrimeMax)
	p.queue = make(chan nodes.ID, primeQueue)
}

// wasRead reports whether a file was read just now, so that the kernel has it. A program that
// reads each directory after listing it may be ahead of the primer.
func (p *primer) wasRead(file nodes.ID) bool { return p.read[file%primeSeen].Load() == uint64(file) }

func (p *primer) sawRead(file nodes.ID) {
	p.read[file%primeSeen].Store(uint64(file))
	if c := p.credit.Load(); c < primeCredit {
		p.credit.Store(min(c+primePerRead, primeCredit))
	}
}

// sawListing is called when the kernel has listed a directory to its end.
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
	job := priming{m: m, kernel: k, buf: make([]byte, p.max)}
	ctx = nodes.Unasked(ctx)
	for {
		select {
		case <-ctx.Done():
			return
		case dir := <-p.queue:
			m.guard("priming", func() { job.dir(ctx, dir) })
		}
	}
}

// priming is the state of the goroutine that primes. Only that goroutine uses it.
type priming struct {
	m      *mount
	kernel storer
	buf    []byte
	// files and pages count what was primed since the last probe.
	files, pages int64
}

// dir stores the small files of one directory. It drops errors, since reading the file will
// fail the same way.
func (j *priming) dir(ctx context.Context, dir nodes.ID) {
	entries := 0
	for e, err := range j.m.tree.ReadDir(ctx, dir, 0) {
		if entries++; err != nil || ctx.Err() != nil || entries > primeEntries {
			return
		}
		if e.Kind != nodes.File || e.Size <= 0 || e.Size > j.m.primer.max || j.m.primer.wasRead(e.ID) {
			continue
		}
		pages := (e.Size + primePage - 1) / primePage
		if j.isProbe(pages) {
			continue
		}
		if j.m.primer.credit.Add(-pages) < 0 || !j.file(ctx, &e) {
			return
		}
	}
}

// isProbe reports whether a file is left out as a probe, and counts it.
func (j *priming) isProbe(pages int64) bool {
	j.files++
	j.pages += pages
	if j.files < primeProbe && j.pages <= primeProbePages {
		return false
	}
	j.files, j.pages = 0, 0
	return true
}

// file stores one file and reports whether to go on.
//
// What is stored must not be older than what the kernel has. A file that is open for
// writing is skipped, and opening it for writing waits until the store is done. So reading
// and storing lie between two changes through the mount. (A store waits at most for READs
// of the same page, and those wait for nothing here.) Changes by the tree itself can't be
// made to wait. A change that is reported before the check at the end makes file take the
// store back, for which the request that made the change waits. The notice of a later change comes
// after the store and drops it.
func (j *priming) file(ctx context.Context, e *nodes.Entry) (goOn bool) {
	switch {
	case j.m.watched == nil:
		return j.store(ctx, e)
	case j.m.edits == nil:
		return j.storeWatched(ctx, e)
	}
	goOn = true
	j.m.edits.open.unlessOpen(e.ID, func() { goOn = j.storeWatched(ctx, e) })
	return goOn
}

// storeWatched is store for a tree that may change meanwhile.
func (j *priming) storeWatched(ctx context.Context, e *nodes.Entry) (goOn bool) {
	w := j.m.watched
	w.notices.beginStore()
	defer w.notices.endStore()
	since := w.told.now()
	attr, err := j.m.tree.Attr(ctx, e.ID)
	if err != nil || attr.Size != e.Size || attr.Removed {
		return true
	}
	goOn = j.store(ctx, e)
	if !w.told.unchanged(since) {
		w.notices.add(nodes.Change{ID: e.ID})
	}
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
	case fuse.ENOENT: // the kernel does not know this node, or no longer
	default:
		return false
	}
	return true
}
