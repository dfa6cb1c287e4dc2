package casc

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

// group is one table of the entries of all indexes of a mirror, so that a search takes one
// step. It is stored as it is in memory, with big-endian numbers:
//
//	records:4 archives:4 indexes:4
//	( ekey:9 archive:3 size:4 off:4 )×records   in order
//	( name:16 )×archives  ( name:16 )×indexes
//
// A file in several archives has a record for each.
type group struct {
	records           []byte
	archives, indexes []keys.Key
}

const (
	// groupKind must change whenever the meaning of a group changes.
	groupKind   = "casc archives 2"
	groupHead   = 3 * 4
	groupRecord = keys.ShortSize + 3 + 4 + 4
	// maxGroup bounds the records, and maxGroupArchives the archives.
	maxGroup         = 1 << 26
	maxGroupArchives = 1 << 24
)

// groupEntry is an index's entry for a file.
type groupEntry struct {
	key       keys.Short
	archive   int
	off, size int64
}

// entry reads record i.
func (g *group) entry(i int) groupEntry {
	b := g.records[i*groupRecord:][:groupRecord]
	return groupEntry{
		key: keys.Short(b), archive: int(b[9])<<16 | int(b[10])<<8 | int(b[11]),
		size: int64(binary.BigEndian.Uint32(b[12:])), off: int64(binary.BigEndian.Uint32(b[16:])),
	}
}

func (g *group) len() int { return len(g.records) / groupRecord }

// find yields the numbers of the records of a key.
func (g *group) find(key keys.Short) iter.Seq[int] {
	at := sort.Search(g.len(), func(i int) bool {
		return bytes.Compare(g.records[i*groupRecord:][:keys.ShortSize], key[:]) >= 0
	})
	return func(yield func(int) bool) {
		for i := at; i < g.len() && bytes.Equal(g.records[i*groupRecord:][:keys.ShortSize], key[:]); i++ {
			if !yield(i) {
				return
			}
		}
	}
}

type groupBuilder struct {
	group
	numbers map[keys.Key]int // of archives
	// byFirst are the records by the first byte of their keys, so that each part can be
	// sorted and freed in turn. count is their number.
	byFirst [1 << 8][][groupRecord]byte
	count   int
}

func newGroupBuilder() *groupBuilder { return &groupBuilder{numbers: map[keys.Key]int{}} }

var errGroupFull = fmt.Errorf("more than %d files or %d archives", maxGroup, maxGroupArchives)

// add adds an index with its name. If it is the index of a group, archives are the group's.
func (b *groupBuilder) add(name keys.Key, x *ArchiveIndex, archives []keys.Key) error {
	if b.count+x.Len() > maxGroup {
		return errGroupFull
	}
	if x.OffsetBytes != groupOffsetBytes {
		archives = []keys.Key{name}
	}
	numbers := make([]int, len(archives))
	for i, a := range archives {
		n, ok := b.numbers[a]
		if !ok {
			n = len(b.archives)
			b.numbers[a] = n
			b.archives = append(b.archives, a)
		}
		numbers[i] = n
	}
	if len(b.archives) > maxGroupArchives {
		return errGroupFull
	}
	b.indexes = append(b.indexes, name)
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

// finish sorts the records and puts the table into the frame of a cached file.
func (b *groupBuilder) finish(id cache.ID) (sealed []byte) {
	data := id.Begin(groupHead + b.count*groupRecord + (len(b.archives)+len(b.indexes))*len(keys.Key{}))
	for _, n := range [...]int{b.count, len(b.archives), len(b.indexes)} {
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
	for _, list := range [][]keys.Key{b.archives, b.indexes} {
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

// parseGroup reads what finish made, and checks everything that reading it relies on. It
// keeps data.
func parseGroup(data []byte) (*group, error) {
	c := cursor.New(data)
	n := [...]int64{int64(c.BE32()), int64(c.BE32()), int64(c.BE32())}
	if err := c.Err(); err != nil {
		return nil, err
	}
	if want := int64(groupHead) + n[0]*groupRecord + (n[1]+n[2])*int64(len(keys.Key{})); want != int64(len(data)) {
		return nil, fmt.Errorf("%d bytes, stated are %d", len(data), want)
	}
	g := &group{}
	g.records = data[groupHead:][:n[0]*groupRecord]
	names := data[groupHead+len(g.records):]
	for i := range n[1] + n[2] {
		name := keys.Key(names[i*int64(len(keys.Key{})):])
		if i < n[1] {
			g.archives = append(g.archives, name)
		} else {
			g.indexes = append(g.indexes, name)
		}
	}
	for i := range g.len() {
		switch r := g.records[i*groupRecord:]; {
		case g.entry(i).archive >= len(g.archives):
			return nil, fmt.Errorf("record %d is of archive %d of %d", i, g.entry(i).archive, len(g.archives))
		case i > 0 && bytes.Compare(g.records[(i-1)*groupRecord:][:keys.ShortSize], r[:keys.ShortSize]) > 0:
			return nil, fmt.Errorf("record %d is not behind the one before it", i)
		}
	}
	return g, nil
}
