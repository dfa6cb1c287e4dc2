package splice

import (
	"bytes"
	"cmp"
	"slices"

	"lorefs/datacenter/internal/form"
	"lorefs/internal/wtf8"
)

// splicedValues finds strings in the table of values of a file, and adds new ones.
type splicedValues struct {
	f     *form.File
	table form.StringTable
	data  grownRegion
	// found has the attributes that refer to the strings that were asked for.
	found map[string]form.Attribute
	// Buckets has the entries of the buckets that were read.
	buckets map[uint32][]form.StringEntry
	// added has the entries of new strings by bucket, and addresses their addresses in the order of
	// their indexes. texts has their units.
	added     map[uint32][]form.StringEntry
	addresses []form.Address
	texts     map[form.Address][]byte
}

func newSplicedValues(f *form.File) splicedValues {
	t := f.Regions.Values
	return splicedValues{
		f: f, table: t, data: newGrownRegion(t.Data, form.CharSize),
		found: map[string]form.Attribute{}, buckets: map[uint32][]form.StringEntry{},
		added: map[uint32][]form.StringEntry{}, texts: map[form.Address][]byte{},
	}
}

// attribute returns an attribute, without a name, that refers to a text.
func (v *splicedValues) attribute(text string) (form.Attribute, error) {
	if a, ok := v.found[text]; ok {
		return a, nil
	}
	units := wtf8.AppendUTF16(nil, text)
	hash, ofValue, err := form.HashUnits(units)
	if err != nil {
		return form.Attribute{}, err
	}
	addr, ok, err := v.find(hash, units)
	if err == nil && !ok {
		addr, err = v.add(hash, units)
	}
	if err != nil {
		return form.Attribute{}, err
	}
	a := form.StringAttribute(addr, ofValue)
	v.found[text] = a
	return a, nil
}

// bucket returns the number of the bucket for a hash.
func (v *splicedValues) bucket(hash uint32) uint32 {
	return (hash ^ hash>>16) % uint32(len(v.table.Buckets))
}

// maxSameHash is the largest number of strings with one hash that are compared to find one. Of the
// strings of a game two have the same hash here and there.
const maxSameHash = 16

// find finds a string of the file.
func (v *splicedValues) find(hash uint32, units []byte) (form.Address, bool, error) {
	entries, err := v.entries(v.bucket(hash))
	if err != nil {
		return form.Address{}, false, err
	}
	first, _ := slices.BinarySearchFunc(entries, form.StringEntry{Hash: hash}, byHash)
	for i, e := range entries[first:] {
		if e.Hash != hash {
			break
		}
		if i == maxSameHash {
			return form.Address{}, false, whole("more than %d strings have one hash", maxSameHash)
		}
		there, err := v.f.StringUnits(v.table.Data, e.Addr)
		if err != nil {
			return form.Address{}, false, err
		}
		if bytes.Equal(there, units) {
			return e.Addr, true, nil
		}
	}
	return form.Address{}, false, nil
}

// entries returns the entries of a bucket of the file.
func (v *splicedValues) entries(bucket uint32) ([]form.StringEntry, error) {
	if entries, ok := v.buckets[bucket]; ok {
		return entries, nil
	}
	s := v.table.Buckets[bucket]
	b, err := v.f.Straddle(s.Off, make([]byte, int64(s.Count)*form.StringSize))
	if err != nil {
		return nil, err
	}
	entries := make([]form.StringEntry, 0, s.Count)
	for ; len(b) > 0; b = b[form.StringSize:] {
		entries = append(entries, form.ParseStringEntry(b))
	}
	if !slices.IsSortedFunc(entries, byHash) {
		return nil, whole("the strings of table %d are not in order", bucket)
	}
	v.buckets[bucket] = entries
	return entries, nil
}

func byHash(x, y form.StringEntry) int { return cmp.Compare(x.Hash, y.Hash) }

