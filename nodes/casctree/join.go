package casctree

import (
	"cmp"
	"context"
	"encoding/binary"
	"math"
	"slices"

	"lorefs/casc"
)

// keyed is a content key's beginning with the file that has it.
type keyed struct {
	prefix uint64
	file   uint32
}

// join looks all content keys up in the encoding file, which has them in order: by
// running through both once.
func (b *builder) join(ctx context.Context, enc *casc.Encoding) error {
	keys := b.contentKeys()
	done := 0
	for row, err := range enc.ContentRows(0, math.MaxInt) {
		if err != nil {
			return err
		}
		ckey := row.CKey()
		prefix := binary.BigEndian.Uint64(ckey[:])
		for done < len(keys) && keys[done].prefix < prefix {
			if done&(chunkSize-1) == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			done++
		}
		for i := done; i < len(keys) && keys[i].prefix == prefix; i++ {
			if x := b.files.at(int(keys[i].file)); x.state&stateKeyed == 0 && x.key == ckey {
				if err := b.setForms(x, row); err != nil {
					return err
				}
			}
		}
	}
	for i := range b.files.len {
		if x := b.files.at(i); x.state&stateKeyed == 0 {
			x.state |= stateKeyed
			x.flags |= flagNoForm // key tells those apart that are called the same
		}
	}
	return b.markEncrypted(enc)
}

// contentKeys are those of all files, in order.
func (b *builder) contentKeys() []keyed {
	n := 0
	for i := range b.files.len {
		if b.files.at(i).state&stateKeyed == 0 {
			n++
		}
	}
	keys := make([]keyed, 0, n)
	for i := range b.files.len {
		if x := b.files.at(i); x.state&stateKeyed == 0 {
			keys = append(keys, keyed{binary.BigEndian.Uint64(x.key[:]), uint32(i)})
		}
	}
	slices.SortFunc(keys, func(a, b keyed) int { return cmp.Compare(a.prefix, b.prefix) })
	return keys
}

// setForms says where a file is, as the encoding file has it.
func (b *builder) setForms(x *buildFile, row casc.ContentRow) error {
	x.state |= stateKeyed
	putBE40(x.size[:], row.Size())
	if row.Forms() == 1 {
		ekey := row.EKey(0)
		x.key = casc.Key{}
		copy(x.key[:casc.ShortKeySize], ekey[:])
		return nil
	}
	x.flags |= flagForms
	more := make([]byte, 0, row.Forms()*casc.ShortKeySize)
	for i := range row.Forms() {
		ekey := row.EKey(i)
		more = append(more, ekey[:casc.ShortKeySize]...)
	}
	return b.refer(x, row.Forms(), more)
}

// markEncrypted marks files that may be encrypted: which of the keys are known can be
// another thing the next time.
func (b *builder) markEncrypted(enc *casc.Encoding) error {
	encrypted, err := enc.Encrypted()
	if err != nil || len(encrypted) == 0 {
		return err
	}
	for i := range b.files.len {
		x := b.files.at(i)
		if x.flags&flagNoForm == 0 && b.anyKey(x, encrypted) {
			x.flags |= flagEncrypted
		}
	}
	return nil
}

// anyKey tells whether one of the encoded files of x is in a set.
func (b *builder) anyKey(x *buildFile, set map[casc.ShortKey]struct{}) bool {
	size := 0
	switch {
	case x.flags&flagForms != 0:
		size = casc.ShortKeySize
	case x.flags&flagSpans != 0:
		size = spanSize
	default:
		_, in := set[x.key.Short()]
		return in
	}
	at := binary.LittleEndian.Uint32(x.key[:])
	n := int(b.further[at])
	for i := range n {
		if _, in := set[casc.ShortKey(b.further[int(at)+1+i*size:])]; in {
			return true
		}
	}
	return false
}
