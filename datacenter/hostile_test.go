package datacenter_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"lorefs/datacenter"
	"lorefs/datacenter/dctest"
	"lorefs/datacenter/internal/hash"
	"lorefs/datacenter/verify"
	"lorefs/internal/testneeds"
	"lorefs/nodes/blockcache"
)

// rawFile is a file of layout v6-x86 that dctest would not lay out: its string tables are
// empty but for the addresses.
type rawFile struct {
	keys       [][4]uint16
	attrs      [][]rawAttr
	nodes      [][]rawNode
	values     [][]byte // segments of characters
	entries    []byte   // of the values' first bucket
	valueAddrs []uint32
	names      []byte // characters
	nameAddrs  []uint32
	zeroNodes  int // nodes of zeros to claim and append
}

type rawNode struct{ name, key, attrs, children, attrSeg, attrElem, childSeg, childElem uint16 }

type rawAttr struct {
	name, code uint16
	value      uint32
}

// withNames sets the names of the file. The last two should be the special ones.
func (r *rawFile) withNames(names ...string) *rawFile {
	for _, n := range names {
		r.nameAddrs = append(r.nameAddrs, uint32(len(r.names)/2)<<16)
		for _, u := range dctest.Units(n) {
			r.names = binary.LittleEndian.AppendUint16(r.names, u)
		}
		r.names = append(r.names, 0, 0)
	}
	return r
}

func u32(b []byte, vs ...uint32) []byte {
	for _, v := range vs {
		b = binary.LittleEndian.AppendUint32(b, v)
	}
	return b
}

func u16(b []byte, vs ...uint16) []byte {
	for _, v := range vs {
		b = binary.LittleEndian.AppendUint16(b, v)
	}
	return b
}

func (r *rawFile) build() []byte {
	b := append(u32(nil, 6), make([]byte, 28)...)
	b = u32(b, uint32(len(r.keys)))
	for _, k := range r.keys {
		b = u16(b, k[:]...)
	}
	b = u32(b, uint32(len(r.attrs)))
	for _, s := range r.attrs {
		b = u32(b, uint32(len(s)), uint32(len(s)))
		for _, a := range s {
			b = u32(u16(b, a.name, a.code), a.value)
		}
	}
	b = u32(b, uint32(len(r.nodes)))
	for _, s := range r.nodes {
		n := uint32(len(s) + r.zeroNodes)
		b = u32(b, n, n)
		for _, n := range s {
			b = u16(b, n.name, n.key<<4, n.attrs, n.children, n.attrSeg, n.attrElem, n.childSeg, n.childElem)
		}
		b = append(b, make([]byte, 16*r.zeroNodes)...)
	}
	b = u32(b, uint32(len(r.values)))
	for _, s := range r.values {
		b = append(u32(b, uint32(len(s)/2), uint32(len(s)/2)), s...)
	}
	b = append(u32(b, uint32(len(r.entries)/16)), r.entries...)
	b = append(b, make([]byte, 4*1023)...)
	b = u32(u32(b, uint32(len(r.valueAddrs)+1)), r.valueAddrs...)
	b = append(u32(b, 1, uint32(len(r.names)/2), uint32(len(r.names)/2)), r.names...)
	b = append(b, make([]byte, 4*512)...)
	b = u32(u32(b, uint32(len(r.nameAddrs)+1)), r.nameAddrs...)
	return u32(b, 0)
}

func (r *rawFile) seal(trailing int) []byte {
	return dctest.Seal(r.build(), dctest.SealOptions{Trailing: make([]byte, trailing)})
}

// emptyKey returns the key definition that every file has.
func emptyKey() [][4]uint16 { return make([][4]uint16, 1) }

