package overlay

import (
	"slices"

	"lorefs/nodes"
)

// text is the content of a file in memory. With the zero text, the file shows its source.
// Tree.mu guards it, and only a holder of Tree.editing changes it.
type text struct {
	// data is the content if held is set.
	data    []byte
	held    bool
	state   state
	writers int // not yet released
	// problem is why the text can't become the content of its file, or nil.
	problem error
	// counted is how much of Tree.bytes is for this text.
	counted int64
}

// state says what Flush has to do with a text.
type state uint8

const (
	clean state = iota
	// cut texts were emptied and not written to since, so more may follow. A text that was cut to
	// another length counts as written, since that length is what its writer wants.
	cut
	written
	// refused texts lack a write that was refused, so they are not complete. They stay refused
	// until a writer starts over.
	refused
)

// Held reports whether the file shows the text.
func (t *text) Held() bool { return t.held }

// Dirty reports whether something was written and not committed.
func (t *text) Dirty() bool { return t.state != clean }

// Open reports whether the text has writers.
func (t *text) Open() bool { return t.writers > 0 }

// Bytes returns the text itself, which writers change in place.
func (t *text) Bytes() []byte { return t.data }

// Size returns the length in bytes.
func (t *text) Size() int64 { return int64(len(t.data)) }

// Cap returns the memory of the text in bytes.
func (t *text) Cap() int64 { return int64(cap(t.data)) }

// ReadAt is [nodes.Tree.ReadAt] for a file whose text is held.
func (t *text) ReadAt(p []byte, off int64) (int, error) { return nodes.ReadContent(t.data, p, off) }

// Hold makes data the text, without copying it.
func (t *text) Hold(data []byte) { t.data, t.held = data, true }

// ShowAlone makes the file show the text from now on, even if it is empty, because the file has no
// source.
func (t *text) ShowAlone() { t.held = true }

// Clean records that no write waits for a commit.
func (t *text) Clean() { t.state = clean }

// Tried records the result of a commit: nil, or why the text was refused. No write waits for a
// commit then.
func (t *text) Tried(problem error) {
	t.Clean()
	t.problem = problem
}

// Drop drops the text and its problem: the file shows its source again.
func (t *text) Drop() {
	t.Tried(nil)
	t.data, t.held = nil, false
}

// Empty makes the text an empty one without writes.
func (t *text) Empty() {
	t.Clean()
	t.Hold(nil)
}

// write writes p at off, and fills a gap before off with zeros.
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
		t.data = nil // another text may be waiting for this memory
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

// refuse records that a write was refused. The writes before it must not be committed without
// it.
func (t *text) refuse() {
	if t.state != clean {
		t.state = refused
	}
}

// extend makes the text at least size bytes long. The new bytes are arbitrary. Most texts are
// written in pieces from the first byte to the last, so the memory grows by a fraction of the
// length; otherwise each piece would copy the text.
func (t *text) extend(size int) {
	if size <= len(t.data) {
		return
	}
	if size > cap(t.data) {
		t.data = slices.Grow(t.data, max(size-len(t.data), len(t.data)/4))
	}
	t.data = t.data[:size]
}
