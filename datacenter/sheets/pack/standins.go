package pack

import (
	"encoding/binary"

	"lorefs/datacenter"
	"lorefs/datacenter/sheets/internal/intern"
	"lorefs/datacenter/sheets/internal/xmlsheet"
)

// A node's types and the place of its names are known only when all sheets have been read.
// Until then it has a stand-in. Equal start tags, texts and runs of children are kept once,
// so that the stand-ins of a real folder take far less memory than its sheets, and each is
// passed to the Builder once.

// standIns are what a surveyor has read.
type standIns struct {
	kinds []*kind // by number
	// tags are start tags, in groups by the number of their kind, as appendHead and
	// appendAttribute write them. uses has an entry for each.
	tags        intern.Table
	uses        []tagUse
	texts, runs intern.Table
}

// tagUse says how many nodes have a start tag, how many attributes it has, and whether one of
// the nodes has a text.
type tagUse struct {
	nodes      int64
	attributes int32
	text       bool
}

// record is a node in a run: the number of its start tag, and one more than those of its
// text and of the run of its children, or 0 if it has none.
type record struct{ tag, text, children uint32 }

const recordSize = 12

func (r record) append(dst []byte) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, r.tag)
	dst = binary.LittleEndian.AppendUint32(dst, r.text)
	return binary.LittleEndian.AppendUint32(dst, r.children)
}

func parseRecord(b []byte) record {
	le := binary.LittleEndian
	return record{le.Uint32(b), le.Uint32(b[4:]), le.Uint32(b[8:])}
}

// list numbers a new kind.
func (s *standIns) list(k *kind) *kind {
	k.number = uint32(len(s.kinds))
	s.kinds = append(s.kinds, k)
	return k
}

// countValues adds up how often the attributes of each kind occur.
func (s *standIns) countValues() {
	for i, use := range s.uses {
		k := s.kinds[s.tags.Group(uint32(i))]
		_, rest := parseHead(s.tags.At(uint32(i)))
		for len(rest) > 0 {
			var a tagAttribute
			a, rest = parseAttribute(rest)
			k.attrs[a.place].values += use.nodes
			if a.stated == 0 {
				k.attrs[a.place].untyped += use.nodes
			}
		}
	}
}

// pinTags pins the start tags that [storedSheets.forget] must leave: they are needed again for
// each node with a text, whose attributes include it, and for each with keys of its own.
func (s *standIns) pinTags() {
	for i, use := range s.uses {
		if use.text || hasOwnKeys(s.tags.At(uint32(i))) {
			s.tags.Pin(uint32(i))
		}
	}
}

// close frees what only reading needs, and counts how often the attributes of each kind
// occur.
func (s *standIns) close() {
	s.countValues()
	s.pinTags()
	s.uses = nil
	for _, t := range []*intern.Table{&s.tags, &s.texts, &s.runs} {
		t.Close()
	}
}

// tagHead is what a start tag says of the node itself.
type tagHead struct {
	flags datacenter.KeyFlags
	// keys is nil if they are those of the kind.
	keys datacenter.KeyDefinition
}

// ownKeys is set beside the flags if keys follow.
const ownKeys = 1 << 4

// appendHead appends what a start tag says of the node itself.
func appendHead(dst []byte, n *xmlsheet.Node) []byte {
	if !n.HasKeys {
		return append(dst, byte(n.Flags))
	}
	dst = append(dst, byte(n.Flags)|ownKeys, byte(len(n.Keys)))
	for _, key := range n.Keys {
		dst = binary.AppendUvarint(dst, uint64(len(key)))
		dst = append(dst, key...)
	}
	return dst
}

func hasOwnKeys(tag []byte) bool { return tag[0]&ownKeys != 0 }

// parseHead is the inverse of appendHead.
func parseHead(b []byte) (h tagHead, rest []byte) {
	h.flags, rest = datacenter.KeyFlags(b[0]&^ownKeys), b[1:]
	if !hasOwnKeys(b) {
		return h, rest
	}
	h.keys = make(datacenter.KeyDefinition, rest[0])
	rest = rest[1:]
	for i := range h.keys {
		var key []byte
		key, rest = parseBytes(rest)
		h.keys[i] = string(key)
	}
	return h, rest
}

// tagAttribute is an attribute of a start tag.
type tagAttribute struct {
	place  int             // among those of the kind
	stated datacenter.Type // 0 if the tag does not state it
	value  []byte
}

// typeBits is how many bits a stated type has.
const typeBits = 3

// appendAttribute appends an attribute, which has a place among those of the kind.
func appendAttribute(dst []byte, place int, a *xmlsheet.Attribute) []byte {
	dst = binary.AppendUvarint(dst, uint64(place)<<typeBits|uint64(a.Type))
	dst = binary.AppendUvarint(dst, uint64(len(a.Value)))
	return append(dst, a.Value...)
}

// parseAttribute is the inverse of appendAttribute.
func parseAttribute(b []byte) (a tagAttribute, rest []byte) {
	v, n := binary.Uvarint(b)
	a.place, a.stated = int(v>>typeBits), datacenter.Type(v&(1<<typeBits-1))
	a.value, rest = parseBytes(b[n:])
	return a, rest
}

// parseBytes parses bytes behind their number.
func parseBytes(b []byte) (s, rest []byte) {
	n, k := binary.Uvarint(b)
	return b[k : k+int(n)], b[k+int(n):]
}

// recentTags finds start tags that were read lately by their bytes, in groups by the number
// of their parent's kind. That is much faster than reading them again.
type recentTags struct {
	table intern.Table
	tags  []uint32 // the numbers of the stand-ins
	// recalled is the one that was found last.
	recalled uint32
}

// mostRecentTags is how many bytes of tags are kept. Then they are forgotten.
const mostRecentTags = 16 << 20

func (r *recentTags) find(group uint32, tag []byte) bool {
	n, ok := r.table.Find(group, tag)
	if ok {
		r.recalled = r.tags[n]
	}
	return ok
}

func (r *recentTags) add(group uint32, tag []byte, number uint32) {
	if len(tag) > mostRecentTags {
		return
	}
	if r.table.Size()+len(tag) > mostRecentTags {
		r.table.Reset()
		r.tags = r.tags[:0]
	}
	if _, isNew := r.table.Add(group, tag); isNew {
		r.tags = append(r.tags, number)
	}
}
