//go:build linux || darwin || freebsd

package fs

import (
	"context"
	"errors"
	"io"
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

// run primes what is queued until stop is closed.
func (p *primer) run(m *mount, k storer, stop <-chan struct{}) {
	buf := make([]byte, primeMax)
	skip := 0
	for {
		select {
		case <-stop:
			return
		case dir := <-p.queue:
			skip = p.prime(m, k, dir, buf, skip)
		}
	}
}

// prime stores the small files of one directory. An error is not told to anyone:
// whoever reads the file will meet it again.
func (p *primer) prime(m *mount, k storer, dir nodes.ID, buf []byte, skip int) int {
	ctx := context.Background()
	for e, err := range m.tree.ReadDir(ctx, dir, 0) {
		if err != nil {
			break
		}
		if e.Kind != nodes.File || e.Size == 0 || e.Size > primeMax {
			continue
		}
		if skip = (skip + 1) % primeProbe; skip == 0 {
			continue
		}
		if p.credit.Add(-1) < 0 {
			break
		}
		n, err := m.tree.ReadAt(ctx, e.ID, buf[:e.Size], 0)
		if err != nil && !errors.Is(err, io.EOF) {
			continue
		}
		switch k.InodeNotifyStoreCache(uint64(e.ID), 0, buf[:n]) {
		case fuse.OK:
			m.counters.primed.Add(1)
		case fuse.ENOENT: // the kernel does not know this one, or no longer
		default:
			return skip
		}
	}
	return skip
}
