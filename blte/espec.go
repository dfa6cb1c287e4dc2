package blte

import (
	"iter"
	"strconv"
	"strings"
)

// Spec is an ESpec: the text in the encoding file that says how a file was encoded.
//
//	n                          plain
//	z[:LEVEL | :{…}]           zlib; in braces LEVEL, a variant, window bits
//	b:{SIZE=spec,…}            chunks; SIZE is BYTES, 16K or 1M, then *COUNT or *
//	b:SIZE=spec, b:spec        one kind of chunk
//	e:{NAME,IV,spec}           encrypted, both in hex
//	c[:{…}], g[:{…}]           BCPack and GDeflate
//
// It keeps the text of every part, so that String returns what was parsed.
type Spec struct {
	// Mode is one of n, z, b, e, c and g.
	Mode byte
	// Args are the arguments of z, c and g, such as "9" or "mpq".
	Args []string
	// Braces is set if Args, or the one element of Blocks, stand in braces.
	Braces bool
	// Blocks are the chunks of b.
	Blocks []SpecBlock
	// KeyText and IVText are the arguments of e, and Inner is what it encrypts.
	KeyText, IVText string
	Inner           *Spec
}

// SpecBlock is a number of equal chunks.
type SpecBlock struct {
	// Size is the decoded size of a chunk in units, or -1 if none is given.
	Size int64
	// Unit is K, M, or 0 for bytes.
	Unit byte
	// Many is set if there is a *: there are Count such chunks, or as many as the file
	// needs if Count is -1.
	Many  bool
	Count int64
	Spec  *Spec
}

// Bytes returns the decoded size of a chunk, or -1 if none is given.
func (b *SpecBlock) Bytes() int64 {
	switch {
	case b.Size < 0:
		return -1
	case b.Unit == 'K':
		return b.Size << 10
	case b.Unit == 'M':
		return b.Size << 20
	}
	return b.Size
}

// KeyName returns the name of e's key, as key lists print it.
func (s *Spec) KeyName() KeyName {
	name, _ := parseKeyName(s.KeyText, true)
	return name
}

// KeyNames yields the names of all keys that the file needs, some more than once.
func (s *Spec) KeyNames() iter.Seq[KeyName] {
	return func(yield func(KeyName) bool) { s.eachKey(yield) }
}

func (s *Spec) eachKey(yield func(KeyName) bool) bool {
	if s.Mode == 'e' && !yield(s.KeyName()) {
		return false
	}
	if s.Inner != nil && !s.Inner.eachKey(yield) {
		return false
	}
	for i := range s.Blocks {
		if !s.Blocks[i].Spec.eachKey(yield) {
			return false
		}
	}
	return true
}

// String writes the spec as it was parsed.
func (s *Spec) String() string { return string(s.append(nil)) }

func (s *Spec) append(b []byte) []byte {
	b = append(b, s.Mode)
	switch {
	case s.Mode == 'b':
		return s.appendBlocks(b)
	case s.Mode == 'e':
		b = append(b, ":{"+s.KeyText+","+s.IVText+","...)
		return append(s.Inner.append(b), '}')
	case s.Braces:
		return append(b, ":{"+strings.Join(s.Args, ",")+"}"...)
	case len(s.Args) > 0:
		return append(b, ":"+s.Args[0]...)
	}
	return b
}

func (s *Spec) appendBlocks(b []byte) []byte {
	b = append(b, ':')
	if s.Braces {
		b = append(b, '{')
	}
	for i := range s.Blocks {
		if i > 0 {
			b = append(b, ',')
		}
		b = s.Blocks[i].append(b)
	}
	if s.Braces {
		b = append(b, '}')
	}
	return b
}

func (b *SpecBlock) append(dst []byte) []byte {
	if b.Size < 0 && !b.Many {
		return b.Spec.append(dst)
	}
	if b.Size >= 0 {
		dst = strconv.AppendInt(dst, b.Size, 10)
	}
	if b.Unit != 0 {
		dst = append(dst, b.Unit)
	}
	if b.Many {
		dst = append(dst, '*')
		if b.Count >= 0 {
			dst = strconv.AppendInt(dst, b.Count, 10)
		}
	}
	return b.Spec.append(append(dst, '='))
}
