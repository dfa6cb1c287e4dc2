package pack

import (
	"context"
	"errors"
	"fmt"
	"io"

	"lorefs/datacenter"
	"lorefs/datacenter/sheets/internal/infer"
	"lorefs/datacenter/sheets/internal/xmlsheet"
)

// build passes all sheets to b, in order. Runs that nodes share are passed once.
func build(ctx context.Context, src *sheetFiles, s *survey, b *datacenter.Builder, bar *progress) error {
	s.prepare(b)
	l := &layer{b: b, value: b.NameIndex(datacenter.ValueName), known: make([]bool, len(s.kinds)), definitions: definitions{}}
	stored := map[*standIns]*storedSheets{}
	for i := range s.found {
		if read := s.found[i].read; stored[read] == nil {
			stored[read] = newStoredSheets(read)
		}
	}
	ahead := s.storeTexts(ctx, b, stored)
	defer ahead.end()
	for i := range s.found {
		f := &s.found[i]
		ahead.await()
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("sheets: %w", err)
		}
		err := l.node(stored[f.read], f.root)
		switch {
		case errors.Is(err, errWrongValue):
			return wrongValue(src, s, i)
		case err != nil:
			return fmt.Errorf("sheets: %s: %w", src.files[i].path, err)
		}
		if !l.refused {
			stored[f.read].forget(f)
		}
		bar.add(src.files[i].size)
	}
	return nil
}

// prepare asks b once for what it is told for each node.
func (s *survey) prepare(b *datacenter.Builder) {
	for _, k := range s.kinds {
		for i := range k.attrs {
			k.attrs[i].index = b.NameIndex(k.attrs[i].name)
		}
	}
	tags, runs := 0, 0
	met := map[*standIns]bool{}
	for i := range s.found {
		if read := s.found[i].read; !met[read] {
			met[read] = true
			tags += read.tags.Len()
			runs += read.runs.Len()
		}
	}
	const perEqual = 8 // of the tags that several readers have met, about one
	b.Reserve(tags-tags/perEqual, runs)
}

// storedSheets says where the Builder has stored what stand-ins stand for, by the numbers of
// start tags and of runs of children.
type storedSheets struct {
	*standIns
	stored   []storedTag
	children []datacenter.StoredRun
	texts    []datacenter.StoredText
	// textsStored is how many texts were stored ahead.
	textsStored uint32
}

// storedTag is a start tag whose attributes are known once they have been stored without a text.
type storedTag struct {
	attributes datacenter.StoredRun
	flags      datacenter.KeyFlags
	ownKeys    bool
}

func newStoredSheets(s *standIns) *storedSheets {
	return &storedSheets{
		standIns: s,
		stored:   make([]storedTag, s.tags.Len()),
		children: make([]datacenter.StoredRun, s.runs.Len()),
		texts:    make([]datacenter.StoredText, s.texts.Len()),
	}
}

// forget frees what is not needed after a sheet that has been passed to the Builder. A surveyor
// reads its sheets in their order, so all that it had read by then has been passed as well.
func (s *storedSheets) forget(f *sheetFound) {
	s.tags.Forget(f.tags)
	s.runs.Forget(f.runs)
}

// layer passes nodes to the Builder.
type layer struct {
	b     *datacenter.Builder
	value uint16 // the index of the name of texts
	// refused is set once the Builder stores nothing more because of an error.
	refused bool
	// definitions are all key definitions in use. known says whether that of a kind is
	// among them.
	definitions definitions
	known       []bool // by the number of a kind
}

// errWrongValue means that a value does not have the type of its attribute.
var errWrongValue = errors.New("BUG: wrong value")

// node passes a node with all below it. What the Builder has stored already it stores in
// the same place, so only new runs are passed in full.
func (l *layer) node(s *storedSheets, n record) error {
	read := s.kinds[s.tags.Group(n.tag)]
	if err := l.tag(s, read, n); err != nil {
		return err
	}
	if err := l.children(s, n); err != nil {
		return err
	}
	if n.text > 0 {
		l.text(s, l.value, n.text-1)
	}
	own, children := l.b.End()
	l.refused = l.refused || !own.Known()
	if n.text == 0 {
		s.stored[n.tag].attributes = own
	}
	if n.children > 0 {
		s.children[n.children-1] = children
	}
	return nil
}

