package splice

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

	z   *flate.Writer // for new data
	out bytes.Buffer  // of z
}

// intact reports whether all tokens of a block that begins at old offset off, and which no edit
// touches, still say what they should.
func (m *mapping) intact(tokens []inflate.Token, off int64) bool {
	n := m.begun(off + 1)
	if n == 0 {
		return true
	}
	edited := m.end(n)
	for _, t := range tokens {
		if d := int64(t.Dist()); d > 0 && off-d < edited && !m.moved(off, t) {
			return false
		}
		off += int64(t.Len())
	}
	return true
}

// moved reports whether a match is still right whose own bytes at off stay: what it copies was
// not edited, and moves as far as itself.
func (m *mapping) moved(off int64, t inflate.Token) bool {
	from := off - int64(t.Dist())
	return m.untouched(from, min(off, from+int64(t.Len()))) && off-from == m.place(off)-m.place(from)
}

// block replaces r.tokens by those of a block that had old tokens for the data from u on, up to
// end, and begins at v after the edits. What is inserted at its end belongs to it if it is the last
// one.
func (r *retokenizer) block(old []inflate.Token, u, end, v int64, last bool) (err error) {
	r.tokens = r.tokens[:0]
	next := r.begun(u) // the next edit
	if r.end(next) > u {
		next-- // it goes on in this block
	}
	skip := u // what lies before is removed
	for _, t := range old {
		length := int64(t.Len())
		// Most tokens lie between two edits, and copy nothing that lies before the last one.
		if u >= skip && u+length <= r.begin(next) && (t.Dist() == 0 || u-int64(t.Dist()) >= r.end(next)) {
			r.tokens = append(r.tokens, t)
			u, v = u+length, v+length
			continue
		}
		whole := true
		for left := length; left > 0; {
			n := left
			switch {
			case next < len(r.edits) && r.edits[next].Off <= u:
				if skip, v, err = r.edit(next, end, v); err != nil {
					return err
				}
				next++
				continue
			case u < skip:
				n = min(n, skip-u)
			default:
				if next < len(r.edits) {
					n = min(n, r.edits[next].Off-u)
				}
				if whole && n == left && (t.Dist() == 0 || r.moved(u, t)) {
					r.tokens = append(r.tokens, t)
				} else {
					n = r.rest(t, u, v, n)
				}
				v += n
			}
			whole = false
			u += n
			left -= n
		}
	}
	for ; last && next < len(r.edits) && r.edits[next].Off == end; next++ {
		if _, v, err = r.edit(next, end, v); err != nil {
			return err
		}
	}
	return nil
}

// edit appends the new bytes of an edit that lie in a block that ends at the old offset end. It
// returns the old offset behind what the edit removes, and the new one behind what it
// inserts.
func (r *retokenizer) edit(i int, end, v int64) (skip, next int64, err error) {
	e := &r.edits[i]
	if next = r.newEnd(i); e.Off+e.Len > end {
		next = min(next, r.cut(end))
	}
	return e.Off + e.Len, next, r.insert(v, next)
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
	if i := r.begun(from + 1); r.end(i) > from {
		n = min(n, r.end(i)-from)
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
	dec := inflate.NewDecoder(stream, stream.Size())
	for at, final := int64(0), false; !final; {
		c, err := dec.ReadTokens(at, r.tokens, math.MaxInt32)
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
