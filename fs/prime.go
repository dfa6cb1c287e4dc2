//go:build linux || darwin || freebsd

package fs

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/hanwen/go-fuse/v2/fuse"

	"lorefs/nodes"
)

const (
	// primePage is the unit of credit, and the largest file that is primed unless
	// Options.PrimeMax says otherwise.
	primePage = 4096
	// primeQueue is how many directories may wait, and how many are remembered that had no credit.
	primeQueue = 256
	// primeGoesOn is in how many files of such a directory a program must begin to read.
	primeGoesOn = 2
	// primePerRead is how many pages one READ allows to prime, or a half of the credit if that is
	// more, and primeCredit the most that may be saved up.
	primePerRead = 256
	primeCredit  = 8192
	// primeProbe: one in so many files is not primed, so that a READ of it shows that the
	// files of these directories are still being read. So is the file behind primeProbePages:
	// fewer than the READ of it allows, so that the credit lasts. Probes are as many times rarer
	// as there are primeRarer pages of credit, since a program waits for each.
	primeProbe      = 64
	primeProbePages = primePerRead / 2
	primeRarer      = 1024
	// primeEntries is how many entries of a directory are searched for files.
	primeEntries = 16384
	// primeSeen is how many files are remembered as read.
	primeSeen = 4096
	// primeBatch and primeBatchBytes bound what is asked of a [nodes.WholeReader] at once.
	primeBatch      = 64
	primeBatchBytes = 1 << 20
	// primeWorkers is how many batches are read at once at most: each takes some MB.
	primeWorkers = 16
)

// storer has the part of a [fuse.Server] that the primer calls.
type storer interface {
	InodeNotifyStoreCache(node uint64, offset int64, data []byte) fuse.Status
}

// primer pushes small files into the kernel's page cache before they are read, which saves
// programs that read a tree, such as grep -r, a round trip for each file. It works on
// credit: each READ adds credit, each primed file takes some. Without reads, as under find,
// nothing is primed. A directory for which the credit does not last is primed when programs read
// files in it: the one that lists may be far ahead of the one that reads.
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

	mu sync.Mutex // guards passed
	// passed has directories for which the credit did not last, each at its place.
	passed [primeQueue]passedDir
}

// passedDir is a directory that is not primed, or only up to a cursor.
type passedDir struct {
	dir  nodes.ID
	next uint64
	// begun counts the files in it that programs have begun to read since.
	begun int
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
		p.credit.Store(min(c+max(primePerRead, c/2), primeCredit))
	}
}

// sawListing is called when the kernel has listed a directory to its end.
func (p *primer) sawListing(dir nodes.ID) {
	if p.off {
		return
	}
	if p.credit.Load() <= 0 || !p.enqueue(dir) {
		p.pass(dir, 0)
	}
}

func (p *primer) enqueue(dir nodes.ID) bool {
	select {
	case p.queue <- dir:
		return true
	default:
		return false
	}
}

// pass remembers that a directory is primed only up to a cursor.
func (p *primer) pass(dir nodes.ID, next uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.passed[dir%primeQueue] = passedDir{dir: dir, next: next}
}

// sawBeginning is called when a program has read the beginning of a file in a directory.
func (p *primer) sawBeginning(dir nodes.ID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	d := &p.passed[dir%primeQueue]
	if d.dir != dir {
		return
	}
	if d.begun++; d.begun == primeGoesOn && !p.enqueue(dir) {
		d.begun = 0
	}
}

// resume returns from where a directory is to be primed.
func (p *primer) resume(dir nodes.ID) (cursor uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	d := &p.passed[dir%primeQueue]
	if d.dir != dir {
		return 0
	}
	cursor = d.next
	*d = passedDir{}
	return cursor
}

// run primes what is queued until ctx is done.
func (p *primer) run(ctx context.Context, m *mount, k storer) {
	ctx = nodes.Unasked(ctx)
	job := priming{m: m, kernel: k}
	defer job.beginBatches(ctx)()
	for {
		select {
		case <-ctx.Done():
			return
		case dir := <-p.queue:
			m.guard("priming", func() { job.dir(ctx, dir) })
		}
	}
}

