package streamedit

import (
	"math"

	"lorefs/internal/inflate"
)

// maxPatched is the number of new tokens from which a block gets new codes. Many tokens would be long
// in codes that were made for others.
const maxPatched = 2048

// gap is a part of an old block that is replaced.
type gap struct {
	from, to int64 // its bits
	out, end int64 // offsets of the data that they stand for
	// tokens is the number of new tokens up to the end of this gap, with those of the gaps before. v is
	// the new offset of the first token of this gap.
	tokens int
	v      int64
}

// patchBlock makes a new block for old block i, which is not stored. It keeps the codes of the block and
// the bits of all tokens that are still right. If all are, it makes none. done is false if the block
// needs new codes.
func (e *encoder) patchBlock(i int) (done bool, err error) {
	b, next := e.s.Blocks[i], e.s.Blocks[i+1]
	h, err := e.dec.BeginBlock(b.Header, next.Header)
	if err != nil {
		return false, err
	}
	if h.Stored || h.Final != e.isLast(i) {
		return false, errOther(b)
	}
	if few, err := e.findGaps(i); !few || err != nil {
		return false, err
	}
	if len(e.gaps) == 0 {
		return true, nil
	}
	if h.LitLen == nil {
		return false, nil // codes of its own would be shorter, but for a tiny block
	}
	e.litLen.set(h.LitLen, numLitLen)
	e.dists.set(h.Dist, numDist)
	p := patcher{
		newBlock: newBlock{out: e.cut(b.Out), final: h.Final}, mapping: e.m,
		litLen: &e.litLen, dists: &e.dists, wanted: e.pointsOf(i), at: b.Header,
	}
	if done = p.patch(e.gaps, e.tokens, next.Header); done {
		e.anew[i] = []newBlock{p.newBlock}
	}
	return done, nil
}

// findGaps finds the gaps of the block whose header was read, and the tokens for them. It reports whether
// these are few. It reads no more of the block than can be wrong.
func (e *encoder) findGaps(i int) (few bool, err error) {
	b, next := e.s.Blocks[i], e.s.Blocks[i+1]
	e.gaps = e.gaps[:0]
	e.begin(b.Out, next.Out, e.cut(b.Out))
	e.last, e.to = e.isLast(i), e.newEndOf(i)
	for len(e.tokens) <= maxPatched {
		stop, right := e.stops()
		if e.u >= right {
			return true, nil
		}
		s, err := e.dec.Skip(e.u, stop, e.ended(e.next))
		if err != nil {
			return false, err
		}
		e.u, e.v = s.Out, e.v+s.Out-e.u
		if s.IsEnd {
			if e.u != e.end || s.To != next.Header {
				return false, errOther(b)
			}
			return true, e.extend(s)
		}
		if e.u+int64(s.Token.Len()) > e.end {
			return false, errOther(b)
		}
		if err := e.replace(s); err != nil {
			return false, err
		}
	}
	return false, nil
}

// stops returns the offset up to which tokens stay that copy nothing that lies before the last edit, and
// the one from which on all tokens of the block stay.
func (e *encoder) stops() (stop, right int64) {
	right = math.MaxInt64
	if begin := e.beginOf(e.next); begin > e.end || begin == e.end && !e.last {
		right = max(e.ended(e.next)+inflate.WindowSize, e.skip)
	}
	return min(e.stop(), right, e.end), right
}

// replace adds a gap for a symbol, unless its token stays.
func (e *encoder) replace(s inflate.Symbol) error {
	g := gap{from: s.From, to: s.To, out: s.Out, end: s.Out + int64(s.Token.Len()), v: e.v}
	if err := e.need(g.end); err != nil {
		return err
	}
	n := len(e.tokens)
	if err := e.token(s.Token); err != nil {
		return err
	}
	if len(e.tokens) == n+1 && e.tokens[n] == s.Token {
		e.tokens = e.tokens[:n]
		return nil
	}
	if k := len(e.gaps) - 1; k >= 0 && e.gaps[k].to == g.from {
		e.gaps[k].to, e.gaps[k].end, e.gaps[k].tokens = g.to, g.end, len(e.tokens)
		return nil
	}
	g.tokens = len(e.tokens)
	e.gaps = append(e.gaps, g)
	return nil
}

