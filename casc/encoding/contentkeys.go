package encoding

import (
	"bytes"
	"context"
	"slices"
	"sort"

	"lorefs/casc/keys"
)

// ContentKeys are content keys of encoded files, sorted by encoding key.
type ContentKeys []contentKey

type contentKey struct {
	ekey keys.Short
	ckey keys.Key
}

// ContentKeys returns the content keys of the encoded files that want accepts. It leaves
// out pages that can't be read, and returns the first such error too.
func (e *File) ContentKeys(ctx context.Context, want func(ekey keys.Key) bool) (keys ContentKeys, first error) {
	for page := range e.ContentPages() {
		for row, err := range e.ContentRows(ctx, page, page+1) {
			if err != nil {
				if first == nil {
					first = err
				}
				break
			}
			for i := range row.Forms() {
				if ekey := row.EKey(i); want(ekey) {
					keys = append(keys, contentKey{ekey.Short(), row.CKey()})
				}
			}
		}
	}
	slices.SortFunc(keys, func(a, b contentKey) int { return bytes.Compare(a.ekey[:], b.ekey[:]) })
	return keys, first
}

// Find looks for the file whose encoding key begins with key.
func (k ContentKeys) Find(key []byte) (keys.Key, bool) {
	short := keys.Short(key)
	i := sort.Search(len(k), func(i int) bool { return bytes.Compare(k[i].ekey[:], short[:]) >= 0 })
	if i == len(k) || k[i].ekey != short {
		return keys.Key{}, false
	}
	return k[i].ckey, true
}
