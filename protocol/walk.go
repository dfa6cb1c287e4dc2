package protocol

import (
	"encoding/binary"
	"math/bits"
	"sync"
)

// walker checks a packet against its table. It follows every pointer once, in the order of
// the rule. What it accepts can be read without further checks.
type walker struct {
	t *Table
	p []byte

	// elements and work are how many elements and bytes may still be visited. An element
	// has at least 4 bytes of its own, and no byte of a good packet belongs to two fields.
	// So a packet with shared pointers fails before it grows.
	elements int
	work     int
	// names is how many bytes of JSON the names may still take. A name can be as long as a
	// definition, and occur once for each element.
	names int
	// values is how many members the values of the packet take.
	values int

	// next is where the rule puts the next datum. plain is set while all of them have been
	// there.
	next  int
	plain bool

	// at collects the places of the data, for a packet that is not plain.
	at []uint16
	// used has a bit for each byte that belongs to a field. As long as the packet is plain,
	// these are all bytes up to next, and used is not kept.
	used   []uint64
	shared bool // some byte belongs to two
}

// workPerByte is how many bytes are visited at most for each byte of a packet.
const workPerByte = 2

// maxNames bounds the names in the JSON of a packet, in bytes: 128 for each byte of the
// longest packet. The values themselves are bounded by the bytes that are visited, and take
// less.
const maxNames = MaxJSON / 2

// walkers keeps the memory of walkers. Without that packets become JSON in 1.5 times the CPU time, and
// those of a recording in 1.2 times.
var walkers = sync.Pool{New: func() any { return new(walker) }}

// walk checks a packet. Call release when the walker is of no use any more.
func (t *Table) walk(packet []byte) (*walker, error) {
	w := walkers.Get().(*walker)
	*w = walker{t: t, p: packet, at: w.at[:0], used: w.used[:0]}
	if err := w.check(); err != nil {
		w.release()
		return nil, err
	}
	return w, nil
}

func (w *walker) release() {
	w.t, w.p = nil, nil
	walkers.Put(w)
}

// check walks a whole packet.
func (w *walker) check() error {
	t, p := w.t, w.p
	switch {
	case len(p) > MaxPacket:
		return badf(0, "%d bytes: want at most %d", len(p), MaxPacket)
	case len(p) < t.body.head:
		return badf(len(p), "the packet ends in its header of %d bytes", t.body.head)
	}
	w.elements, w.work = len(p)/linkSize, workPerByte*len(p)
	w.next, w.plain, w.names, w.values = t.body.size, true, maxNames, t.body.values
	if err := w.scope(&t.body, 0); err != nil {
		return err
	}
	if w.next != len(p) {
		w.depart()
	}
	if !t.opts.Strict {
		return nil
	}
	if length := int(binary.LittleEndian.Uint16(p)); length != len(p) {
		return badf(0, "the header states a length of %d, but there are %d bytes", length, len(p))
	}
	if !w.plain {
		return w.strict()
	}
	return nil
}

// depart notes that the packet is not plain. So far, it was.
func (w *walker) depart() {
	if !w.plain {
		return
	}
	w.plain = false
	n := (len(w.p) + 63) / 64
	if cap(w.used) < n {
		w.used = make([]uint64, (MaxPacket+63)/64)
	}
	w.used = w.used[:n]
	clear(w.used)
	w.mark(0, w.next)
}

// mark notes that the bytes from off to end belong to a field.
func (w *walker) mark(off, end int) {
	for off < end {
		n := min(64-off%64, end-off)
		bits := ^uint64(0) >> (64 - n) << (off % 64)
		word := &w.used[off/64]
		w.shared = w.shared || *word&bits != 0
		*word |= bits
		off += n
	}
}

// visit counts n bytes at off as read, and as belonging to one datum.
func (w *walker) visit(off, n int, what string) error {
	if off+n > len(w.p) {
		return badf(off, "%s of %d bytes: the packet ends at %d", what, n, len(w.p))
	}
	if w.work -= n; w.work < 0 {
		return badf(off, "%s: the fields refer to more bytes than the packet has", what)
	}
	if !w.plain {
		w.mark(off, off+n)
	}
	return nil
}

// place notes the place of a datum of n bytes; n may be 0.
func (w *walker) place(off, n int) {
	if off != w.next {
		w.depart()
	}
	w.next += n
	w.at = append(w.at, uint16(off))
}

// outside checks an offset that leads to data.
func (w *walker) outside(off int) error {
	if off < w.t.body.head || off > len(w.p) {
		return badf(off, "an offset of %d: want one behind the header and up to %d", off, len(w.p))
	}
	return nil
}

func (w *walker) u16(off int) int { return int(binary.LittleEndian.Uint16(w.p[off:])) }

// scope walks the packet or an element, whose fixed part begins at base.
func (w *walker) scope(s *scope, base int) error {
	if err := w.visit(base, s.size, "fields"); err != nil {
		return err
	}
	if w.names -= s.text; w.names < 0 {
		return badf(base, "the names of the fields alone would be more than %d bytes of JSON", maxNames)
	}
	if w.t.opts.Strict {
		if err := w.bools(s.root, base); err != nil {
			return err
		}
	}
	for _, group := range s.data {
		if err := w.group(group, base); err != nil {
			return err
		}
	}
	return nil
}

// group walks the data of members whose elements alternate; mostly it is one member.
func (w *walker) group(group []*member, base int) error {
	if len(group) == 1 {
		m := group[0]
		var err error
		switch m.typ {
		case TypeString:
			err = w.text(base + m.at)
		case TypeBytes:
			err = w.bytes(w.u16(base+m.at), w.u16(base+m.countAt))
		case TypeArray:
			err = w.array(m, base)
		}
		if err != nil {
			return inField(err, m.path)
		}
		return nil
	}
	return w.turns(group, base)
}