// add adds a string that the file lacks.
func (v *splicedValues) add(hash uint32, units []byte) (form.Address, error) {
	if len(units)/form.CharSize >= form.MaxString {
		return form.Address{}, whole("a string of %d characters", len(units)/form.CharSize)
	}
	stored := append(slices.Clone(units), 0, 0)
	if open, err := v.isOpen(); err != nil {
		return form.Address{}, err
	} else if open {
		if _, err := v.data.place([]byte{0, 0}); err != nil {
			return form.Address{}, err
		}
	}
	addr, err := v.data.place(stored)
	if err != nil {
		return form.Address{}, err
	}
	v.addresses = append(v.addresses, addr)
	b := v.bucket(hash)
	v.added[b] = append(v.added[b], form.StringEntry{
		Hash: hash, Length: uint32(len(stored) / form.CharSize), Index: v.table.Addrs.Count + uint32(len(v.addresses)), Addr: addr,
	})
	v.texts[addr] = units
	return addr, nil
}

// isOpen reports whether the last string of the file ends at its segment's end, without a NUL. What
// is added would become a part of it.
func (v *splicedValues) isOpen() (bool, error) {
	n := len(v.table.Data)
	if n == 0 || len(v.addresses) > 0 || v.table.Data[n-1].Used == 0 || v.table.Data[n-1].Used >= form.MaxElements {
		return false, nil
	}
	s := v.table.Data[n-1]
	var scratch [form.CharSize]byte
	b, err := v.f.View(s.Off+int64(s.Used-1)*form.CharSize, form.CharSize, scratch[:])
	return err == nil && b[0]|b[1] != 0, err
}

// units returns the text of a string of the file, or of a new one.
func (v *splicedValues) units(addr form.Address) ([]byte, error) {
	if units, ok := v.texts[addr]; ok {
		return units, nil
	}
	return v.f.StringUnits(v.table.Data, addr)
}

// edits adds the edits of the table. count is the offset of the number of its segments of characters.
func (v *splicedValues) edits(l *editList, count int64) {
	v.data.edits(l, count)
	for b, added := range v.added {
		s := v.table.Buckets[b]
		l.u32(s.Off-4, s.Count+uint32(len(added)))
		slices.SortStableFunc(added, byHash)
		for _, e := range added {
			// Behind equal hashes, so that those are in the order of their indexes.
			i, _ := slices.BinarySearchFunc(v.buckets[b], e.Hash, func(x form.StringEntry, hash uint32) int {
				if x.Hash <= hash {
					return -1
				}
				return 1
			})
			l.replace(s.Off+int64(i)*form.StringSize, 0, e.Append(nil))
		}
	}
	if len(v.addresses) == 0 {
		return
	}
	t := v.table.Addrs
	l.u32(t.Off-4, t.Count+uint32(len(v.addresses))+1)
	var b []byte
	for _, addr := range v.addresses {
		b = addr.Append(b)
	}
	l.replace(t.Off+int64(t.Count)*form.AddressSize, 0, b)
}

// grown returns the place of the table if its region of characters begins at off, and the offset
// behind it.
func (v *splicedValues) grown(off int64) (form.StringTable, int64) {
	t := form.StringTable{Addrs: form.Span{Count: v.table.Addrs.Count + uint32(len(v.addresses))}}
	for i, s := range v.table.Buckets {
		t.Buckets = append(t.Buckets, form.Span{Count: s.Count + uint32(len(v.added[uint32(i)]))})
	}
	t.Data = v.data.counts
	return placeTable(t, off)
}

// placeTable returns the place of the parts of a table that begins at off, and the offset behind it.
func placeTable(t form.StringTable, off int64) (form.StringTable, int64) {
	t.Data, off = placeSegments(t.Data, off, form.CharSize)
	t.Buckets = slices.Clone(t.Buckets)
	for i := range t.Buckets {
		t.Buckets[i].Off = off + 4
		off += 4 + int64(t.Buckets[i].Count)*form.StringSize
	}
	t.Addrs.Off = off + 4
	return t, off + 4 + int64(t.Addrs.Count)*form.AddressSize
}
