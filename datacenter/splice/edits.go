package splice

import (
	"cmp"
	"encoding/binary"
	"slices"

	"lorefs/datacenter/internal/form"
	"lorefs/datacenter/internal/streamedit"
)

// editList collects edits of the inflated data, in any order. Those at one offset keep their order.
type editList struct{ edits []streamedit.Edit }

// replace replaces n bytes at off. What is both replaced and inserted is one edit.
func (l *editList) replace(off, n int64, by []byte) {
	l.edits = append(l.edits, streamedit.Edit{Off: off, Len: n, New: by})
}

func (l *editList) u32(off int64, v uint32) { l.replace(off, 4, appendU32(nil, v)) }

func appendU32(b []byte, v uint32) []byte { return binary.LittleEndian.AppendUint32(b, v) }

// sorted returns the edits in the order of their offsets. Those that touch become one.
func (l *editList) sorted() []streamedit.Edit {
	// Of two edits at one offset the first one only inserts.
	slices.SortStableFunc(l.edits, func(x, y streamedit.Edit) int {
		return cmp.Or(cmp.Compare(x.Off, y.Off), cmp.Compare(min(x.Len, 1), min(y.Len, 1)))
	})
	var merged []streamedit.Edit
	for _, e := range l.edits {
		if n := len(merged) - 1; n >= 0 && merged[n].Off+merged[n].Len == e.Off {
			merged[n].Len += e.Len
			merged[n].New = append(merged[n].New, e.New...)
			continue
		}
		e.New = slices.Clip(e.New)
		merged = append(merged, e)
	}
	return merged
}

// overwrite adds the edits that make the elements of size bytes at off those of is. Elements that
// stay are left out, with their undefined bytes; same says which do.
func (l *editList) overwrite(f *form.File, off int64, is []byte, size int, same func(was, is []byte) bool) error {
	was, err := f.Straddle(off, make([]byte, len(is)))
	if err != nil {
		return err
	}
	for i := 0; i < len(is); i += size {
		if p, q := was[i:i+size], is[i:i+size]; !same(p, q) {
			l.replace(off+int64(i), int64(size), q)
		}
	}
	return nil
}
