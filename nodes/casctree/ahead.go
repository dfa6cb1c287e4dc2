package casctree

import (
	"context"
	"sync"

	"lorefs/internal/cores"
)

const (
	// aheadBytes and aheadFiles bound how far is read ahead of a program. A part of the cache
	// bounds it too: what is dropped from there before it is read would be decoded twice.
	aheadBytes = 8 << 20
	aheadFiles = 32
	aheadShare = 8
	// aheadPiece is how much of a file one goroutine decodes: eight chunks of the usual size, which
	// are hashed at once.
	aheadPiece = 2 << 20
	// aheadStreams is how many programs may read at once and be read ahead for.
	aheadStreams = 8
	// aheadSlack is how far off the order reads may come: the kernel sends several at once.
	aheadSlack = 2 << 20
	// aheadSkip is how many files may lie between two that are read one after the other. A
	// mount doesn't ask for small files that it has put into the kernel's cache.
	aheadSkip = 64
	// aheadLeft is how many files are remembered that somebody read as a whole, until so many reads
	// later: by then the system may have dropped what it was given of them.
	aheadLeft      = 4096
	aheadLeftReads = 1024
)

// readAhead decodes what programs will read next: the rest of a file, and the files behind it in
// the order of the table, in which they are listed. A program reads, computes and waits by turns,
// so that otherwise only one core would be busy.
type readAhead struct {
	t *Tree
	// most is how many goroutines decode at once: one core is left for requests.
	most int

	mu      sync.Mutex // guards the fields below; never held while something is read
	streams [aheadStreams]stream
	// reads counts reads, to find the stream that was used least recently.
	reads uint64
	// left has files that are not to be decoded, each at its place. It is nil until there is one.
	left []leftFile
	// decoding is how many goroutines decode.
	decoding int
	stopped  bool
	work     sync.WaitGroup
}

// stream is where a program reads one file after the other, from front to back.
type stream struct {
	// read is behind what was read, begun behind what is or was decoded.
	read, begun position
	// goesOn is set if it was read from more than once: the first read may as well be the only
	// one.
	goesOn bool
	// used is when it was last read from, 0 for a free stream.
	used uint64
}

// leftFile is a file that was read as a whole. It is left until readAhead.reads is so high.
type leftFile struct {
	file  int
	until uint64
}

// position is a byte of a file of the table.
type position struct {
	file int
	off  int64
}

// piece is a part of a file of the table.
type piece struct {
	file     int
	from, to int64
}

func (p position) before(other position) bool {
	return p.file < other.file || p.file == other.file && p.off < other.off
}

func newReadAhead(t *Tree) *readAhead {
	return &readAhead{t: t, most: max(1, cores.Count()-1)}
}

// window returns how many bytes are read ahead of a program, 0 if nothing is to be read ahead.
func (a *readAhead) window() int64 {
	if a.t.st.IsRemote() { // a remote storage reads ahead by itself
		return 0
	}
	return min(aheadBytes, a.t.opts.Blocks.Budget()/aheadShare)
}

