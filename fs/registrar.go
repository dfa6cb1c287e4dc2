//go:build linux || darwin || freebsd

package fs

import (
	"sync"

	"github.com/hanwen/go-fuse/v2/fuse"

	"lorefs/nodes"
)

// maxListings is how many listings may wait to be registered. A program that lists faster waits.
const maxListings = 8

// registrar makes go-fuse's nodes of what was listed, while the kernel already has the answer. They
// take about as long as all else in a listing. So a program gets the next part of a large
// directory meanwhile.
//
// A listing needs no node, but all other requests do. So they wait until what was listed before
// is registered: see [front.begin].
type registrar struct {
	// mu guards what follows. changed is told of each change of done.
	mu      sync.Mutex
	changed sync.Cond
	waiting []listing
	// added and done count listings.
	added, done uint64
	// free is the memory of a listing that is done.
	free []listed
}

// listing is a part of a directory, as one answer has it.
type listing struct {
	dir     uint64
	entries []listed
}

// listed is an entry that the kernel learns of.
type listed struct {
	name string
	id   nodes.ID
	mode uint32
}

func (r *registrar) init() { r.changed.L = &r.mu }

// memory returns memory for the entries of a listing.
func (r *registrar) memory() []listed {
	r.mu.Lock()
	defer r.mu.Unlock()
	free := r.free
	r.free = nil
	return free[:0]
}

// add has a listing registered, and reports whether the caller has to begin that, by run.
func (r *registrar) add(l listing) (begin bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for len(r.waiting) == maxListings {
		r.changed.Wait()
	}
	r.waiting = append(r.waiting, l)
	r.added++
	return r.added == r.done+1
}

// run registers what waits, one listing after another: a directory comes before its entries.
func (r *registrar) run(register func(listing)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for len(r.waiting) > 0 {
		l := r.waiting[0]
		r.mu.Unlock()
		register(l)
		r.mu.Lock()
		clear(l.entries)
		r.free = l.entries
		r.waiting = append(r.waiting[:0], r.waiting[1:]...)
		r.done++
		r.changed.Broadcast()
	}
}

// settle waits until all that was added so far is registered.
func (r *registrar) settle() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for upTo := r.added; r.done < upTo; {
		r.changed.Wait()
	}
}

// known sets what go-fuse sets in the answer for a node, besides the attributes.
func known(id nodes.ID, out *fuse.EntryOut) {
	out.NodeId = uint64(id)
	out.SetEntryTimeout(cacheTimeout)
	out.SetAttrTimeout(cacheTimeout)
}

// registerLater registers a listing in the background.
func (f *front) registerLater(l listing) {
	if len(l.entries) > 0 && f.m.registrar.add(l) {
		f.background.Go(func() { f.m.registrar.run(f.register) })
	}
}

// register registers a listing.
func (f *front) register(l listing) {
	head := fuse.InHeader{NodeId: l.dir}
	f.m.guard("registering a listing", func() {
		for i := range l.entries {
			e := &l.entries[i]
			out := fuse.EntryOut{Attr: fuse.Attr{Ino: uint64(e.id), Mode: e.mode}}
			f.lookup(nil, &head, e.name, &out)
		}
	})
}
