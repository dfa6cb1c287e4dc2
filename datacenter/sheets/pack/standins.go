package pack

import (
	"encoding/binary"
	"slices"

	"lorefs/datacenter"
	"lorefs/datacenter/internal/form"
	"lorefs/datacenter/sheets/internal/intern"
	"lorefs/datacenter/sheets/internal/xmlsheet"
)

// A node's types and the place of its names are known only when all sheets have been read.
// Until then it has a stand-in. Equal texts and runs of children are kept once, and nearly all
// equal start tags, so that the stand-ins of a real folder take far less memory than its sheets,
// and each is passed to the Builder once.

// standIns stand for the nodes that a surveyor has read.
type standIns struct {
	kinds   []*kind   // by number
	layouts []*layout // by number
	// tags are the attributes of nodes: the number of their layout, and usedFlag once a node with them
	// has ended; then the bits of each value. Once they are stored, the bits of the first value are
	// where. Few of them are equal, because the surveyor remembers those that it read lately.
	tags intern.Arena
	// order has those that are used, in the order in which nodes with them ended first.
	order []uint32
	// texts are texts, and values that are strings or whose types are not known yet. The note is their
	// number, by which textAt has their places.
	texts  intern.Table
	textAt []uint32
	// runs are children, as record.append writes them. The note is in how many places one is, and then
	// where it is stored.
	runs intern.Table
}

// layout describes start tags that differ only in the values of their attributes.
type layout struct {
	kind   *kind
	number uint32
	// order says which was met first.
	order uint64
	flags datacenter.KeyFlags
	// keys is nil if they are those of the kind.
	keys  datacenter.KeyDefinition
	attrs []layoutAttr
	// texted is the same with a text behind the attributes, or nil.
	texted *layout
	nodes  int64 // how many have it

	// values are the attributes in the order in which they are stored, unless that is not remembered. node
	// is such a node. Each is made by another goroutine when it is first needed.
	values []layoutValue
	node   form.Node
	known  bool // node is made
}

// layoutAttr is an attribute of a layout.
type layoutAttr struct {
	place uint16          // among those of the kind, or placeOfText
	typ   datacenter.Type // 0 if it is not known yet
	// stated is set if the tag states the type. spelled is set if the bits are the number of a text, from
	// which the value is to be read.
	stated, spelled bool
}

// placeOfText stands for a text. A node has fewer attributes.
const placeOfText = datacenter.MaxRun

const (
	word     = 4
	usedFlag = 1 << 31
)

// size is how many nodes and attributes are in a node or a run, and below it. Since they come from one file,
// there are not more of them than it has bytes.
type size struct{ nodes, attributes uint32 }

func (s *size) add(t size) {
	s.nodes += t.nodes
	s.attributes += t.attributes
}

// record is a node in a run: the place of its tag, and that of the run of its children, or 0 if it has none.
type record struct{ tag, children uint32 }

const recordSize = 2 * word

func (r record) append(dst []byte) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, r.tag)
	return binary.LittleEndian.AppendUint32(dst, r.children)
}

func parseRecord(b []byte) record {
	_ = b[recordSize-1]
	return record{binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[word:])}
}

// list numbers a new kind.
func (s *standIns) list(k *kind) *kind {
	k.number = uint32(len(s.kinds))
	s.kinds = append(s.kinds, k)
	return k
}

// keep keeps a tag with values of these bits, and returns its place.
func (s *standIns) keep(l *layout, bits []uint32) (tag uint32) {
	tag, b := s.tags.Add(word * (1 + len(bits)))
	binary.LittleEndian.PutUint32(b, l.number)
	for i, v := range bits {
		binary.LittleEndian.PutUint32(b[word*(1+i):], v)
	}
	return tag
}

// withText keeps a tag as another one, with a text, and returns its place.
func (s *standIns) withText(tag, text uint32) uint32 {
	l := s.layoutOf(tag)
	if l.texted == nil {
		t := *l
		t.attrs = append(slices.Clip(l.attrs), layoutAttr{place: placeOfText, typ: datacenter.String, spelled: true})
		l.texted = s.number(&t)
	}
	of := word * (1 + len(l.attrs))
	was := s.tags.At(tag)[word:of]
	tag, b := s.tags.Add(of + word)
	binary.LittleEndian.PutUint32(b, l.texted.number)
	copy(b[word:], was)
	binary.LittleEndian.PutUint32(b[of:], text)
	return tag
}

