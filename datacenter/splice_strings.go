package datacenter

import (
	"bytes"
	"cmp"
	"slices"

	"lorefs/internal/wtf8"
)

// splicedValues finds strings in the table of values of a file, and adds new ones.
type splicedValues struct {
	f     *File
	table stringTable
	data  grownRegion
	// found has the attributes that refer to the strings that were asked for.
	found map[string]StoredAttribute
	// buckets has the entries of the buckets that were read.
	buckets map[uint32][]stringEntry
	// added has the entries of new strings by bucket, and addresses their addresses in the order of
	// their indexes. texts has their units.
	added     map[uint32][]stringEntry
	addresses []Address
	texts     map[Address][]byte
}

func newSplicedValues(f *File) splicedValues {
	t := f.regions.values
	return splicedValues{
		f: f, table: t, data: newGrownRegion(t.data, charSize),
		found: map[string]StoredAttribute{}, buckets: map[uint32][]stringEntry{},
		added: map[uint32][]stringEntry{}, texts: map[Address][]byte{},
	}
}

// attribute returns an attribute, without a name, that refers to a text.
func (v *splicedValues) attribute(text string) (StoredAttribute, error) {
	if a, ok := v.found[text]; ok {
		return a, nil
	}
	units := wtf8.AppendUTF16(nil, text)
	hashes, err := hashUnits(units)
	if err != nil {
		return StoredAttribute{}, err
	}
	addr, ok, err := v.find(hashes.hash, units)
	if err == nil && !ok {
		addr, err = v.add(hashes.hash, units)
	}
	if err != nil {
		return StoredAttribute{}, err
	}
	a := stringAttribute(addr, hashes.value)
	v.found[text] = a
	return a, nil
}

// bucket returns the number of the bucket for a hash.
func (v *splicedValues) bucket(hash uint32) uint32 {
	return (hash ^ hash>>16) % uint32(len(v.table.buckets))
}

// maxSameHash is the largest number of strings with one hash that are compared to find one. Of the
// strings of a game two have the same hash here and there.
const maxSameHash = 16

// find finds a string of the file.
func (v *splicedValues) find(hash uint32, units []byte) (Address, bool, error) {
	entries, err := v.entries(v.bucket(hash))
	if err != nil {
		return Address{}, false, err
	}
	first, _ := slices.BinarySearchFunc(entries, stringEntry{hash: hash}, byHash)
	for i, e := range entries[first:] {
		if e.hash != hash {
			break
		}
		if i == maxSameHash {
			return Address{}, false, whole("more than %d strings have one hash", maxSameHash)
		}
		there, err := v.f.stringUnits(v.table.data, e.addr)
		if err != nil {
			return Address{}, false, err
		}
		if bytes.Equal(there, units) {
			return e.addr, true, nil
		}
	}
	return Address{}, false, nil
}

// entries returns the entries of a bucket of the file.
func (v *splicedValues) entries(bucket uint32) ([]stringEntry, error) {
	if entries, ok := v.buckets[bucket]; ok {
		return entries, nil
	}
	s := v.table.buckets[bucket]
	b, err := v.f.straddle(s.off, make([]byte, int64(s.count)*stringSize))
	if err != nil {
		return nil, err
	}
	entries := make([]stringEntry, 0, s.count)
	for ; len(b) > 0; b = b[stringSize:] {
		entries = append(entries, parseStringEntry(b))
	}
	if !slices.IsSortedFunc(entries, byHash) {
		return nil, whole("the strings of table %d are not in order", bucket)
	}
	v.buckets[bucket] = entries
	return entries, nil
}

func byHash(x, y stringEntry) int { return cmp.Compare(x.hash, y.hash) }

// add adds a string that the file lacks.
func (v *splicedValues) add(hash uint32, units []byte) (Address, error) {
	if len(units)/charSize >= maxString {
		return Address{}, whole("a string of %d characters", len(units)/charSize)
	}
	stored := append(slices.Clone(units), 0, 0)
	if open, err := v.isOpen(); err != nil {
		return Address{}, err
	} else if open {
		if _, err := v.data.place([]byte{0, 0}); err != nil {
			return Address{}, err
		}
	}
	addr, err := v.data.place(stored)
	if err != nil {
		return Address{}, err
	}
	v.addresses = append(v.addresses, addr)
	b := v.bucket(hash)
	v.added[b] = append(v.added[b], stringEntry{
		hash: hash, length: uint32(len(stored) / charSize), index: v.table.addrs.count + uint32(len(v.addresses)), addr: addr,
	})
	v.texts[addr] = units
	return addr, nil
}

// isOpen reports whether the last string of the file ends at its segment's end, without a NUL. What
// is added would become a part of it.
func (v *splicedValues) isOpen() (bool, error) {
	n := len(v.table.data)
	if n == 0 || len(v.addresses) > 0 || v.table.data[n-1].used == 0 || v.table.data[n-1].used >= maxElements {
		return false, nil
	}
	s := v.table.data[n-1]
	var scratch [charSize]byte
	b, err := v.f.view(s.off+int64(s.used-1)*charSize, charSize, scratch[:])
	return err == nil && b[0]|b[1] != 0, err
}

// units returns the text of a string of the file, or of a new one.
func (v *splicedValues) units(addr Address) ([]byte, error) {
	if units, ok := v.texts[addr]; ok {
		return units, nil
	}
	return v.f.stringUnits(v.table.data, addr)
}

// edits adds the edits of the table. count is the offset of the number of its segments of characters.
func (v *splicedValues) edits(l *editList, count int64) {
	v.data.edits(l, count)
	for b, added := range v.added {
		s := v.table.buckets[b]
		l.u32(s.off-4, s.count+uint32(len(added)))
		slices.SortStableFunc(added, byHash)
		for _, e := range added {
			// Behind equal hashes, so that those are in the order of their indexes.
			i, _ := slices.BinarySearchFunc(v.buckets[b], e.hash, func(x stringEntry, hash uint32) int {
				if x.hash <= hash {
					return -1
				}
				return 1
			})
			l.replace(s.off+int64(i)*stringSize, 0, e.append(nil))
		}
	}
	if len(v.addresses) == 0 {
		return
	}
	t := v.table.addrs
	l.u32(t.off-4, t.count+uint32(len(v.addresses))+1)
	var b []byte
	for _, addr := range v.addresses {
		b = addr.append(b)
	}
	l.replace(t.off+int64(t.count)*addressSize, 0, b)
}

// grown returns the place of the table if its region of characters begins at off, and the offset
// behind it.
func (v *splicedValues) grown(off int64) (stringTable, int64) {
	t := stringTable{addrs: span{count: v.table.addrs.count + uint32(len(v.addresses))}}
	for i, s := range v.table.buckets {
		t.buckets = append(t.buckets, span{count: s.count + uint32(len(v.added[uint32(i)]))})
	}
	t.data = v.data.counts
	return placeTable(t, off)
}

// placeTable returns the place of the parts of a table that begins at off, and the offset behind it.
func placeTable(t stringTable, off int64) (stringTable, int64) {
	t.data, off = placeSegments(t.data, off, charSize)
	t.buckets = slices.Clone(t.buckets)
	for i := range t.buckets {
		t.buckets[i].off = off + 4
		off += 4 + int64(t.buckets[i].count)*stringSize
	}
	t.addrs.off = off + 4
	return t, off + 4 + int64(t.addrs.count)*addressSize
}