func (w *walker) text(pointer int) error {
	off := w.u16(pointer)
	if err := w.outside(off); err != nil {
		return err
	}
	n := textLen(w.p[off:])
	if n < 0 {
		return badf(off, "a string without an end")
	}
	w.place(off, n)
	return w.visit(off, n, "string")
}

// textLen returns the length of a string with its NUL, or -1 if there is none.
func textLen(p []byte) int {
	i := 0
	// Four units at a time. The lowest unit of 0 borrows from its sign; those below it don't.
	const ones, signs = 0x0001000100010001, 0x8000800080008000
	for ; i+8 <= len(p); i += 8 {
		x := binary.LittleEndian.Uint64(p[i:])
		if zero := (x - ones) &^ x & signs; zero != 0 {
			return i + bits.TrailingZeros64(zero)/16*2 + 2
		}
	}
	for ; i+1 < len(p); i += 2 {
		if p[i] == 0 && p[i+1] == 0 {
			return i + 2
		}
	}
	return -1
}

func (w *walker) bytes(off, n int) error {
	if n == 0 {
		w.empty(off, w.t.opts.EmptyBytesNull)
		return nil
	}
	if err := w.outside(off); err != nil {
		return err
	}
	w.place(off, n)
	return w.visit(off, n, "bytes")
}

// empty notes the offset of a datum without bytes. Any offset is valid, but the rule has
// only one.
func (w *walker) empty(off int, null bool) {
	want := w.next
	if null {
		want = 0
	}
	if off != want {
		w.depart()
	}
	w.at = append(w.at, uint16(off))
}

// chain walks from element to element of an array. It does not hold the walker, which would
// then be allocated for each packet.
type chain struct {
	m    *member
	i, n int
	here int // of element i
}

func (w *walker) chain(m *member, base int) chain {
	c := chain{m: m, n: w.u16(base + m.countAt), here: w.u16(base + m.at)}
	if c.n == 0 {
		w.empty(c.here, true)
	}
	return c
}

// step walks one element and goes to the next.
func (w *walker) step(c *chain) error {
	here := c.here
	if err := w.outside(here); err != nil {
		return err
	}
	if w.elements--; w.elements < 0 {
		return badf(here, "more elements than a packet of %d bytes can have", len(w.p))
	}
	if here+linkSize > len(w.p) {
		return badf(here, "an element: the packet ends at %d", len(w.p))
	}
	if got := w.u16(here); got != here {
		return badf(here, "an element says that it is at %d", got)
	}
	w.place(here, c.m.elem.size)
	w.values += 1 + c.m.elem.values
	if err := w.scope(c.m.elem, here); err != nil {
		return err
	}
	c.here = w.u16(here + 2)
	c.i++
	if last := c.i == c.n; last != (c.here == 0) {
		return badf(here+2, "element %d of %d says that the next is at %d", c.i, c.n, c.here)
	}
	return nil
}

func (w *walker) array(m *member, base int) error {
	c := w.chain(m, base)
	if len(m.elem.data) == 0 && !w.t.opts.Strict {
		w.flat(&c)
	}
	for c.i < c.n {
		i := c.i
		if err := w.step(&c); err != nil {
			return inElement(err, i)
		}
	}
	return nil
}

// flat walks the elements of an array that have only a part of fixed size, as step does, up to
// one that is wrong or the last one.
func (w *walker) flat(c *chain) {
	size, text, head := c.m.elem.size, c.m.elem.text, w.t.body.head
	for c.i < c.n-1 {
		here := c.here
		if here < head || here+size > len(w.p) || w.u16(here) != here || w.u16(here+2) == 0 ||
			w.elements < 1 || w.work < size || w.names < text {
			return
		}
		w.elements, w.work, w.names = w.elements-1, w.work-size, w.names-text
		w.values += 1 + c.m.elem.values
		w.place(here, size)
		if !w.plain {
			w.mark(here, here+size)
		}
		c.here = w.u16(here + 2)
		c.i++
	}
}

// turns walks interleaved arrays: a[0] b[0] a[1] b[1] and so on.
func (w *walker) turns(group []*member, base int) error {
	chains := make([]chain, len(group))
	most := 0
	for i, m := range group {
		chains[i] = w.chain(m, base)
		most = max(most, chains[i].n)
	}
	for i := range most {
		for j := range chains {
			c := &chains[j]
			if i >= c.n {
				continue
			}
			if err := w.step(c); err != nil {
				return inField(inElement(err, i), c.m.path)
			}
		}
	}
	return nil
}

// bools refuses a bool that is neither 0 nor 1.
func (w *walker) bools(m *member, base int) error {
	for _, sub := range m.members {
		var err error
		switch sub.typ {
		case TypeObject:
			err = w.bools(sub, base)
		case TypeBool:
			if b := w.p[base+sub.at]; b > 1 {
				err = badf(base+sub.at, "a bool of %d: want 0 or 1", b)
			}
		case TypeFixed:
			err = w.fixedBools(sub, base+sub.at)
		}
		if err != nil {
			return inField(err, sub.name)
		}
	}
	return nil
}

func (w *walker) fixedBools(m *member, off int) error {
	innermost := m
	for innermost.typ == TypeFixed {
		innermost = innermost.item
	}
	if innermost.typ != TypeBool {
		return nil
	}
	for i, b := range w.p[off : off+m.stride] {
		if b > 1 {
			return badf(off+i, "a bool of %d: want 0 or 1", b)
		}
	}
	return nil
}
