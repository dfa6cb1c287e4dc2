package index

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"iter"
	"slices"
	"sort"

	"lorefs/casc/keys"
	"lorefs/internal/cache"
	"lorefs/internal/cursor"
)

// Group is one table of the entries of all indexes of a mirror, so that a search takes one
// step. It is stored as it is in memory, with big-endian numbers:
//
//	records:4 archives:4 indexes:4
//	( ekey:9 archive:3 size:4 off:4 )×records   in order
//	( name:16 )×archives  ( name:16 )×indexes
//
// A file in several archives has a record for each.
type Group struct {
	records           []byte
	Archives, Indexes []keys.Key
}

const (
	// GroupKind must change whenever the meaning of a group changes.
	GroupKind   = "casc archives 2"
	groupHead   = 3 * 4
	groupRecord = keys.ShortSize + 3 + 4 + 4
	// maxGroup bounds the records, and maxGroupArchives the archives.
	maxGroup         = 1 << 26
	maxGroupArchives = 1 << 24
)

// GroupEntry is an index's entry for a file.
type GroupEntry struct {
	Key       keys.Short
	Archive   int
	Off, Size int64
}

// Entry reads record i.
func (g *Group) Entry(i int) GroupEntry {
	b := g.records[i*groupRecord:][:groupRecord]
	return GroupEntry{
		Key: keys.Short(b), Archive: int(b[9])<<16 | int(b[10])<<8 | int(b[11]),
		Size: int64(binary.BigEndian.Uint32(b[12:])), Off: int64(binary.BigEndian.Uint32(b[16:])),
	}
}

// Len returns the number of records.
func (g *Group) Len() int { return len(g.records) / groupRecord }

// Find yields the numbers of the records of a key.
func (g *Group) Find(key keys.Short) iter.Seq[int] {
	at := sort.Search(g.Len(), func(i int) bool {
		return bytes.Compare(g.records[i*groupRecord:][:keys.ShortSize], key[:]) >= 0
	})
	return func(yield func(int) bool) {
		for i := at; i < g.Len() && bytes.Equal(g.records[i*groupRecord:][:keys.ShortSize], key[:]); i++ {
			if !yield(i) {
				return
			}
		}
	}
}

// First returns the first record of a key.
func (g *Group) First(key []byte) (GroupEntry, bool) {
	if len(key) < keys.ShortSize {
		return GroupEntry{}, false
	}
	for i := range g.Find(keys.Short(key)) {
		return g.Entry(i), true
	}
	return GroupEntry{}, false
}

// GroupBuilder makes a Group of indexes.
type GroupBuilder struct {
	Group
	Numbers map[keys.Key]int // of archives
	// byFirst are the records by the first byte of their keys, so that each part can be
	// sorted and freed in turn. count is their number.
	byFirst [1 << 8][][groupRecord]byte
	count   int
}

// NewGroupBuilder returns a builder without entries.
func NewGroupBuilder() *GroupBuilder { return &GroupBuilder{Numbers: map[keys.Key]int{}} }

var errGroupFull = fmt.Errorf("more than %d files or %d archives", maxGroup, maxGroupArchives)

// Add adds an index with its name. If it is the index of a group, archives are the group's.
func (b *GroupBuilder) Add(name keys.Key, x *Archive, archives []keys.Key) error {
	if b.count+x.Len() > maxGroup {
		return errGroupFull
	}
	if x.OffsetBytes != GroupOffsetBytes {
		archives = []keys.Key{name}
	}
	numbers := make([]int, len(archives))
	for i, a := range archives {
		n, ok := b.Numbers[a]
		if !ok {
			n = len(b.Archives)
			b.Numbers[a] = n
			b.Archives = append(b.Archives, a)
		}
		numbers[i] = n
	}
	if len(b.Archives) > maxGroupArchives {
		return errGroupFull
	}
	b.Indexes = append(b.Indexes, name)
	beyond := 0
	for e := range x.Entries() {
		if e.Archive >= len(numbers) {
			beyond++
			continue
		}
		n := numbers[e.Archive]
		var r [groupRecord]byte
		copy(r[:keys.ShortSize], e.Key[:])
		r[9], r[10], r[11] = byte(n>>16), byte(n>>8), byte(n)
		binary.BigEndian.PutUint32(r[12:], uint32(e.Size))
		binary.BigEndian.PutUint32(r[16:], uint32(e.Off))
		b.byFirst[r[0]] = append(b.byFirst[r[0]], r)
		b.count++
	}
	if beyond > 0 {
		return archiveIndex.Bad(0, "%d files are in archives beyond the %d that the CDN configuration has", beyond, len(archives))
	}
	return nil
}

// Finish sorts the records and puts the table into the frame of a cached file.
func (b *GroupBuilder) Finish(id cache.ID) (sealed []byte) {
	data := id.Begin(groupHead + b.count*groupRecord + (len(b.Archives)+len(b.Indexes))*len(keys.Key{}))
	for _, n := range [...]int{b.count, len(b.Archives), len(b.Indexes)} {
		data = binary.BigEndian.AppendUint32(data, uint32(n))
	}
	first := len(data)
	for i, records := range b.byFirst {
		slices.SortFunc(records, compareRecords)
		for j := range records {
			data = append(data, records[j][:]...)
		}
		b.byFirst[i] = nil
	}
	b.records = data[first:]
	for _, list := range [][]keys.Key{b.Archives, b.Indexes} {
		for i := range list {
			data = append(data, list[i][:]...)
		}
	}
	return cache.Seal(data)
}

func compareRecords(a, b [groupRecord]byte) int {
	if x, y := binary.BigEndian.Uint64(a[:]), binary.BigEndian.Uint64(b[:]); x != y {
		return cmp.Compare(x, y)
	}
	return bytes.Compare(a[8:], b[8:])
}

// ParseGroup reads what finish made, and checks everything that reading it relies on. It
// keeps data.
func ParseGroup(data []byte) (*Group, error) {
	c := cursor.New(data)
	n := [...]int64{int64(c.BE32()), int64(c.BE32()), int64(c.BE32())}
	if err := c.Err(); err != nil {
		return nil, err
	}
	if want := int64(groupHead) + n[0]*groupRecord + (n[1]+n[2])*int64(len(keys.Key{})); want != int64(len(data)) {
		return nil, fmt.Errorf("%d bytes, stated are %d", len(data), want)
	}
	g := &Group{}
	g.records = data[groupHead:][:n[0]*groupRecord]
	names := data[groupHead+len(g.records):]
	for i := range n[1] + n[2] {
		name := keys.Key(names[i*int64(len(keys.Key{})):])
		if i < n[1] {
			g.Archives = append(g.Archives, name)
		} else {
			g.Indexes = append(g.Indexes, name)
		}
	}
	for i := range g.Len() {
		switch r := g.records[i*groupRecord:]; {
		case g.Entry(i).Archive >= len(g.Archives):
			return nil, fmt.Errorf("record %d is of archive %d of %d", i, g.Entry(i).Archive, len(g.Archives))
		case i > 0 && bytes.Compare(g.records[(i-1)*groupRecord:][:keys.ShortSize], r[:keys.ShortSize]) > 0:
			return nil, fmt.Errorf("record %d is not behind the one before it", i)
		}
	}
	return g, nil
}
