package streamedit

import (
	"bytes"
	"fmt"
	"math"

	"github.com/klauspost/compress/flate"

	"lorefs/internal/inflate"
)

// searched is the number of new bytes from which it pays to search matches for them.
const searched = 24

// retokenizer makes the tokens of a block whose data, or data before it, was edited. Tokens that
// still say what they should stay.
type retokenizer struct {
	*mapping
	data   []byte // edited data, from base on
	base   int64
	tokens []inflate.Token

	// u and v are the offsets of the next byte before and after the edits, end is that of the block's
	// end before them. next is the number of the next edit, and what lies before skip is removed.
	u, v, end, skip int64
	next            int

	z    *flate.Writer    // for new data
	out  bytes.Buffer     // of z
	undo *inflate.Decoder // of out
}

// moved reports whether a match is still right whose own bytes at off stay: what it copies was
// not edited, and moves as far as itself.
func (m *mapping) moved(off int64, t inflate.Token) bool {
	from := off - int64(t.Dist())
	return m.untouched(from, min(off, from+int64(t.Len()))) && off-from == m.place(off)-m.place(from)
}

// begin begins a block, whose data lies from u on, up to end, before the edits and from v on after
// them.
func (r *retokenizer) begin(u, end, v int64) {
	r.tokens = r.tokens[:0]
	r.u, r.end, r.v = u, end, v
	r.next = r.begun(u)
	if r.ended(r.next) > u {
		r.next-- // it goes on in this block
	}
	r.skip = u // what lies before is removed
}

// block replaces r.tokens by those of the block that was begun, which had old tokens. What is inserted
// at its end belongs to it if it is the last one.
func (r *retokenizer) block(old []inflate.Token, last bool) error {
	for _, t := range old {
		// Most tokens lie between two edits, and copy nothing that lies before the last one.
		length := int64(t.Len())
		if r.u+length <= r.stop() && (t.Dist() == 0 || r.u-int64(t.Dist()) >= r.ended(r.next)) {
			r.tokens = append(r.tokens, t)
			r.u, r.v = r.u+length, r.v+length
			continue
		}
		if err := r.token(t); err != nil {
			return err
		}
	}
	if last {
		return r.appended()
	}
	return nil
}

// stop returns the offset up to which tokens stay that copy nothing that lies before the last edit.
func (r *retokenizer) stop() int64 {
	if r.u < r.skip {
		return r.u
	}
	return r.beginOf(r.next)
}

// token appends what becomes of the next token.
func (r *retokenizer) token(t inflate.Token) error {
	whole := true
	for left := int64(t.Len()); left > 0; {
		n := left
		switch {
		case r.next < len(r.edits) && r.edits[r.next].Off <= r.u:
			if err := r.edit(); err != nil {
				return err
			}
			continue
		case r.u < r.skip:
			n = min(n, r.skip-r.u)
		default:
			if r.next < len(r.edits) {
				n = min(n, r.edits[r.next].Off-r.u)
			}
			if whole && n == left && (t.Dist() == 0 || r.moved(r.u, t)) {
				r.tokens = append(r.tokens, t)
			} else {
				n = r.rest(t, r.u, r.v, n)
			}
			r.v += n
		}
		whole = false
		r.u += n
		left -= n
	}
	return nil
}

// appended appends what is inserted at the end of the data.
func (r *retokenizer) appended() error {
	for r.next < len(r.edits) && r.edits[r.next].Off == r.end {
		if err := r.edit(); err != nil {
			return err
		}
	}
	return nil
}

// edit appends the new bytes of the next edit that lie in the block.
func (r *retokenizer) edit() error {
	e := &r.edits[r.next]
	from := r.v
	if r.v = r.newEnd(r.next); e.Off+e.Len > r.end {
		r.v = min(r.v, r.cut(r.end))
	}
	r.skip = e.Off + e.Len
	r.next++
	return r.insert(from, r.v)
}

// rest appends tokens for at most n bytes of a token, which lie at u before the edits and at v
// after them. It returns the number of bytes.
func (r *retokenizer) rest(t inflate.Token, u, v, n int64) int64 {
	dist := int64(t.Dist())
	if dist == 0 {
		r.literals(v, v+n)
		return n
	}
	// The bytes between two edits move together.
	from := u - dist
	if i := r.begun(from + 1); r.ended(i) > from {
		n = min(n, r.ended(i)-from)
	} else if i < len(r.edits) && r.edits[i].Off > from {
		n = min(n, r.edits[i].Off-from)
	}
	r.copies(v, v+n, v-r.place(from))
	return n
}

// copies appends tokens for the new data between two offsets: matches at a distance wherever the
// data is the same there, literals for the others.
func (r *retokenizer) copies(v, end, dist int64) {
	if dist < 1 || dist > inflate.WindowSize || v-dist < r.base {
		r.literals(v, end)
		return
	}
	for v < end {
		n := int64(0)
		for v+n < end && n < maxMatch && r.data[v+n-r.base] == r.data[v+n-dist-r.base] {
			n++
		}
		if n >= minMatch {
			r.tokens = append(r.tokens, inflate.Match(int(n), int(dist)))
		} else {
			n = min(n+1, end-v)
			r.literals(v, v+n)
		}
		v += n
	}
}

func (r *retokenizer) literals(v, end int64) {
	for _, b := range r.data[v-r.base : end-r.base] {
		r.tokens = append(r.tokens, inflate.Literal(b))
	}
}

// insert appends tokens for new data.
func (r *retokenizer) insert(v, end int64) error {
	if end-v < searched {
		r.literals(v, end)
		return nil
	}
	const level = 6
	window := r.data[max(v-inflate.WindowSize, r.base)-r.base : v-r.base]
	r.out.Reset()
	if r.z == nil {
		var err error
		if r.z, err = flate.NewWriterDict(&r.out, level, window); err != nil {
			return err
		}
	} else {
		r.z.ResetDict(&r.out, window)
	}
	if _, err := r.z.Write(r.data[v-r.base : end-r.base]); err != nil {
		return err
	}
	if err := r.z.Close(); err != nil {
		return err
	}
	return r.deflated(v, end)
}

// deflated appends the tokens of what was deflated.
func (r *retokenizer) deflated(v, end int64) error {
	stream := bytes.NewReader(r.out.Bytes())
	if r.undo == nil {
		r.undo = inflate.NewDecoder(stream, stream.Size())
	} else {
		r.undo.Open(stream, stream.Size())
	}
	for at, final := int64(0), false; !final; {
		c, err := r.undo.ReadTokens(at, r.tokens, math.MaxInt32)
		if err != nil {
			return fmt.Errorf("splice: BUG: %w", err)
		}
		r.tokens = c.Tokens
		if c.Stored {
			r.literals(v, v+int64(c.Size))
		}
		v += int64(c.Size)
		at, final = c.End, c.Final
	}
	if v != end {
		return fmt.Errorf("splice: BUG: %d bytes too many", v-end)
	}
	return nil
}