// extend adds a gap before the end of the last block if something is appended to the data.
func (e *encoder) extend(s inflate.Symbol) error {
	if !e.last || e.next == len(e.edits) {
		return nil
	}
	g := gap{from: s.From, to: s.From, out: e.end, end: e.end, v: e.v}
	if err := e.need(e.end); err != nil {
		return err
	}
	err := e.appended()
	g.tokens = len(e.tokens)
	e.gaps = append(e.gaps, g)
	return err
}

// need reads the edited data that is needed for tokens up to an old offset.
func (e *encoder) need(end int64) error {
	to := e.to
	if end < e.end {
		to = e.cut(end)
		if n := e.begun(end); n > 0 {
			to = min(max(to, e.newEnd(n-1)), e.to)
		}
	}
	from := max(e.v-inflate.WindowSize, 0)
	if e.base <= from && to <= e.base+int64(len(e.data)) {
		return nil
	}
	return e.load(from, max(to, min(e.v+inflate.WindowSize, e.to)))
}

// patcher makes a new block of an old one.
type patcher struct {
	newBlock
	*mapping
	litLen, dists *code
	// wanted are the checkpoints that are left. at is the old bit that comes next.
	wanted []inflate.Point
	at     int64
}

// patch fills the block. end is where the old one ends. It reports false if a token has no code.
func (p *patcher) patch(gaps []gap, tokens []inflate.Token, end int64) bool {
	first := 0
	for i := range gaps {
		p.keep(gaps[i].from, gaps[i].out)
		if !p.replace(&gaps[i], tokens[first:gaps[i].tokens]) {
			return false
		}
		first = gaps[i].tokens
	}
	p.keep(end, math.MaxInt64)
	return true
}

// keep adds the old bits up to an offset. out is the offset of the data that comes next.
func (p *patcher) keep(to, out int64) {
	for ; len(p.wanted) > 0 && p.wanted[0].Out <= out; p.wanted = p.wanted[1:] {
		x := p.wanted[0]
		x.Out, x.In = p.cut(x.Out), x.In-p.at+p.n
		p.points = append(p.points, x)
	}
	p.patched = append(p.patched, Piece{From: p.at, N: to - p.at})
	p.n += to - p.at
	p.at = to
}

// replace adds the tokens of a gap. It reports false if one has no code.
func (p *patcher) replace(g *gap, tokens []inflate.Token) bool {
	var w bitBuffer
	v := g.v
	for _, t := range tokens {
		p.note(g.end, v, inflate.Point{In: p.n + w.len()})
		if !p.put(&w, t) {
			return false
		}
		next := v + int64(t.Len())
		for len(p.wanted) > 0 && p.wanted[0].Out < g.end && p.cut(p.wanted[0].Out) < next {
			p.note(g.end, p.cut(p.wanted[0].Out), inflate.Point{In: p.n + w.len(), Len: uint16(next - p.cut(p.wanted[0].Out)), Dist: uint16(t.Dist())})
		}
		v = next
	}
	p.note(g.end, v, inflate.Point{In: p.n + w.len()})
	n := w.len()
	w.align()
	p.patched = append(p.patched, Piece{Bits: w.b, N: n})
	p.n += n
	p.at = g.to
	return true
}

// note stores the place of the checkpoints before the old offset end that are wanted at the new offset v.
func (p *patcher) note(end, v int64, x inflate.Point) {
	for len(p.wanted) > 0 && p.wanted[0].Out < end && p.cut(p.wanted[0].Out) == v {
		x.Out = v
		p.points = append(p.points, x)
		p.wanted = p.wanted[1:]
	}
}

// put writes a token. It reports false if that has no code.
func (p *patcher) put(w *bitBuffer, t inflate.Token) bool {
	dist := t.Dist()
	if dist == 0 {
		return p.litLen.put(w, int(t.Byte()))
	}
	l := lengthCodes[uint8(t.Len()-minMatch)]
	if !p.litLen.put(w, int(l.symbol)) {
		return false
	}
	w.put(uint64(t.Len()-minMatch-int(l.base)), uint(l.extra))
	s := distanceSymbol(dist)
	if !p.dists.put(w, s) {
		return false
	}
	w.put(uint64(dist-1-int(distanceCodes[s].base)), uint(distanceCodes[s].extra))
	return true
}
