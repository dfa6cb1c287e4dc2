package worldtree

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"lorefs/internal/cores"
	"lorefs/nodes"
)

// listing finds out sizes, and what is needed to list squares, before they are asked for. A program
// that lists a directory asks for one after the other, and waits for each, so only one core would be
// used.
type listing struct {
	// last is the source whose size was asked for last, nil before the first. inOrder says
	// whether that was what a program asks for that lists a directory.
	last    atomic.Pointer[source]
	inOrder atomic.Bool

	mu sync.Mutex // guards the fields below; never held while anything is found out
	// next are the views to find out. workers is how many goroutines do that, and ahead waits for
	// them. None begins once ended is set.
	next    []wanted
	workers int
	ahead   sync.WaitGroup
	ended   bool
}

// wanted is a view of a version whose size will probably be asked for.
type wanted struct {
	of   *version
	view view
}

// end waits for what is being found out, and leaves out the rest.
func (l *listing) end() {
	l.mu.Lock()
	l.next, l.ended = nil, true
	l.mu.Unlock()
	l.ahead.Wait()
}

// aheadOf is how many sources a core that is free looks ahead. With only one it would wait for
// the program whenever a source takes it less time than another takes the program.
const aheadOf = 2

// listed reports whether a program that lists a directory asks for the size of a view of s: of the
// first source, of another view of the one that it asked for last, or of the first behind that
// whose size was not known. It does not ask for those that are. The first source alone is not
// enough to fetch others.
func (t *Tree) listed(s *source, v view) bool {
	last := t.listing.last.Swap(s)
	if last != s {
		first := t.firstOfKind(s) && !t.opts.Fetched
		t.listing.inOrder.Store(first || last != nil && t.allKnown(last.index+1, s.index, v))
	}
	return t.listing.inOrder.Load()
}

func (t *Tree) firstOfKind(s *source) bool {
	return s.index == 0 || t.sources[s.index-1].kind != s.kind
}

// allKnown reports whether the sizes of a view of the sources from one place to another are known.
// It is false if the places are in the other order.
func (t *Tree) allKnown(from, to int, v view) bool {
	if from > to {
		return false
	}
	for _, s := range t.sources[from:to] {
		if forms[v].of != s.kind || t.knownSize(s.now(), v) == nodes.UnknownSize {
			return false
		}
	}
	return true
}

// measureNext begins to find out the sizes of a view of the sources behind s, on the cores that are
// free, if somebody lists a directory. With them go those of the other views in the directory, and
// behind the last source those in its directories.
func (t *Tree) measureNext(s *version, v view) {
	if !t.listed(s.source, v) {
		return
	}
	free := max(1, cores.Count()-1)
	if s.made.views[v].begun.Load() && v != zoneSquares && t.knownSize(s, v) == nodes.UnknownSize {
		free++ // the caller waits for a goroutine that is at work, and takes no core
	}
	dir := t.folderOf(v)
	behind := dir.behind(s.source)
	next := t.appendUnknown(nil, behind[:min(len(behind), aheadOf*free)], dir.views)
	// The largest file first: if it were the last one, only one core would have work then.
	slices.SortStableFunc(next, func(a, b wanted) int { return cmp.Compare(b.of.size, a.of.size) })
	if rest := aheadOf*free - len(behind); rest > 0 && !t.opts.Fetched {
		for _, sub := range dir.subs {
			sub := &t.folders[sub]
			next = t.appendUnknown(next, sub.sources[:min(len(sub.sources), rest)], sub.views)
		}
	}
	t.listing.want(next, free, t.measureAhead)
}

// folderOf returns the directory of a view.
func (t *Tree) folderOf(v view) *folder {
	i := slices.IndexFunc(t.folders, func(f folder) bool { return slices.Contains(f.views, v) })
	return &t.folders[i]
}

// behind returns the sources of a directory behind one of them.
func (f *folder) behind(s *source) []*source {
	return f.sources[s.index-f.sources[0].index+1:]
}

// want replaces what is wanted, and starts work as often as there is something for it to do; at most
// free run at once.
func (l *listing) want(next []wanted, free int, work func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended {
		return
	}
	l.next = next
	for ; l.workers < min(free, len(next)); l.workers++ {
		l.ahead.Go(work)
	}
}

// appendUnknown appends the views of sources that nobody has begun to find out.
func (t *Tree) appendUnknown(next []wanted, sources []*source, views []view) []wanted {
	for _, s := range sources {
		now := s.now()
		for _, v := range views {
			if (v == zoneSquares || t.knownSize(now, v) == nodes.UnknownSize) && !now.made.views[v].begun.Load() {
				next = append(next, wanted{now, v})
			}
		}
	}
	return next
}

// measureAhead finds out what is wanted, until there is nothing more.
func (t *Tree) measureAhead() {
	for {
		w, ok := t.listing.take()
		if !ok {
			return
		}
		begun := &w.of.made.views[w.view].begun
		if !begun.CompareAndSwap(false, true) {
			continue
		}
		if err := t.findOut(context.Background(), w.of, w.view); err != nil {
			begun.Store(false) // whoever asks for it tries again
		}
	}
}

// take returns what to find out next. If there is nothing, the worker that asked has ended.
func (l *listing) take() (w wanted, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.next) == 0 {
		l.workers--
		return wanted{}, false
	}
	w = l.next[0]
	l.next = l.next[1:]
	return w, true
}

// findOut finds out the size of a view, or for the directory of a zone's squares those of all of
// them. A view does not fail because it could not be read ahead of the programs: the disk may give
// them what it did not give then.
func (t *Tree) findOut(ctx context.Context, s *version, v view) error {
	if v == zoneSquares {
		_, err := t.offsets(ctx, s, v)
		return err
	}
	state := &s.made.views[v]
	state.mu.Lock()
	defer state.mu.Unlock()
	_, err := t.findSize(ctx, s, v)
	return err
}