// saw is called before a file is read from one offset to another.
func (a *readAhead) saw(file int, from, to int64) {
	window := a.window()
	if window == 0 {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.reads++
	s := a.following(file, from)
	if s == nil {
		s = a.oldest()
		*s = stream{read: position{file, to}, begun: position{file, to}, used: a.reads}
		return
	}
	s.goesOn, s.used = true, a.reads
	if now := (position{file, to}); s.read.before(now) {
		s.read = now
	}
	if s.begun.before(s.read) {
		s.begun = s.read
	}
	a.begin(s, window)
}

// following returns the stream that a read goes on with, or nil.
func (a *readAhead) following(file int, from int64) (nearest *stream) {
	least := aheadSkip + 1
	for i := range a.streams {
		s := &a.streams[i]
		if d := file - s.read.file; s.used > 0 && d >= 0 && d < least && a.continues(s, file, from) {
			nearest, least = s, d
		}
	}
	return nearest
}

// continues reports whether a read is what comes behind what a stream has read. Programs that look
// into the beginning of each file are no streams.
func (a *readAhead) continues(s *stream, file int, from int64) bool {
	if file == s.read.file {
		return from <= s.read.off+aheadSlack && from >= s.read.off-aheadSlack
	}
	return from == 0 && s.read.off >= a.t.table.entry(s.read.file).size()
}

// leave keeps a file from being decoded ahead for a while, since it is being read as a whole.
func (a *readAhead) leave(file int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.left == nil {
		a.left = make([]leftFile, aheadLeft)
	}
	a.left[file%aheadLeft] = leftFile{file, a.reads + aheadLeftReads}
}

func (a *readAhead) leaves(file int) bool {
	if a.left == nil {
		return false
	}
	l := a.left[file%aheadLeft]
	return l.file == file && l.until > a.reads
}

func (a *readAhead) oldest() *stream {
	old := &a.streams[0]
	for i := range a.streams {
		if s := &a.streams[i]; s.used < old.used {
			old = s
		}
	}
	return old
}

// begin lets one more goroutine decode if less than a half of what a stream may be read ahead is
// decoded. Whatever runs goes on until all of it is, so that few reads have to wake one.
func (a *readAhead) begin(s *stream, window int64) {
	if a.stopped || a.decoding == a.most || a.between(s.read, s.begun) >= window/2 || s.begun.file-s.read.file > aheadFiles/2 {
		return
	}
	if p, ok := a.take(s, window); ok {
		a.decoding++
		a.work.Go(func() { a.decode(p, window) })
	}
}

// decode decodes a piece, and goes on with what streams will read.
func (a *readAhead) decode(p piece, window int64) {
	for ok := true; ok; p, ok = a.more(window) {
		a.t.busy.Use()
		a.t.preload(p)
	}
}

// more returns the piece that will be wanted first. If there is none the goroutine ends.
func (a *readAhead) more(window int64) (p piece, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	var next *stream
	least := window
	for i := range a.streams {
		s := &a.streams[i]
		if ahead := a.between(s.read, s.begun); s.goesOn && ahead < least {
			if _, more := a.next(s); more {
				next, least = s, ahead
			}
		}
	}
	if next != nil && !a.stopped {
		return a.take(next, window)
	}
	a.decoding--
	return p, false
}

// take takes the next piece of a stream, if one lies in the window.
func (a *readAhead) take(s *stream, window int64) (p piece, ok bool) {
	from, ok := a.next(s)
	if !ok || a.between(s.read, s.begun) >= window {
		return p, false
	}
	p = piece{from.file, from.off, min(from.off+aheadPiece, a.t.table.entry(from.file).size())}
	s.begun = position{from.file, p.to}
	return p, true
}

// between returns how many bytes are between two positions.
func (a *readAhead) between(from, to position) (n int64) {
	for file := from.file; file <= to.file; file++ {
		end := a.t.table.entry(file).size()
		if file == to.file {
			end = to.off
		}
		n += end
	}
	return n - from.off
}

// next returns the position from which a stream is to be read ahead.
func (a *readAhead) next(s *stream) (from position, ok bool) {
	from = s.begun
	for from.off >= a.t.table.entry(from.file).size() || a.leaves(from.file) || !a.t.local(from.file) {
		from = position{file: from.file + 1}
		if from.file == a.t.table.nFiles || from.file > s.read.file+aheadFiles {
			return from, false
		}
	}
	return from, true
}

// stop waits until nothing more is read ahead.
func (a *readAhead) stop() {
	a.mu.Lock()
	a.stopped = true
	a.mu.Unlock()
	a.work.Wait()
}

// preload decodes a piece. Errors are left to whoever reads it.
func (t *Tree) preload(p piece) {
	ctx := context.Background()
	if f, _, err := t.readers.get(ctx, makeID(kindFile, p.file)); err == nil {
		f.Preload(ctx, p.from, p.to)
	}
}

// StopAhead ends what the tree does beside answering. It must be called before the storage is
// closed.
func (t *Tree) StopAhead() { t.ahead.stop() }
