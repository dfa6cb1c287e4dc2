package worldtree

import (
	"bytes"
	"context"
	"math/bits"

	"lorefs/geometry"
)

// net says where a version differs from what is in the folder. A nil net differs nowhere. It
// does not change.
type net struct {
	// whole is set if it is one edit: the file is an area, or the zone in the folder can't be
	// decoded.
	whole bool
	// squares has a bit for each square of another zone.
	squares [(geometry.ZoneSquares + wordBits - 1) / wordBits]uint64
}

const wordBits = 64

// netOf compares a new image of a version with what the file in the folder holds. The image of
// a damaged file is nil.
func (t *Tree) netOf(ctx context.Context, s *version, image []byte) (*net, error) {
	before, err := t.image(ctx, s.saved())
	switch {
	case err != nil && !isBad(err):
		return nil, err
	case err != nil && image == nil:
		return nil, nil //nolint:nilnil // it is as damaged as before
	case err != nil:
		return &net{whole: true}, nil
	}
	return netBetween(s.kind, before, image), nil
}

// netBetween compares two images.
func netBetween(k kind, before, after []byte) *net {
	if bytes.Equal(before, after) {
		return nil
	}
	n := &net{whole: k == area}
	if k == zone {
		for square := range differ(before, after) {
			n.squares[square/wordBits] |= 1 << (square % wordBits)
		}
	}
	return n
}

// count returns the number of edits.
func (n *net) count() (count int64) {
	switch {
	case n == nil:
		return 0
	case n.whole:
		return 1
	}
	for _, word := range n.squares {
		count += int64(bits.OnesCount64(word))
	}
	return count
}

// has reports whether a square differs.
func (n *net) has(square int) bool {
	return n != nil && n.squares[square/wordBits]>>(square%wordBits)&1 == 1
}

// Pending returns the number of edits that are not saved: of squares and areas that differ from
// those in the folder, and of zones that can't be decoded there.
func (e *Editable) Pending() (count int64) {
	for _, s := range e.edits.sources {
		count += s.now().net.count()
	}
	return count
}
