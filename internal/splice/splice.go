// Package splice edits data inside a deflate stream. It keeps the bits of all deflate blocks
// that an edit does not reach.
package splice

// Edit replaces Len bytes at Off of the inflated data by New. In a list, edits are sorted by
// Off and do not overlap. Len may be 0, which inserts New before the byte at Off. New may be
// empty, which removes bytes. Off may be the end of the data. Of two edits at one Off, the
// first one must be an insertion, and comes first.
type Edit struct {
	Off, Len int64
	New      []byte
}
