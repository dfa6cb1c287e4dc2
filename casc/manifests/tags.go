package manifests

import (
	"iter"

	"lorefs/internal/cursor"
)

// TagType is the kind of a tag.
type TagType uint16

// The kinds of tags that are known.
const (
	TagPlatform     TagType = 1
	TagArchitecture TagType = 2
	TagLocale       TagType = 3
	TagRegion       TagType = 4
	TagCategory     TagType = 5
	TagAlternate    TagType = 0x4000
)

// Tag is a set of entries of an install or download manifest.
type Tag struct {
	Name string
	Type TagType
	// bits has a bit for each entry, the first one highest. Real files have bits set behind
	// the last entry too.
	bits    []byte
	entries int
}

// Has reports whether entry i has the tag.
func (t *Tag) Has(i int) bool {
	return i >= 0 && i < t.entries && t.bits[i/8]&(0x80>>(i%8)) != 0
}

// Entries yields the numbers of the entries with the tag.
func (t *Tag) Entries() iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := range t.entries {
			if t.Has(i) && !yield(i) {
				return
			}
		}
	}
}

// readTags reads n tags for a number of entries.
func readTags(c *cursor.Cursor, n, entries int) []Tag {
	var tags []Tag
	for range n {
		t := Tag{Name: c.String(), Type: TagType(c.BE16()), bits: c.Bytes((entries + 7) / 8), entries: entries}
		if c.Err() != nil {
			break
		}
		tags = append(tags, t)
	}
	return tags
}