// text keeps a text, and returns its place and its number.
func (s *standIns) text(text []byte) (at, number uint32) {
	at, isNew := s.texts.Add(0, text)
	note := s.texts.Note(at)
	if isNew {
		binary.LittleEndian.PutUint32(note, uint32(len(s.textAt)))
		s.textAt = append(s.textAt, at)
	}
	return at, binary.LittleEndian.Uint32(note)
}

// number lists a new layout.
func (s *standIns) number(l *layout) *layout {
	l.number = uint32(len(s.layouts))
	s.layouts = append(s.layouts, l)
	return l
}

func (s *standIns) layoutOf(tag uint32) *layout {
	return s.layouts[binary.LittleEndian.Uint32(s.tags.At(tag))&^usedFlag]
}

// use notes that a node with a tag has ended.
func (s *standIns) use(tag uint32) {
	b := s.tags.At(tag)
	if n := binary.LittleEndian.Uint32(b); n&usedFlag == 0 {
		binary.LittleEndian.PutUint32(b, n|usedFlag)
		s.order = append(s.order, tag)
	}
}

// times returns in how many places a run is, as addTimes has added it up.
func (s *standIns) times(run uint32) int64 {
	return int64(binary.LittleEndian.Uint32(s.runs.Note(run)))
}

// addTimes adds to them. They are fewer than there may be nodes.
func (s *standIns) addTimes(run uint32, times int64) {
	note := s.runs.Note(run)
	binary.LittleEndian.PutUint32(note, binary.LittleEndian.Uint32(note)+uint32(times))
}

// countNodes adds up how many nodes have each layout and are of each kind, and how many of them
// each parent has. A node is in a run as often as the run's parents are in others.
func (s *standIns) countNodes(found []sheetFound) {
	count := func(n record, times int64) *kind {
		l := s.layoutOf(n.tag)
		l.nodes += times
		if n.children > 0 {
			s.addTimes(n.children, times)
		}
		return l.kind
	}
	for i := range found {
		if found[i].read == s {
			count(found[i].root.record, 1)
		}
	}
	runs := make([]uint32, 0, s.runs.Len())
	for from := uint32(0); len(runs) < s.runs.Len(); {
		var run uint32
		run, from = s.runs.Next(from)
		runs = append(runs, run)
	}
	for _, run := range slices.Backward(runs) { // it was added after those below it
		times := s.times(run)
		for b := s.runs.At(run); len(b) > 0; b = b[recordSize:] {
			count(parseRecord(b), times).meet(int(run), times)
		}
	}
}

// countValues adds up how many nodes each kind has, and how often its attributes occur.
func (s *standIns) countValues() {
	for _, l := range s.layouts {
		l.kind.nodes += l.nodes
		for _, a := range l.attrs {
			if a.place == placeOfText {
				continue
			}
			of := &l.kind.attrs[a.place]
			of.values += l.nodes
			if !a.stated {
				of.untyped += l.nodes
			}
		}
	}
}

// close frees what only reading needs, and counts how often all occurs in the files of s among found.
func (s *standIns) close(found []sheetFound) {
	s.texts.Close()
	s.runs.Close()
	s.countNodes(found)
	s.countValues()
}

// appendHead appends what a start tag says of the node itself.
func appendHead(dst []byte, n *xmlsheet.Node) []byte {
	if !n.HasKeys {
		return append(dst, byte(n.Flags))
	}
	const ownKeys = 1 << 4
	dst = append(dst, byte(n.Flags)|ownKeys, byte(len(n.Keys)))
	for _, key := range n.Keys {
		dst = binary.AppendUvarint(dst, uint64(len(key)))
		dst = append(dst, key...)
	}
	return dst
}

// append appends what a layout says of an attribute.
func (a layoutAttr) append(dst []byte) []byte {
	flags := byte(a.typ) << 2
	if a.stated {
		flags |= 1
	}
	if a.spelled {
		flags |= 2
	}
	return append(binary.LittleEndian.AppendUint16(dst, a.place), flags)
}
