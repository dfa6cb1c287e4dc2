package overlay

import (
	"slices"

	"lorefs/nodes"
)

// text is the content of a file that is in memory. The zero text holds nothing: then
// the file shows what its source has. It is guarded by Tree.mu, and changed by whoever
// holds Tree.editing as well.
type text struct {
	// data is what is read, if held.
	data    []byte
	held    bool
	state   state
	writers int // that were not released
	// problem is why it can't become what its file is to hold, nil if it can.
	problem error
	// counted is how much memory of it Tree.bytes has.
	counted int64
}

// state tells what there is to do with a text when it is flushed.
type state uint8

const (
	clean state = iota
	// cut texts were emptied and not written to since: what comes then is open. One that
	// was cut to a length is what somebody wants it to be, as if that was written.
	cut
	written
	// refused texts lack a part of what was to be the content, so that they are none.
	// They remain so until somebody begins anew.
	refused
)

// Held tells whether the text is what the file shows.
func (t *text) Held() bool { return t.held }

// Dirty tells whether something was written that was not committed.
func (t *text) Dirty() bool { return t.state != clean }

// Open tells whether there are writers of it.
func (t *text) Open() bool { return t.writers > 0 }

// Bytes is the text itself, which a writer changes in place.
func (t *text) Bytes() []byte { return t.data }

// Size is its length in bytes.
func (t *text) Size() int64 { return int64(len(t.data)) }

// Cap is how much memory it takes, in bytes.
func (t *text) Cap() int64 { return int64(cap(t.data)) }

// ReadAt is [nodes.Tree.ReadAt] of a file whose text is held.
func (t *text) ReadAt(p []byte, off int64) (int, error) { return nodes.ReadContent(t.data, p, off) }

// Hold makes data the text, which takes it over.
func (t *text) Hold(data []byte) { t.data, t.held = data, true }

// Keep has the file show the text from now on, empty or not: it has no source.
func (t *text) Keep() { t.held = true }

// Clean notes that of what was written so far nothing waits for a commit.
func (t *text) Clean() { t.state = clean }

// Tried notes what came of the text: nil, or why it was refused. Nothing of it waits for
// a commit any more.
func (t *text) Tried(problem error) {
	t.Clean()
	t.problem = problem
}

// Drop lets go of the text, of what was written to it and of its problem: the file shows
// its source again.
func (t *text) Drop() {
	t.Tried(nil)
	t.data, t.held = nil, false
}

// Empty throws away what was written, and holds an empty text.
func (t *text) Empty() {
	t.Clean()
	t.Hold(nil)
}

// write writes p at off. Zeros fill a gap.
func (t *text) write(p []byte, off int64) {
	if len(p) > 0 {
		old := len(t.data)
		t.extend(int(off) + len(p))
		if gap := int(off) - old; gap > 0 {
			clear(t.data[old:off])
		}
		copy(t.data[off:], p)
	}
	if t.state != refused || off == 0 {
		t.state = written
	}
}

// truncate cuts or extends the text.
func (t *text) truncate(size int64) {
	old := len(t.data)
	switch {
	case size == 0:
		t.data = nil // the memory may be all that another text waits for
	case size <= int64(old):
		t.data = t.data[:size]
	default:
		t.extend(int(size))
		clear(t.data[old:])
	}
	switch {
	case size == 0:
		t.state = cut
	case t.state != refused:
		t.state = written
	}
}

// refuse notes that a write was refused. What was written before it is not to be
// committed without it.
func (t *text) refuse() {
	if t.state != clean {
		t.state = refused
	}
}

// extend gives the text at least a length; what is new has any value. Most texts are
// written from the first byte to the last, bit by bit: to grow by a part of the length
// keeps that from copying the text for each of them.
func (t *text) extend(size int) {
	if size <= len(t.data) {
		return
	}
	if size > cap(t.data) {
		t.data = slices.Grow(t.data, max(size-len(t.data), len(t.data)/4))
	}
	t.data = t.data[:size]
}
