package pack

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	"lorefs/datacenter"
	"lorefs/datacenter/internal/form"
	"lorefs/datacenter/internal/write"
	"lorefs/datacenter/sheets/internal/infer"
	"lorefs/datacenter/sheets/internal/xmlsheet"
)

// build passes all sheets to b, in order: the texts of each, then its attributes, and then its nodes. Each stand-in
// is passed where it came first.
func build(ctx context.Context, src *Folder, s *survey, b *write.Store, bar *progress) error {
	s.prepare(b)
	storers := s.storers(b)
	l := &layer{b: b, all: s.definitions(), met: definitions{}, ends: map[*standIns]uint32{}}
	for i := range s.found {
		if ctx.Err() != nil {
			return fmt.Errorf("sheets: %w", ctx.Err())
		}
		f := &s.found[i]
		err := storers[f.read].store(f)
		if err == nil {
			err = l.sheet(uint64(i), f)
		}
		switch {
		case errors.Is(err, errWrongValue):
			return wrongValue(src, s, i)
		case err != nil:
			return fmt.Errorf("sheets: %s: %w", src.files[i].path, err)
		}
		bar.add(src.files[i].size)
	}
	return nil
}

// prepare asks b once for what it is told for each node.
func (s *survey) prepare(b *write.Store) {
	for _, k := range s.kinds {
		for i := range k.attrs {
			k.attrs[i].index = b.NameIndex(k.attrs[i].name)
		}
	}
	tags, runs, texts := 0, 0, 0
	for _, read := range s.readers {
		tags += len(read.order)
		runs += read.runs.Len()
		texts += read.texts.Len()
	}
	const perEqual = 8 // of the tags and texts that several readers have met, about one
	b.Reserve(tags-tags/perEqual, runs, texts-texts/perEqual)
}

// definition is a key definition in use.
type definition struct {
	order uint64
	keys  datacenter.KeyDefinition
}

// definitions returns all key definitions, those that were met first at the front.
func (s *survey) definitions() []definition {
	var all []definition
	for _, read := range s.readers {
		for _, l := range read.layouts {
			all = append(all, definition{l.order, l.keyed()})
		}
	}
	slices.SortFunc(all, func(a, b definition) int { return cmp.Compare(a.order, b.order) })
	return all
}

// keyed returns the key definition of a layout's nodes.
func (l *layout) keyed() datacenter.KeyDefinition {
	if l.keys != nil {
		return l.keys
	}
	return l.kind.joined.keys
}

// layer passes nodes to the Builder.
type layer struct {
	b *write.Store
	// all are the key definitions that are not met yet, and met are the others.
	all []definition
	met definitions
	// ends says up to where the runs of stand-ins are stored.
	ends map[*standIns]uint32
	run  []form.Node // a buffer
}

// sheet passes a sheet, and all runs that came first there, the innermost first.
func (l *layer) sheet(number uint64, f *sheetFound) error {
	for ; len(l.all) > 0 && l.all[0].order>>sheetShift <= number; l.all = l.all[1:] {
		if err := l.met.add(l.all[0].keys); err != nil {
			return err
		}
		l.b.AddKeys(l.all[0].keys)
	}
	s := f.read
	for from := l.ends[s]; from < f.runs; l.ends[s] = from {
		var run uint32
		run, from = s.runs.Next(from)
		if err := l.children(s, run); err != nil {
			return err
		}
	}
	l.b.AddSheet(l.node(s, f.root.record))
	return nil
}

// children passes a run, and notes where it is stored.
func (l *layer) children(s *standIns, run uint32) error {
	l.run = l.run[:0]
	for b := s.runs.At(run); len(b) > 0; b = b[recordSize:] {
		l.run = append(l.run, l.node(s, parseRecord(b)))
	}
	at, err := l.b.StoreChildren(l.run)
	putAddress(s.runs.Note(run), at)
	return err
}

// node returns a node whose attributes and children are stored.
func (l *layer) node(s *standIns, r record) form.Node {
	tag := s.tags.At(r.tag)
	of := s.layouts[binary.LittleEndian.Uint32(tag)&^usedFlag]
	if !of.known {
		of.node, of.known = l.b.NewNode(of.kind.name, of.keyed(), of.flags), true
	}
	n := of.node
	if len(of.attrs) > 0 {
		n.SetAttributes(address(tag[word:]), len(of.attrs))
	}
	if r.children > 0 {
		n.SetChildren(address(s.runs.Note(r.children)), len(s.runs.At(r.children))/recordSize)
	}
	return n
}

func putAddress(b []byte, at datacenter.Address) {
	binary.LittleEndian.PutUint16(b, at.Segment)
	binary.LittleEndian.PutUint16(b[2:], at.Element)
}

func address(b []byte) datacenter.Address {
	return datacenter.Address{Segment: binary.LittleEndian.Uint16(b), Element: binary.LittleEndian.Uint16(b[2:])}
}

// wrongValue returns the error for the first value in a sheet that does not have the type of
// its attribute. The sheet is read again for its place.
func wrongValue(src *Folder, s *survey, i int) error {
	file := src.files[i].path
	data, err := src.files[i].read(src.fsys, nil)
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
