package casctree

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"slices"

	"lorefs/casc/encoding"
	"lorefs/casc/keys"
)

// keyed is the beginning of a content key and the file that has it.
type keyed struct {
	prefix uint64
	file   uint32
}

// join looks up all content keys in the encoding file, by running through both in order. A
// page that can't be read is a fault, and affects no other page.
func (b *builder) join(ctx context.Context, enc *encoding.File) error {
	keys := b.contentKeys()
	for _, pages := range enc.PageRanges(wantedPages(keys, enc)) {
		if err := ctx.Err(); err != nil {
			return err
		}
		for row, err := range enc.ContentRows(ctx, pages[0], pages[1]) {
			if err := ctx.Err(); err != nil {
				return err
			}
			if b.remote && err != nil {
				return err
			}
			if err != nil {
				b.losePages(keys, enc, pages, err)
				break
			}
			if keys, err = b.joinRow(keys, row); err != nil {
				return err
			}
		}
	}
	for i := range b.files.len {
		if x := b.files.at(i); x.state&stateKeyed == 0 {
			x.state |= stateKeyed
			x.flags |= flagNoForm // key distinguishes files of one name
		}
	}
	if !b.remote {
		b.markEncrypted(ctx, enc)
	}
	return ctx.Err()
}

// wantedPages returns a function, to be called for each page in order, that tells which pages
// may have some of the keys.
func wantedPages(keys []keyed, enc *encoding.File) func(page int) bool {
	return func(page int) bool {
		from, to, last := enc.ContentRange(page)
		first, end := binary.BigEndian.Uint64(from[:]), binary.BigEndian.Uint64(to[:])
		for len(keys) > 0 && keys[0].prefix < first {
			keys = keys[1:]
		}
		return len(keys) > 0 && (last || keys[0].prefix <= end)
	}
}

// joinRow finds the files with the content of a row. It returns those whose keys come
// later.
func (b *builder) joinRow(keys []keyed, row encoding.ContentRow) ([]keyed, error) {
	ckey := row.CKey()
	prefix := binary.BigEndian.Uint64(ckey[:])
	for len(keys) > 0 && keys[0].prefix < prefix {
		keys = keys[1:]
	}
	for i := 0; i < len(keys) && keys[i].prefix == prefix; i++ {
		if x := b.files.at(int(keys[i].file)); x.state&stateKeyed == 0 && x.key == ckey {
			if err := b.setForms(x, row); err != nil {
				return nil, err
			}
		}
	}
	return keys, nil
}

// losePages marks the files that only pages can have of which one is unreadable.
func (b *builder) losePages(keys []keyed, enc *encoding.File, run [2]int, err error) {
	b.addFault(fmt.Errorf("%w: its files are listed, and can't be read", err))
	from, _, _ := enc.ContentRange(run[0])
	_, to, last := enc.ContentRange(run[1] - 1)
	for _, k := range keys {
		x := b.files.at(int(k.file))
		if !last && k.prefix > binary.BigEndian.Uint64(to[:]) {
			return
		}
		if x.state&stateKeyed == 0 && x.key.Compare(from) >= 0 && (last || x.key.Compare(to) < 0) {
			x.state |= stateKeyed
			b.setFault(x, err)
		}
	}
}

// contentKeys returns the content keys of all files, sorted.
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

// setForms sets the place of a file from the encoding file.
func (b *builder) setForms(x *buildFile, row encoding.ContentRow) error {
	x.state |= stateKeyed
	putBE40(x.size[:], row.Size())
	if row.Forms() == 1 {
		ekey := row.EKey(0)
		x.key = keys.Key{}
		copy(x.key[:keys.ShortSize], ekey[:])
		return nil
	}
	x.flags |= flagForms
	more := make([]byte, 0, row.Forms()*keys.ShortSize)
	for i := range row.Forms() {
		ekey := row.EKey(i)
		more = append(more, ekey[:keys.ShortSize]...)
	}
	return b.refer(x, row.Forms(), more)
}

// markEncrypted marks files that may be encrypted. Another run may know other keys, so
// whether the keys are known is not noted.
func (b *builder) markEncrypted(ctx context.Context, enc *encoding.File) {
	encrypted, faults := enc.Encrypted(ctx)
	for _, err := range faults {
		b.addFault(err)
	}
	if encrypted.IsEmpty() {
		return
	}
	for i := range b.files.len {
		x := b.files.at(i)
		if x.flags&(flagNoForm|flagFault) == 0 && b.anyKey(x, encrypted) {
			x.flags |= flagEncrypted
		}
	}
}

// anyKey reports whether one of the encoded files of x is in a set.
func (b *builder) anyKey(x *buildFile, set *encoding.KeySet) bool {
	size := 0
	switch {
	case x.flags&flagForms != 0:
		size = keys.ShortSize
	case x.flags&flagSpans != 0:
		size = spanSize
	default:
		return set.Has(x.key.Short())
	}
	at := binary.LittleEndian.Uint32(x.key[:])
	n := int(b.further[at])
	for i := range n {
		if set.Has(keys.Short(b.further[int(at)+1+i*size:])) {
			return true
		}
	}
	return false
}