// hostile returns small files that make a careless reader work or allocate without bound.
// Each must be opened and verified, or refused, at little cost.
func hostile() map[string][]byte {
	const special1, special2 = "__root__", "__value__"
	files := map[string][]byte{}

	ascending := &rawFile{keys: emptyKey(), names: []byte{'a', 0, 0, 0}, nameAddrs: make([]uint32, 65535)}
	ascending.nodes = make([][]rawNode, 65536)
	ascending.nodes[0] = []rawNode{{name: 1, children: 65535, childSeg: 65535}}
	for i := range 65535 {
		ascending.nodes[65535] = append(ascending.nodes[65535], rawNode{name: uint16(i + 1)})
	}
	files["a new highest name in each of many nodes and segments"] = ascending.seal(0)

	steps := (&rawFile{keys: emptyKey()}).withNames("a", special1, special2)
	parents := []rawNode{{name: 2, children: 2044, childElem: 1}}
	for range 2044 {
		parents = append(parents, rawNode{name: 1, children: 65535, childSeg: 1})
	}
	steps.nodes = [][]rawNode{parents, make([]rawNode, 65535)}
	files["many parents of one run of placeholders"] = steps.seal(0)

	const units = 1 << 19
	long := bytes.Repeat([]byte{'a', 0}, units)
	suffixes := (&rawFile{keys: emptyKey(), nodes: [][]rawNode{{{name: 1}}}, values: [][]byte{long}}).withNames(special1, special2)
	for i := range uint32(20000) {
		suffixes.entries = u32(suffixes.entries, 0, units-i+1, i+1, i<<16)
		suffixes.valueAddrs = append(suffixes.valueAddrs, i<<16)
	}
	files["many strings that end together"] = suffixes.seal(0)

	same := (&rawFile{keys: emptyKey(), values: [][]byte{long}}).withNames(manyNames(20000)...).withNames(special1, special2)
	hash := hash.Value(dctest.Units(strings.Repeat("a", units)))
	var attrs []rawAttr
	for i := range uint16(20000) {
		attrs = append(attrs, rawAttr{name: i + 1, code: 3 | hash<<2})
	}
	same.attrs = [][]rawAttr{attrs}
	same.nodes = [][]rawNode{{{name: 20001, children: 1, childElem: 1}, {name: 1, attrs: 20000}}}
	same.entries, same.valueAddrs = u32(nil, 0, units+1, 1, 0), []uint32{0}
	files["many attributes with one long string"] = same.seal(0)

	keyed := &rawFile{keys: [][4]uint16{{}, {4000, 4001, 4002, 4003}}, names: []byte{'a', 0, 0, 0}, nameAddrs: make([]uint32, 5000)}
	keyed.attrs = [][]rawAttr{make([]rawAttr, 2000)}
	for i := range keyed.attrs[0] {
		keyed.attrs[0][i] = rawAttr{name: uint16(i + 1), code: 1}
	}
	kids := slices.Repeat([]rawNode{{name: 1, key: 1, attrs: 2000}}, 60000)
	keyed.nodes = [][]rawNode{{{name: 2, children: 60000, childSeg: 1}}, kids}
	files["keys that no sibling has"] = keyed.seal(0)

	far := (&rawFile{keys: emptyKey(), attrs: make([][]rawAttr, 65536)}).withNames("a", special1, special2)
	far.attrs[65535] = []rawAttr{{name: 1, code: 1}}
	far.nodes = [][]rawNode{
		{{name: 2, children: 60000, childSeg: 1}},
		slices.Repeat([]rawNode{{name: 1, attrs: 1, attrSeg: 65535}}, 60000),
	}
	files["attributes behind many segments"] = far.seal(0)

	claims := (&rawFile{keys: emptyKey(), nodes: [][]rawNode{{{name: 2}}}, zeroNodes: 7 << 20}).withNames("a", special1, special2)
	files["millions of nodes without an address"] = claims.seal(4 << 20)
	return files
}

func manyNames(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = "n" + strings.Repeat("x", i%7) + string(rune('A'+i%26)) + string(rune(0xac00+i/26))
	}
	return names
}

func TestHostileFilesTakeLittle(t *testing.T) {
	testneeds.Slow(t, "takes seconds, which the race detector makes minutes")
	for name, data := range hostile() {
		t.Run(name, func(t *testing.T) {
			n := allocated(func() {
				f, err := datacenter.Open(t.Context(), bytes.NewReader(data), int64(len(data)),
					datacenter.Options{Blocks: blockcache.New(16 << 20).View()})
				if err == nil {
					var root datacenter.Node
					if root, err = f.Root(); err == nil {
						err = peek(root)
					}
				}
				if err != nil && !isFormatError(err) {
					t.Errorf("%v: want a FormatError", err)
				}
			})
			// n includes all blocks that were inflated.
			if n > maxAllocated+uint64(len(data)) {
				t.Errorf("reading %d bytes allocates %d MiB", len(data), n>>20)
			}
			if n := allocated(func() { dctest.Findings(t, data, 30000) }); n > maxAllocated+uint64(len(data)) {
				t.Errorf("verifying %d bytes allocates %d MiB", len(data), n>>20)
			}
		})
	}
}

// peek reads the first few attributes and children of a node, and of its children.
func peek(n datacenter.Node) error {
	const few = 20
	i := 0
	for a, err := range n.Attributes() {
		if err != nil {
			return err
		}
		if _, err := a.AppendText(nil); err != nil {
			return err
		}
		if i++; i == few {
			break
		}
	}
	i = 0
	for c, err := range n.Children() {
		if err != nil {
			return err
		}
		if err := peek(c); err != nil {
			return err
		}
		if i++; i == few {
			break
		}
	}
	return nil
}

func TestAddressesDoNotWrap(t *testing.T) {
	r := (&rawFile{keys: emptyKey()}).withNames("A", "B", "__root__", "__value__")
	nodes := make([]rawNode, 65600)
	for i := range nodes {
		nodes[i] = rawNode{name: 2}
	}
	nodes[0] = rawNode{name: 3, children: 20, childElem: 65530}
	r.nodes = [][]rawNode{nodes}
	if _, err := open(r.seal(0), datacenter.Options{}); !isFormatError(err) || !errors.Is(err, datacenter.ErrAddress) {
		t.Errorf("a run beyond element 65,535: %v, want ErrAddress", err)
	}
}

