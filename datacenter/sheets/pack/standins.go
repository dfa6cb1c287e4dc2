package pack

import (
	"encoding/binary"
	"slices"

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
	// tags are start tags, in groups by the number of their kind, as appendHead and tagAttribute.append
	// write them. uses has an entry for each. Few of them are equal, because the surveyor remembers
	// those that it read lately.
	tags intern.Table
	uses []tagUse
	// texts are texts, and values that are strings or whose types are not known yet.
	texts intern.Table
	runs  intern.Table
	sizes []size // of runs
}

// size is how many nodes and attributes are in a run and below it. Since they come from one file, there
// are not more of them than it has bytes.
type size struct{ nodes, attributes uint32 }

func (s *size) add(t size) {
	s.nodes += t.nodes
	s.attributes += t.attributes
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

// sizeOf returns the size of a node and all below it.
func (s *standIns) sizeOf(n record) size {
	all := size{nodes: 1, attributes: uint32(s.uses[n.tag].attributes)}
	if n.text > 0 {
		all.attributes++
	}
	if n.children > 0 {
		all.add(s.sizes[n.children-1])
	}
	return all
}

// measure adds the size of a new run.
func (s *standIns) measure(run []byte) {
	var all size
	for ; len(run) > 0; run = run[recordSize:] {
		all.add(s.sizeOf(parseRecord(run)))
	}
	s.sizes = append(s.sizes, all)
}

// countNodes adds up how many nodes have each start tag and are of each kind, and how many of them
// each parent has. A node is in a run as often as the run's parents are in others.
func (s *standIns) countNodes(found []sheetFound) {
	runs := make([]int64, s.runs.Len())
	count := func(n record, times int64) *kind {
		k := s.kinds[s.tags.Group(n.tag)]
		k.nodes += times
		s.uses[n.tag].nodes += times
		s.uses[n.tag].text = s.uses[n.tag].text || n.text > 0
		if n.children > 0 {
			runs[n.children-1] += times
		}
		return k
	}
	for i := range found {
		if found[i].read == s {
			count(found[i].root, 1)
		}
	}
	for i, times := range slices.Backward(runs) { // a run has a higher number than those below it
		for run := s.runs.At(uint32(i)); len(run) > 0; run = run[recordSize:] {
			count(parseRecord(run), times).meet(i+1, times)
		}
	}
}

// countValues adds up how often the attributes of each kind occur.
func (s *standIns) countValues() {
	for i, use := range s.uses {
		k := s.kinds[s.tags.Group(uint32(i))]
		_, rest := parseHead(s.tags.At(uint32(i)))
		for ; len(rest) > 0; rest = rest[attributeSize:] {
			a := parseAttribute(rest)
			k.attrs[a.place].values += use.nodes
			if !a.stated {
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

// close frees what only reading needs, and counts how often all occurs in the files of s among found.
func (s *standIns) close(found []sheetFound) {
	s.countNodes(found)
	s.countValues()
	s.pinTags()
	s.uses, s.sizes = nil, nil
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
	place uint16          // among those of the kind
	typ   datacenter.Type // 0 if it is not known yet
	// stated is set if the tag states the type. spelled is set if bits is the number of a text, from
	// which the value is to be read.
	stated, spelled bool
	bits            uint32
}

const (
	attributeSize = 8
	typeMask      = 1<<3 - 1
	statedFlag    = 1 << 3
	spelledFlag   = 1 << 4
)

func (a tagAttribute) append(dst []byte) []byte {
	flags := byte(a.typ)
	if a.stated {
		flags |= statedFlag
	}
	if a.spelled {
		flags |= spelledFlag
	}
	dst = append(binary.LittleEndian.AppendUint16(dst, a.place), flags, 0)
	return binary.LittleEndian.AppendUint32(dst, a.bits)
}

// parseAttribute is the inverse of tagAttribute.append.
func parseAttribute(b []byte) tagAttribute {
	_ = b[attributeSize-1]
	return tagAttribute{
		place: binary.LittleEndian.Uint16(b), typ: datacenter.Type(b[2] & typeMask),
		stated: b[2]&statedFlag != 0, spelled: b[2]&spelledFlag != 0, bits: binary.LittleEndian.Uint32(b[4:]),
	}
}

// parseBytes parses bytes behind their number.
func parseBytes(b []byte) (s, rest []byte) {
	n, k := binary.Uvarint(b)
	return b[k : k+int(n)], b[k+int(n):]
}
