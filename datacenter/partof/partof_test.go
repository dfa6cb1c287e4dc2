package partof_test

import (
	"errors"
	iofs "io/fs"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"lorefs/datacenter/partof"
)

// of is a data center with three kinds, of which b has eight sheets.
var of = partof.Origin{Name: "x.dat", Revision: 7, Kinds: 3, Sheets: 10, Nodes: 100, Attributes: 200}

// folder returns a folder with a mark.
func folder(t *testing.T, m *partof.Mark) fstest.MapFS {
	t.Helper()
	text, err := m.Append(nil)
	if err != nil {
		t.Fatal(err)
	}
	return fstest.MapFS{partof.File: {Data: text}}
}

// export returns an export of sheets of b, and of all sheets of others.
func export(b []uint32, others ...string) partof.Export {
	e := partof.Export{Of: of, Kinds: map[string]partof.Numbers{}}
	if b != nil {
		e.Kinds["b"] = partof.NumbersOf(b, 8)
	}
	for _, kind := range others {
		e.Kinds[kind] = partof.NumbersOf([]uint32{0}, 1)
	}
	return e
}

// TestMark notes exports one after the other, and reads what is known then.
func TestMark(t *testing.T) {
	other := export(nil, "a")
	other.Of.Name = "y.dat"
	for name, tt := range map[string]struct {
		exports []partof.Export
		text    string // what b has
		whole   bool
		kinds   []string
	}{
		"nothing":              {nil, "none of 0", false, nil},
		"none of b yet":        {[]partof.Export{export([]uint32{})}, "none of 8", false, []string{"b"}},
		"some of b":            {[]partof.Export{export([]uint32{0, 1, 2, 5, 7})}, "0-2,5,7 of 8", false, []string{"b"}},
		"more of b":            {[]partof.Export{export([]uint32{0, 5}), export([]uint32{1, 3, 6})}, "0-1,3,5-6 of 8", false, []string{"b"}},
		"all of b":             {[]partof.Export{export([]uint32{0, 1, 2, 3, 4, 5, 6, 7}), export([]uint32{})}, "all", false, []string{"b"}},
		"the rest of b counts": {[]partof.Export{export([]uint32{0, 1, 2, 3}), export([]uint32{4, 5, 6, 7})}, "all", false, []string{"b"}},
		"another kind":         {[]partof.Export{export(nil, "a")}, "none of 0", false, []string{"a"}},
		"all, bit by bit":      {[]partof.Export{export(nil, "a"), export([]uint32{0, 1, 2, 3, 4, 5, 6, 7}), export(nil, "c")}, "all", true, []string{"a", "b", "c"}},
		"two data centers":     {[]partof.Export{export([]uint32{3}), other}, "3 of 8", false, []string{"a", "b"}},
		"a lone surrogate":     {[]partof.Export{export(nil, "a\xed\xa0\x80")}, "none of 0", false, []string{"a\uFFFD"}},
	} {
		t.Run(name, func(t *testing.T) {
			m := &partof.Mark{}
			for _, e := range tt.exports {
				m.Add(e)
			}
			got, err := partof.Read(folder(t, m))
			if err != nil {
				t.Fatal(err)
			}
			text, err := got.Sheets("b").MarshalText()
			if err != nil || string(text) != tt.text {
				t.Errorf("of b there is %q, %v: want %q", text, err, tt.text)
			}
			if got.Whole() != tt.whole {
				t.Errorf("Whole is %v", got.Whole())
			}
			if kinds := got.Kinds(); !slices.Equal(kinds, tt.kinds) {
				t.Errorf("the kinds are %q, want %q", kinds, tt.kinds)
			}
			for i := range uint32(9) {
				want := tt.text == "all" || got.Sheets("b").Has(i)
				if m.Sheets("b").Has(i) != want {
					t.Errorf("sheet %d: %v", i, !want)
				}
			}
		})
	}
}

// TestMarkOfAll replaces what was known of other data centers by all of one.
func TestMarkOfAll(t *testing.T) {
	m := &partof.Mark{}
	m.Add(export([]uint32{3}))
	whole := export([]uint32{0, 1, 2, 3, 4, 5, 6, 7}, "a", "c")
	whole.Of.Nodes++
	m.Add(whole)
	if !m.Whole() || len(m.Exports) != 1 || m.Of() != whole.Of {
		t.Errorf("%+v", m)
	}
}

func TestReadNothing(t *testing.T) {
	if m, err := partof.Read(fstest.MapFS{}); m != nil || err != nil {
		t.Errorf("%v, %v", m, err)
	}
	if _, err := partof.Read(fstest.MapFS{partof.File: {Mode: iofs.ModeDir}}); err == nil {
		t.Error("a folder is taken for a mark")
	}
}

// TestReadWrong reads marks that nobody can have written. A wrong one is never taken for none: what is missing
// would be removed.
func TestReadWrong(t *testing.T) {
	for name, text := range map[string]string{
		"nothing":     "",
		"no JSON":     "{",
		"no format":   "{}",
		"a later one": `{"format": 2}`,
		"no numbers":  `{"format": 1, "exports": [{"kinds": {"a": "x of 3"}}]}`,
		"backwards":   `{"format": 1, "exports": [{"kinds": {"a": "3-1 of 4"}}]}`,
		"no total":    `{"format": 1, "exports": [{"kinds": {"a": "1"}}]}`,
		"too high":    `{"format": 1, "exports": [{"kinds": {"a": "4294967296 of 3"}}]}`,
		"too long":    `{"format": 1}` + strings.Repeat(" ", 1<<20),
	} {
		if m, err := partof.Read(fstest.MapFS{partof.File: {Data: []byte(text)}}); err == nil || !strings.Contains(err.Error(), partof.File) {
			t.Errorf("%s: %+v, %v", name, m, err)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"format": 1, "exports": [{"of": {"name": "x", "kinds": 2}, "kinds": {"a": "all", "b": "0-3,7,5,6,4294967295 of 9", "c": "none of 4294967295"}}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := partof.Read(fstest.MapFS{partof.File: {Data: text}})
		if err != nil {
			return
		}
		again, err := partof.Read(folder(t, m))
		if err != nil {
			t.Fatal(errors.Join(err, errors.New(string(text))))
		}
		for _, kind := range m.Kinds() {
			if !reflect.DeepEqual(m.Sheets(kind), again.Sheets(kind)) {
				t.Errorf("%s: %+v, then %+v", kind, m.Sheets(kind), again.Sheets(kind))
			}
		}
	})
}
