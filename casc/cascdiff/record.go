package cascdiff

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"hash/fnv"
	"slices"
	"strings"

	"lorefs/casc/keys"
	"lorefs/casc/root"
)

// identity tells a file from others.
type identity [16]byte

// identityOf returns the number of a file, or a hash of its name.
func identityOf(f *root.File) (id identity) {
	switch {
	case f.HasID:
		id[0] = 1
		binary.BigEndian.PutUint32(id[12:], f.ID)
	case f.Name != "":
		id = digest([]byte(strings.ToLower(f.Name)))
		id[0] = 2
	case f.HasHash:
		id[0] = 3
		binary.BigEndian.PutUint64(id[8:], f.NameHash)
	default: // it can only be added or removed
		id = identity(contentOf(f))
		id[0] = 4
	}
	return id
}

// part returns the part of an identity among n parts, a power of two.
func (id identity) part(n uint32) uint32 {
	h := fnv.New32a()
	_, _ = h.Write(id[:]) // it never fails
	return h.Sum32() & (n - 1)
}

// record is a file of one of the roots. Keys that the root does not have are zero.
type record struct {
	id            identity
	content, code keys.Key
}

func recordOf(f *root.File) record {
	return record{identityOf(f), contentOf(f), codeOf(f)}
}

// contentOf returns what the content of a file is known by: its content key or, if it is put
// together, a hash of those of its parts.
func contentOf(f *root.File) keys.Key {
	if f.Err != nil {
		return keys.Key{}
	}
	if len(f.Spans) == 0 {
		return f.CKey
	}
	return keyOf(f.Spans, func(s *root.Span) []byte {
		if s.CKey.IsZero() {
			return nil
		}
		return s.CKey[:]
	})
}

// codeOf does the same by encoding keys, of which roots may have only the beginning.
func codeOf(f *root.File) keys.Key {
	if f.Err != nil || len(f.Spans) == 0 {
		return keys.Key{}
	}
	return keyOf(f.Spans, func(s *root.Span) []byte { return s.EKey[:keys.ShortSize] })
}

// Of returns the key of the only span, if that is a whole content, or a hash of all. It is
// zero if a span has no key.
func keyOf(spans []root.Span, key func(*root.Span) []byte) (k keys.Key) {
	if s := &spans[0]; len(spans) == 1 && s.Off == 0 && s.Size == s.ContentSize {
		copy(k[:], key(s))
		return k
	}
	var b []byte
	for i := range spans {
		s := &spans[i]
		part := key(s)
		if part == nil {
			return keys.Key{}
		}
		b = append(b, part...)
		b = binary.BigEndian.AppendUint64(b, uint64(s.Off))
		b = binary.BigEndian.AppendUint64(b, uint64(s.Size))
	}
	return digest(b)
}

func digest(b []byte) [16]byte {
	sum := sha256.Sum256(b)
	return [16]byte(sum[:16])
}

// sortRecords sorts records, and drops those that are there twice.
func sortRecords(r []record) []record {
	slices.SortFunc(r, func(a, b record) int {
		return cmp.Or(bytes.Compare(a.id[:], b.id[:]), a.content.Compare(b.content), a.code.Compare(b.code))
	})
	return slices.Compact(r)
}

// group returns the records of one file at the beginning of r.
func group(r []record) []record {
	n := 1
	for n < len(r) && r[n].id == r[0].id {
		n++
	}
	return r[:n]
}

// verdict says how the records of a file differ.
type verdict uint8

const (
	same verdict = iota
	changed
	// unsure means that only encoding keys could be compared, and differ.
	unsure
)

// compare compares the records of a file in both roots.
func compare(before, now []record) verdict {
	all := func(has func(record) bool) bool {
		lacks := func(r record) bool { return !has(r) }
		return !slices.ContainsFunc(before, lacks) && !slices.ContainsFunc(now, lacks)
	}
	if all(func(r record) bool { return !r.content.IsZero() }) {
		if slices.EqualFunc(before, now, func(a, b record) bool { return a.content == b.content }) {
			return same
		}
		return differ(before, now, func(r record) keys.Key { return r.content }, changed)
	}
	if all(func(r record) bool { return !r.code.IsZero() }) {
		return differ(before, now, func(r record) keys.Key { return r.code }, unsure)
	}
	return unsure
}

// differ returns v if the keys of the records differ, as sets.
func differ(before, now []record, key func(record) keys.Key, v verdict) verdict {
	within := func(a, b []record) bool {
		return !slices.ContainsFunc(a, func(x record) bool {
			return !slices.ContainsFunc(b, func(y record) bool { return key(x) == key(y) })
		})
	}
	if within(before, now) && within(now, before) {
		return same
	}
	return v
}
