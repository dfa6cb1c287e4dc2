package marisa

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"
)

// reader reads the parts of a trie in order.
type reader struct {
	data []byte
	off  int
}

func (r *reader) fail(format string, args ...any) error {
	return &FormatError{Off: r.off, What: fmt.Sprintf(format, args...)}
}

func (r *reader) bytes(n int) ([]byte, error) {
	if n > len(r.data)-r.off {
		return nil, r.fail("%d bytes expected, %d there", n, len(r.data)-r.off)
	}
	b := r.data[r.off : r.off+n]
	r.off += n
	return b, nil
}

func (r *reader) u32() (uint32, error) {
	b, err := r.bytes(4)
	if err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint32(b), nil
}

func (r *reader) u64() (uint64, error) {
	b, err := r.bytes(8)
	if err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint64(b), nil
}

// vector reads a size, that many bytes, and the padding to a multiple of eight.
func (r *reader) vector() ([]byte, error) {
	n, err := r.u64()
	if err != nil {
		return nil, err
	}
	if n > uint64(len(r.data)-r.off) {
		return nil, r.fail("a vector of %d bytes, %d are there", n, len(r.data)-r.off)
	}
	b, err := r.bytes(int(n))
	if err != nil {
		return nil, err
	}
	_, err = r.bytes(-int(n) & 7)
	return b, err
}

// skip reads vectors that are not needed.
func (r *reader) skip(n int) error {
	for range n {
		if _, err := r.vector(); err != nil {
			return err
		}
	}
	return nil
}

func (r *reader) bits() (bitVector, error) {
	var v bitVector
	units, err := r.vector()
	if err != nil {
		return v, err
	}
	count, err := r.u32()
	if err != nil {
		return v, err
	}
	ones, err := r.u32()
	if err != nil {
		return v, err
	}
	if int64(count) > 8*int64(len(units)) {
		return v, r.fail("%d bits in %d bytes", count, len(units))
	}
	v.count = int(count)
	// Whole words and one more, so that rank may be asked for the end.
	v.units = append(slices.Clip(units), make([]byte, 16-len(units)%8)...)
	for i := range len(v.units) / 8 {
		v.ranks = append(v.ranks, uint32(v.ones))
		w := v.word(i)
		if left := v.count - 64*i; left < 64 {
			w &= 1<<max(left, 0) - 1
		}
		v.ones += bits.OnesCount64(w)
	}
	if v.ones != int(ones) {
		return v, r.fail("%d bits are set, stated are %d", v.ones, ones)
	}
	return v, r.skip(3)
}

func (r *reader) flat() (flatVector, error) {
	var v flatVector
	var err error
	if v.units, err = r.vector(); err != nil {
		return v, err
	}
	width, err := r.u32()
	if err != nil {
		return v, err
	}
	if v.mask, err = r.u32(); err != nil {
		return v, err
	}
	count, err := r.u64()
	if err != nil {
		return v, err
	}
	if width > 32 || count > 1<<32 || count*uint64(width) > 8*uint64(len(v.units)) {
		return v, r.fail("%d numbers of %d bits in %d bytes", count, width, len(v.units))
	}
	v.width, v.count = uint(width), int(count)
	return v, nil
}

func (r *reader) trie(depth int) (*Trie, error) {
	if depth > maxTries {
		return nil, r.fail("more than %d tries in each other", maxTries)
	}
	t := &Trie{}
	louds, err := r.bits()
	if err != nil {
		return nil, err
	}
	if t.terminals, err = r.bits(); err != nil {
		return nil, err
	}
	if t.links, err = r.bits(); err != nil {
		return nil, err
	}
	if t.labels, err = r.vector(); err != nil {
		return nil, err
	}
	if t.extras, err = r.flat(); err != nil {
		return nil, err
	}
	if t.tail, err = r.vector(); err != nil {
		return nil, err
	}
	if t.tailEnds, err = r.bits(); err != nil {
		return nil, err
	}
	if t.links.ones > 0 && len(t.tail) == 0 {
		if t.next, err = r.trie(depth + 1); err != nil {
			return nil, err
		}
	}
	if err := r.skip(1); err != nil { // the cache
		return nil, err
	}
	if _, err := r.bytes(8); err != nil { // the nodes of the first level, and flags
		return nil, err
	}
	return t, r.tree(t, &louds)
}

// tree computes the parents from the bits, and checks that the parts agree.
func (r *reader) tree(t *Trie, louds *bitVector) error {
	n := len(t.labels)
	if louds.ones != n || t.terminals.count > n+1 || t.terminals.has(n) || t.links.count > n || t.links.ones != t.extras.count {
		return r.fail("%d nodes with %d labels, %d and %d marks, %d links for %d",
			louds.ones, n, t.terminals.count, t.links.count, t.extras.count, t.links.ones)
	}
	t.parents = make([]uint32, 0, n)
	row := -1 // the node whose row it is; the first row has no node
	for i := range louds.count {
		if !louds.has(i) {
			row++
			continue
		}
		node := len(t.parents)
		if node > 0 && row >= node || node == 0 && row >= 0 || node > 0 && row < 0 {
			return r.fail("node %d is in the row of node %d", node, row)
		}
		t.parents = append(t.parents, uint32(max(row, 0)))
	}
	return nil
}