func TestUnreachedNodeIsNoNode(t *testing.T) {
	r := (&rawFile{keys: emptyKey()}).withNames("x", "__root__", "__value__")
	r.nodes = [][]rawNode{{{name: 2}, {name: 1, children: 3, childSeg: 77}}}
	f := mustOpen(t, r.seal(0), datacenter.Options{})
	if _, err := f.Node(datacenter.Address{Element: 1}); !errors.Is(err, datacenter.ErrAddress) {
		t.Errorf("Node of one that no path leads to: %v, want ErrAddress", err)
	}
}

func TestStringOfNoCharacter(t *testing.T) {
	r := (&rawFile{keys: emptyKey(), values: [][]byte{{'q', 0, 0, 0}}}).withNames("a", "__root__", "__value__")
	r.nodes = [][]rawNode{{{name: 2, children: 1, childElem: 1}, {name: 1, attrs: 1}}}
	r.attrs = [][]rawAttr{{{name: 1, code: 3, value: 2 << 16}}}
	if err := readWhole(r.seal(0)); !errors.Is(err, datacenter.ErrAddress) {
		t.Errorf("a string at the end of its segment: %v, want ErrAddress", err)
	}
}

func TestVerifyFinds(t *testing.T) {
	for want, r := range map[string]*rawFile{
		"b comes behind __value__, which must be last": {
			keys: emptyKey(), values: [][]byte{{'q', 0, 0, 0}},
			attrs: [][]rawAttr{{{2, 3, 0}, {3, 1, 20}}},
			nodes: [][]rawNode{{{name: 4, children: 1, childElem: 1}, {name: 1, attrs: 2}}},
		},
		"65536 segments of characters": {
			keys: emptyKey(), values: make([][]byte, 65536), nodes: [][]rawNode{{{name: 4}}},
		},
		"x comes twice in one node": {
			keys:  emptyKey(),
			attrs: [][]rawAttr{{{1, 1, 0}, {3, 1, 0}, {1, 1, 0}}},
			nodes: [][]rawNode{{{name: 4, children: 1, childElem: 1}, {name: 1, attrs: 3}}},
		},
	} {
		all := dctest.Findings(t, r.withNames("x", "__value__", "b", "__root__").seal(0), 100)
		if !slices.ContainsFunc(all, func(f verify.Finding) bool { return strings.Contains(f.String(), want) }) {
			t.Errorf("%q is not among %v", want, all)
		}
	}
}

func TestVerifyDoesNotTakeReadErrorsForDamage(t *testing.T) {
	data := dctest.Build(dctest.SmallDoc(datacenter.LayoutV6X64), dctest.Options{FullCount: 65535, Seal: dctest.SealOptions{Stored: true}})
	want := errors.New("the disk is on fire")
	var last error
	for f, err := range verify.File(t.Context(), failsAt{bytes.NewReader(data), int64(len(data) / 2), want}, int64(len(data)), datacenter.Options{}) {
		if err == nil {
			t.Errorf("finding %v", f)
		}
		last = err
	}
	if !errors.Is(last, want) {
		t.Errorf("%v, want %v", last, want)
	}
}

// failsAt is a reader that fails at one byte.
type failsAt struct {
	r   io.ReaderAt
	at  int64
	err error
}

func (f failsAt) ReadAt(p []byte, off int64) (int, error) {
	if off <= f.at && f.at < off+int64(len(p)) {
		return 0, f.err
	}
	return f.r.ReadAt(p, off)
}

func TestRepackKeepsTheRootsKeys(t *testing.T) {
	doc := dctest.Doc{Root: &dctest.Node{Name: "__root__", Flags: 1, Keys: []string{"k"}, Children: []*dctest.Node{
		{Name: "A", Attrs: []dctest.Attr{{Name: "k", Value: 1}}},
	}}}
	f := mustOpen(t, dctest.Build(doc, dctest.Options{}), datacenter.Options{})
	g := mustOpen(t, repack(t, f, datacenter.WriteOptions{}), datacenter.Options{})
	root, err := g.Root()
	if err != nil || root.Flags() != 1 || root.Keys().String() != "k" {
		t.Errorf("flags %d, keys %v, %v: want 1 and k", root.Flags(), root.Keys(), err)
	}
}

func TestBuilderKeepsItsFirstError(t *testing.T) {
	b, err := datacenter.NewBuilder([]string{"a"}, datacenter.WriteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	b.Begin("a", nil, 0)
	b.Int("unknown", 1)
	b.Int("unknown too", 1)
	b.End()
	if err := b.Write(t.Context(), io.Discard); err == nil || !strings.Contains(err.Error(), `"unknown"`) {
		t.Errorf("err = %v", err)
	}
}
