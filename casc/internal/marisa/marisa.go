// Package marisa reads the tries of marisa-trie, which hold a set of strings and number
// them. MNDX roots keep their names in them.
//
// A trie is a LOUDS tree: the nodes in breadth-first order, each as a one in its parent's
// row of bits; a zero ends a row. A node has a byte, or a link to a longer string, which is
// in a tail or in another trie. Little-endian:
//
//	trie   = louds:bits terminals:bits links:bits bytes:vector extras:flat
//	         tail:vector tail_ends:bits [ trie ] cache:vector level1:4 flags:4
//	vector = size:8 byte×size padding to 8
//	bits   = units:vector count:4 ones:4 ranks:vector select0:vector select1:vector
//	flat   = units:vector width:4 mask:4 count:8
//
// The other trie exists if there are links but no tail. Whatever only speeds up lookups
// (ranks, selections, cache) is skipped.
package marisa

import (
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"math/bits"
)

const (
	// maxTries bounds tries in tries.
	maxTries = 16
	// maxKey bounds a string, in bytes.
	maxKey = 1 << 14
	// maxWork bounds the bytes that it takes to assemble all strings.
	maxWork = 1 << 28
)

// FormatError says what is wrong with a trie, and where.
type FormatError struct {
	Off  int
	What string
}

func (e *FormatError) Error() string { return fmt.Sprintf("trie, offset %#x: %s", e.Off, e.What) }

// Trie is a set of strings.
type Trie struct {
	parents   []uint32
	terminals bitVector
	links     bitVector
	labels    []byte
	extras    flatVector
	tail      []byte
	tailEnds  bitVector
	next      *Trie
}

// Parse reads a trie without its magic, and returns its size.
func Parse(data []byte) (*Trie, int, error) {
	r := &reader{data: data}
	t, err := r.trie(0)
	if err != nil {
		return nil, 0, err
	}
	return t, r.off, nil
}

// Len returns the number of strings.
func (t *Trie) Len() int { return t.terminals.ones }

var (
	errLong = errors.New("a string in a trie is too long, or all together are")
	errLink = errors.New("a link in a trie leads out of it")
)

// Keys yields all strings in the order of their numbers. The next string overwrites the
// bytes. An error comes last.
func (t *Trie) Keys() iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		w := &walk{}
		for node := range t.labels {
			if !t.terminals.has(node) {
				continue
			}
			w.key = w.key[:0]
			if err := w.up(t, uint32(node)); err != nil {
				yield(nil, err)
				return
			}
			reverse(w.key)
			if !yield(w.key, nil) {
				return
			}
		}
	}
}

// walk assembles strings from their ends to their beginnings.
type walk struct {
	key  []byte
	work int
}

// up appends the string of a node, reversed.
func (w *walk) up(t *Trie, node uint32) error {
	for ; node != 0; node = t.parents[node] {
		from := len(w.key)
		if err := w.label(t, node, 0); err != nil {
			return err
		}
		reverse(w.key[from:])
	}
	return nil
}

// label appends the byte of a node, or the string that it links to.
func (w *walk) label(t *Trie, node uint32, depth int) error {
	w.work++
	if len(w.key) > maxKey || w.work > maxWork || depth > maxTries {
		return errLong
	}
	if !t.links.has(int(node)) {
		w.key = append(w.key, t.labels[node])
		return nil
	}
	link := t.extras.at(t.links.rank(int(node)))<<8 | uint32(t.labels[node])
	if t.next == nil {
		return w.tail(t, link)
	}
	if int64(link) >= int64(len(t.next.labels)) {
		return errLink
	}
	// In the other trie strings are reversed, so walking up reads forward.
	for ; link != 0; link = t.next.parents[link] {
		if err := w.label(t.next, link, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// tail appends the string at off of the tail, which ends at a NUL or at a set bit.
func (w *walk) tail(t *Trie, off uint32) error {
	for at := int64(off); ; at++ {
		if at >= int64(len(t.tail)) {
			return errLink
		}
		w.work++
		if t.tailEnds.count == 0 && t.tail[at] == 0 {
			return nil
		}
		w.key = append(w.key, t.tail[at])
		if len(w.key) > maxKey || w.work > maxWork {
			return errLong
		}
		if t.tailEnds.has(int(at)) {
			return nil
		}
	}
}

func reverse(b []byte) {
	for i, j := 0, len(b)-1; i < j; i, j = i+1, j-1 {
		b[i], b[j] = b[j], b[i]
	}
}

// bitVector is a row of bits that can count its ones.
type bitVector struct {
	units []byte
	// ranks is the number of ones before each 64 bits.
	ranks []uint32
	count int
	ones  int
}

func (v *bitVector) has(i int) bool { return i < v.count && v.units[i/8]&(1<<(i%8)) != 0 }

func (v *bitVector) word(i int) uint64 { return binary.LittleEndian.Uint64(v.units[8*i:]) }

// rank returns the number of ones before bit i.
func (v *bitVector) rank(i int) int {
	return int(v.ranks[i/64]) + bits.OnesCount64(v.word(i/64)&(1<<(i%64)-1))
}

// flatVector is a row of numbers with the same number of bits each.
type flatVector struct {
	units []byte
	width uint
	mask  uint32
	count int
}

func (v *flatVector) at(i int) uint32 {
	bit := uint(i) * v.width
	at := bit / 8
	var b [8]byte
	copy(b[:], v.units[at:])
	return uint32(binary.LittleEndian.Uint64(b[:])>>(bit%8)) & v.mask
}