// tag begins a node, and passes its attributes.
func (l *layer) tag(s *storedSheets, read *kind, n record) error {
	of := &s.stored[n.tag]
	if known := n.text == 0 && of.attributes.Known(); known && !of.ownKeys { // it may be forgotten
		if err := l.begin(read.joined, tagHead{flags: of.flags}); err != nil {
			return err
		}
		l.b.SameAttributes(of.attributes)
		return nil
	}
	head, attributes := parseHead(s.tags.At(n.tag))
	of.flags, of.ownKeys = head.flags, head.keys != nil
	if err := l.begin(read.joined, head); err != nil {
		return err
	}
	return l.attributes(s, read, attributes)
}

// children passes those of a node.
func (l *layer) children(s *storedSheets, n record) error {
	if n.children == 0 {
		return nil
	}
	if same := s.children[n.children-1]; same.Known() {
		l.b.SameChildren(same)
		return nil
	}
	for run := s.runs.At(n.children - 1); len(run) > 0; run = run[recordSize:] {
		if err := l.node(s, parseRecord(run)); err != nil {
			return err
		}
	}
	return nil
}

// begin begins a node.
func (l *layer) begin(k *kind, head tagHead) error {
	def := k.keys
	if head.keys != nil {
		def = head.keys
	}
	if head.keys != nil || !l.known[k.number] {
		l.known[k.number] = l.known[k.number] || head.keys == nil
		if err := l.definitions.add(def); err != nil {
			return err
		}
	}
	l.b.Begin(k.name, def, head.flags)
	return nil
}

// attributes adds those of a start tag to the newest node. read is its kind as the surveyor
// has it.
func (l *layer) attributes(s *storedSheets, read *kind, list []byte) error {
	for ; len(list) > 0; list = list[attributeSize:] {
		a := parseAttribute(list)
		of := &read.joined.attrs[read.places[a.place]]
		guessed := a.typ == 0
		if guessed {
			a.typ = of.typ
		}
		switch {
		case a.typ == datacenter.String:
			l.text(s, of.index, a.bits)
			continue
		case a.spelled && !guessed: // it was no value of this type when it was read
			return errWrongValue
		case a.spelled:
			var err error
			if a.bits, err = infer.Number(a.typ, s.standIns.texts.At(a.bits)); err != nil {
				return errWrongValue
			}
		}
		l.b.Number(of.index, a.typ, a.bits)
	}
	return nil
}

// text adds a text, or the value of an attribute, to the newest node.
func (l *layer) text(s *storedSheets, nameIndex uint16, number uint32) {
	if same := s.texts[number]; same.Known() {
		l.b.SameText(nameIndex, same)
		return
	}
	s.texts[number] = l.b.Spelled(nameIndex, s.standIns.texts.At(number))
}

// wrongValue returns the error for the first value in a sheet that does not have the type of
// its attribute. The sheet is read again for its place.
func wrongValue(src *sheetFiles, s *survey, i int) error {
	file := src.files[i].path
	data, err := readFile(src.fsys, file, nil)
	if err != nil {
		return err
	}
	p, err := xmlsheet.New(file, data)
	if err != nil {
		return err
	}
	changed := fmt.Errorf("sheets: %s: %w", file, datacenter.ErrChanged)
	var open []*kind
	for {
		event, err := p.Next()
		switch {
		case errors.Is(err, io.EOF):
			return changed
		case err != nil:
			return err
		case event == xmlsheet.End:
			open = open[:len(open)-1]
			continue
		}
		at := s.sheets[s.found[i].key]
		if len(open) > 0 {
			at = open[len(open)-1].child(p.Node().Name)
		}
		if at == nil {
			return changed
		}
		open = append(open, at)
		if err := at.wrongValue(p); err != nil {
			return err
		}
	}
}

// wrongValue returns the error for the first wrong value of a node that began.
func (p *kind) wrongValue(parser *xmlsheet.Parser) error {
	for i, a := range parser.Node().Attributes {
		at := p.attr(a.Name, i)
		if at < 0 {
			return nil // the sheet has changed
		}
		t := a.Type
		if t == 0 {
			t = p.attrs[at].typ
		}
		if t == datacenter.String {
			continue
		}
		if _, err := infer.Number(t, a.Value); err != nil {
			return parser.Wrong(a.Offset, p.name+" "+p.attrs[at].name, err)
		}
	}
	return nil
}
