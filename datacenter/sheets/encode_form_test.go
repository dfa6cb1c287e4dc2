package sheets

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"lorefs/datacenter"
	"lorefs/datacenter/dctest"
	"lorefs/datacenter/sheets/internal/vocab"
	"lorefs/internal/testneeds"
)

// TestFormedTags compares tags that are written by their forms with those that are written without, of
// files with anything in their attributes and strings.
func TestFormedTags(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	good, bad := 0, 0
	seeds := testneeds.Cases(16, 80, 80)
	for seed := range uint64(seeds) {
		doc := dctest.Generate(dctest.GenOptions{Seed: seed, Sheets: 5, Nodes: 300, Layout: []datacenter.Layout{datacenter.LayoutV6X64, datacenter.LayoutV6X86}[seed%2]})
		m := dctest.NewImage(doc, dctest.Options{FullCount: 20_000})
		spoil(rng, m, int(seed%8)*5)
		data := m.Seal(dctest.SealOptions{})
		f, err := datacenter.Open(t.Context(), bytes.NewReader(data), int64(len(data)), datacenter.Options{Layout: m.Layout, BlockSize: 1 << (9 + seed%4)})
		if err != nil {
			continue
		}
		s, err := New(f, nil, Options{})
		if err != nil {
			continue
		}
		e, err := s.encoder(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		c := formCheck{t: t, e: e, rng: rng}
		root, err := e.file.Root()
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			c.below(root)
		}
		good, bad = good+c.good, bad+c.bad
		s.release(e)
	}
	if good < 125*seeds || bad < 12*seeds {
		t.Errorf("%d tags were written, %d had an error", good, bad)
	}
}

// spoil changes attributes and characters of an image. Texts lie behind the last characters in use.
func spoil(rng *rand.Rand, m *dctest.Image, places int) {
	odd := []uint16{0, 1, '<', '&', '"', '\t', 0x7f, 0x80, 0xd800, 0xfffe, 'x'}
	for _, seg := range m.Values.Data.Segments {
		for i := seg.Used; i < seg.Full; i += 2 {
			m.Put16(seg.Elements+2*int64(i), 'x')
		}
	}
	for range places {
		seg := m.Attributes.Segments[rng.IntN(len(m.Attributes.Segments))]
		at := seg.Elements + int64(rng.IntN(seg.Used))*m.Attributes.Size
		switch rng.IntN(4) {
		case 0:
			m.Put16(at+dctest.AttributeName, uint16(rng.IntN(m.Names.Count+2)))
		case 1:
			m.Put16(at+dctest.AttributeType, m.U16(at+dctest.AttributeType)^1<<rng.IntN(4))
		case 2:
			m.Put32(at+dctest.AttributeValue, rng.Uint32()>>rng.IntN(32))
		}
		seg = m.Values.Data.Segments[rng.IntN(len(m.Values.Data.Segments))]
		for _, i := range []int{rng.IntN(seg.Used), rng.IntN(seg.Used), seg.Used - 1} {
			if rng.IntN(2) == 0 {
				m.Put16(seg.Elements+2*int64(i), odd[rng.IntN(len(odd))])
			}
		}
	}
}

// formCheck writes the tags of nodes in both ways, as if they were of any of some elements.
type formCheck struct {
	t        *testing.T
	e        *encoder
	rng      *rand.Rand
	elements [2][]*element // by whether the tags must be plain
	good     int
	bad      int
}

func (c *formCheck) below(n datacenter.Node) {
	c.tag(n)
	for child, err := range n.Children() {
		if err != nil {
			c.t.Fatal(err)
		}
		c.below(child)
	}
}

// element returns an element that knows some attributes of a node, or one of before.
func (c *formCheck) element(n datacenter.Node, plain int) *element {
	known := &c.elements[plain]
	if len(*known) > 0 && c.rng.IntN(4) > 0 {
		return (*known)[c.rng.IntN(min(len(*known), 3))]
	}
	el := &element{id: c.rng.IntN(1 << 16), odd: c.rng.IntN(2) == 0}
	for a, err := range n.Attributes() {
		if err != nil {
			break
		}
		typ := a.Type()
		if c.rng.IntN(8) == 0 {
			typ = datacenter.Int
		}
		el.attrs = append(el.attrs, elementAttribute{name: vocab.NameID(a.NameIndex()), typ: typ})
	}
	slices.SortFunc(el.attrs, func(a, b elementAttribute) int { return int(a.name) - int(b.name) })
	*known = append(*known, el)
	return el
}

func (c *formCheck) tag(n datacenter.Node) {
	plain := c.rng.IntN(2)
	el, it := c.element(n, plain), &item{node: n}
	t := &c.e.tag
	t.plain = plain == 1
	write := func(how func([]byte, *item, *element) ([]byte, error)) (out, escaped, value string, hasValue bool, err string) {
		t.types, t.escaped, t.value, t.hasValue, t.hint = t.types[:0], t.escaped[:0], t.value[:0], false, 0
		dst, failed := how([]byte("<x"), it, el)
		if failed != nil {
			return "", "", "", false, failed.Error()
		}
		return string(dst), string(t.escaped), string(t.value), t.hasValue, ""
	}
	out, escaped, value, hasValue, err := write(c.e.formedTag)
	out2, escaped2, value2, hasValue2, err2 := write(c.e.storedTag)
	if out != out2 || escaped != escaped2 || value != value2 || hasValue != hasValue2 || err != err2 {
		c.t.Fatalf("by its form: %q %q %q %v %s\notherwise:   %q %q %q %v %s", out, escaped, value, hasValue, err, out2, escaped2, value2, hasValue2, err2)
	}
	if c.good++; err != "" {
		c.bad++
	}
}
