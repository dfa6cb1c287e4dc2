package pack

import (
	"encoding/binary"
	"errors"
	"slices"

	"lorefs/datacenter"
	"lorefs/datacenter/internal/form"
	"lorefs/datacenter/internal/write"
	"lorefs/datacenter/sheets/internal/infer"
)

// errWrongValue means that a value does not have the type of its attribute.
var errWrongValue = errors.New("BUG: wrong value")

// storers returns what stores the texts and attributes of each reader's sheets.
func (s *survey) storers(b *write.Store) map[*standIns]*storer {
	of := make(map[*standIns]*storer, len(s.readers))
	certain := !s.guesses()
	batch, textBatch := b.NewAttributeBatch(), b.NewTextBatch()
	for _, read := range s.readers {
		of[read] = &storer{
			standIns: read, b: b, batch: batch, textBatch: textBatch, certain: certain, stored: make([]write.StoredText, len(read.textAt)),
		}
	}
	return of
}

// guesses reports whether the type of some attribute was unknown while the sheets were read.
func (s *survey) guesses() bool {
	for _, k := range s.kinds {
		for i := range k.attrs {
			if k.attrs[i].guessed {
				return true
			}
		}
	}
	return false
}

// storer stores texts and attributes of stand-ins.
type storer struct {
	*standIns
	b         *write.Store
	batch     *write.AttributeBatch
	textBatch *write.TextBatch
	// certain is set if all values that are kept as texts are strings.
	certain bool
	// stored says where texts are stored.
	stored []write.StoredText
	// textsEnd and tagsEnd are how many texts and tags are stored.
	textsEnd, tagsEnd int
	// buf, run and values are buffers.
	buf    []byte
	run    []form.Attribute
	values []layoutValue
	// remembered is how many values its layouts have.
	remembered int
}

// store stores what came first in a sheet. Texts that are certain to be strings are stored in the order in which
// they stand in the sheets. Otherwise each is stored with the attributes.
func (s *storer) store(f *sheetFound) error {
	const atOnce = 32
	for s.certain && s.textsEnd < f.texts {
		if err := s.storeTexts(min(s.textsEnd+atOnce, f.texts)); err != nil {
			return err
		}
	}
	for s.tagsEnd < f.tags {
		some := s.order[s.tagsEnd:min(s.tagsEnd+atOnce, f.tags)]
		if err := s.tagsOf(some); err != nil {
			return err
		}
		s.tagsEnd += len(some)
	}
	return nil
}

// storeTexts stores the next texts, up to a number.
func (s *storer) storeTexts(end int) error {
	for _, at := range s.textAt[s.textsEnd:end] {
		s.textBatch.Add(s.texts.At(at))
	}
	err := s.textBatch.Store(func(i int, text write.StoredText) { s.stored[s.textsEnd+i] = text })
	s.textsEnd = end
	s.texts.Forget(s.textAt[end-1])
	return err
}

// tagsOf stores the attributes of some tags.
func (s *storer) tagsOf(some []uint32) error {
	for _, tag := range some {
		b := s.tags.At(tag)
		l := s.layouts[binary.LittleEndian.Uint32(b)&^usedFlag]
		if err := s.attributes(l, b[word:]); err != nil {
			return err
		}
		if err := s.batch.Add(s.run); err != nil {
			return err
		}
	}
	return s.batch.Store(func(i int, at datacenter.Address) {
		if b := s.tags.At(some[i]); len(s.layouts[binary.LittleEndian.Uint32(b)&^usedFlag].attrs) > 0 {
			putAddress(b[word:], at)
		}
	})
}

// layoutValue is an attribute of a layout as it is stored.
type layoutValue struct {
	from    int // where its bits lie behind the number of the layout
	name    uint16
	typ     datacenter.Type
	spelled bool
	wrong   bool // it was no value of this type when it was read
	stored  form.Attribute
}

// attributes makes a run of attributes of the bits of their values.
func (s *storer) attributes(l *layout, bits []byte) (err error) {
	s.run = s.run[:0]
	values := s.valuesOf(l)
	for i := range values {
		v := &values[i]
		a := v.stored
		n := binary.LittleEndian.Uint32(bits[v.from:])
		switch {
		case v.typ == datacenter.String:
			var t write.StoredText
			if t, err = s.text(n); err != nil {
				return err
			}
			t.Set(&a)
			s.run = append(s.run, a)
			continue
		case v.wrong:
			return errWrongValue
		case v.spelled:
			if n, err = infer.Number(v.typ, s.texts.At(s.textAt[n])); err != nil {
				return errWrongValue
			}
		}
		a.Bits = n
		s.run = append(s.run, a)
	}
	return nil
}

// mostValues is of how many attributes it is remembered how they are stored. A real folder has fewer in all
// of its layouts, but each tag of a sheet can have its attributes in another order.
const mostValues = 1 << 18

// valuesOf returns the attributes of a layout as they are stored. They are valid until the next call.
func (s *storer) valuesOf(l *layout) []layoutValue {
	if len(l.attrs) == 0 || l.values != nil {
		return l.values
	}
	values := s.values[:0]
	for i, a := range l.attrs {
		v := layoutValue{from: i * word, typ: a.typ, spelled: a.spelled, wrong: a.spelled && a.typ != 0}
		if a.place == placeOfText {
			v.name = s.b.NameIndex(datacenter.ValueName)
		} else {
			of := &l.kind.joined.attrs[l.kind.places[a.place]]
			v.name = of.index
			if v.typ == 0 {
				v.typ = of.typ
			}
		}
		v.stored = form.NewAttribute(v.name, v.typ, 0)
		values = append(values, v)
	}
	slices.SortFunc(values, func(a, b layoutValue) int { return int(a.name) - int(b.name) })
	s.values = values
	if s.remembered+len(values) <= mostValues {
		s.remembered += len(values)
		l.values = slices.Clone(values)
	}
	return values
}

// text stores a text unless it is stored, and returns where.
func (s *storer) text(number uint32) (t write.StoredText, err error) {
	if t = s.stored[number]; t.Known() {
		return t, nil
	}
	t, err = s.b.StoreText(s.texts.At(s.textAt[number]), &s.buf)
	s.stored[number] = t
	return t, err
}