// priming is the state of a goroutine that primes. Only that goroutine uses it.
type priming struct {
	m      *mount
	kernel storer
	// buf has room for the largest file, once it is needed.
	buf []byte
	// files and pages count what was primed since the last probe.
	files, pages int64
	// batches takes files to the goroutines that read and store several at once. It is nil
	// if files are primed one after the other. batch and batchBytes are what will go there next.
	batches    chan []nodes.Entry
	batch      []nodes.Entry
	batchBytes int64
}

// beginBatches begins to prime several files at once if the tree can read them so and never
// changes: see file. Call end when no more will come.
//
// The system divides the cores between these goroutines and the programs that read. With one for each
// core as many programs would catch up with them, and read what is being primed.
func (j *priming) beginBatches(ctx context.Context) (end func()) {
	tree, ok := j.m.tree.(nodes.WholeReader)
	if !ok || j.m.watched != nil {
		return func() {}
	}
	j.batches = make(chan []nodes.Entry)
	var workers sync.WaitGroup
	for range min(2*runtime.GOMAXPROCS(0), primeWorkers) {
		worker := priming{m: j.m, kernel: j.kernel}
		workers.Go(func() {
			for files := range j.batches {
				j.m.guard("priming", func() { worker.storeAll(ctx, tree, files) })
			}
		})
	}
	return func() {
		close(j.batches)
		workers.Wait()
	}
}

// dir stores the small files of one directory. It drops errors, since reading the file will
// fail the same way.
func (j *priming) dir(ctx context.Context, dir nodes.ID) {
	defer j.flush(ctx)
	entries := 0
	next := j.m.primer.resume(dir)
	for e, err := range j.m.tree.ReadDir(ctx, dir, next) {
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
		if j.m.primer.credit.Add(-pages) < 0 {
			j.m.primer.pass(dir, next)
			return
		}
		if !j.take(ctx, &e) {
			return
		}
		next = e.Next
	}
}

// take stores one file, now or in a batch, and reports whether to go on.
func (j *priming) take(ctx context.Context, e *nodes.Entry) (goOn bool) {
	if j.batches == nil {
		return j.file(ctx, e)
	}
	j.batch = append(j.batch, *e)
	if j.batchBytes += e.Size; len(j.batch) == primeBatch || j.batchBytes >= primeBatchBytes {
		j.flush(ctx)
	}
	return true
}

// flush hands on the batch that has begun.
func (j *priming) flush(ctx context.Context) {
	if len(j.batch) == 0 {
		return
	}
	select {
	case j.batches <- j.batch:
	case <-ctx.Done():
	}
	j.batch, j.batchBytes = nil, 0
}

// storeAll stores the files of a batch that nobody has read meanwhile.
func (j *priming) storeAll(ctx context.Context, tree nodes.WholeReader, files []nodes.Entry) {
	files = slices.DeleteFunc(files, func(e nodes.Entry) bool { return j.m.primer.wasRead(e.ID) })
	var stored [primeBatch]bool
	for i, content := range tree.ReadWhole(ctx, files) {
		if stored[i] = int64(len(content)) == files[i].Size; stored[i] && !j.push(files[i].ID, content) {
			return
		}
	}
	for i := range files {
		if !stored[i] && !j.store(ctx, &files[i]) {
			return
		}
	}
}

// isProbe reports whether a file is left out as a probe, and counts it.
func (j *priming) isProbe(pages int64) bool {
	j.files++
	j.pages += pages
	rarer := max(1, j.m.primer.credit.Load()/primeRarer)
	if j.files < primeProbe*rarer && j.pages <= primeProbePages*rarer {
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
	if j.m.edits.pinned.has(e.ID) {
		return goOn
	}
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
	if j.buf == nil {
		j.buf = make([]byte, j.m.primer.max)
	}
	p := j.buf[:e.Size]
	n, err := j.m.tree.ReadAt(ctx, e.ID, p, 0)
	if n < len(p) || (err != nil && !isEnd(err)) {
		return true // a part of a file must not pass for the whole
	}
	return j.push(e.ID, p)
}

// push gives the kernel the content of a file, and reports whether to go on.
func (j *priming) push(file nodes.ID, content []byte) (goOn bool) {
	switch j.kernel.InodeNotifyStoreCache(uint64(file), 0, content) {
	case fuse.OK:
		j.m.counters.primed.Add(1)
	case fuse.ENOENT: // the kernel does not know this node, or no longer
	default:
		return false
	}
	return true
}
