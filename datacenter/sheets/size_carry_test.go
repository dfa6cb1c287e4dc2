package sheets_test

import (
	"bytes"
	iofs "io/fs"
	"maps"
	"slices"
	"testing"

	"lorefs/datacenter"
	"lorefs/datacenter/dctest"
	"lorefs/datacenter/edit"
	"lorefs/datacenter/sheets"
)

// TestCarry checks that what is carried over to a spliced file is what would be found out about it,
// and that only the sheets that were touched are not carried over.
func TestCarry(t *testing.T) {
	f := dctest.Open(t, dctest.Build(dctest.Generate(dctest.GenOptions{Seed: 3, Sheets: 30, Nodes: 8000}), dctest.Options{}))
	index := &mapIndex{}
	before := newSource(t, f, nil, sheets.Options{Index: index})
	texts(t, before)
	before.Keep()

	d, err := edit.NewDraft(f, nil)
	if err != nil {
		t.Fatal(err)
	}
	root, err := f.Root()
	if err != nil {
		t.Fatal(err)
	}
	number := edit.Number(1)
	var changed string
	for n, err := range root.Children() {
		if err != nil {
			t.Fatal(err)
		}
		if changed = n.Name(); n.ChildCount() > 2 {
			break
		}
		number += edit.Number(n.Entries())
	}
	text, err := datacenter.StringValue("a text that is new and rather long, so that the size differs")
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Apply(t.Context(), edit.Edit{Op: edit.SetAttribute, Node: number, Name: "id", Value: text}); err != nil {
		t.Fatal(err)
	}
	snapshot := d.Snapshot()
	defer snapshot.Close()
	var file bytes.Buffer
	_, spliced, err := snapshot.Splice(t.Context(), datacenter.WriteOptions{}, &file)
	if err != nil {
		t.Fatal(err)
	}
	if touched := spliced.Sheets(); !slices.Equal(touched, []string{changed}) {
		t.Errorf("touched %q, want %s", touched, changed)
	}
	g, err := spliced.Open(bytes.NewReader(file.Bytes()), int64(file.Len()), datacenter.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := sheets.Carry(index, f, g, sheets.Conservative, spliced.Sheets()); err != nil {
		t.Fatal(err)
	}

	first, carried := index.savedAt(0), index.savedAt(1)
	if len(carried) >= len(first) || len(carried) < len(first)/2 {
		t.Errorf("%d bytes of %d are carried over", len(carried), len(first))
	}

	fresh := &mapIndex{}
	s := newSource(t, g, nil, sheets.Options{Index: fresh})
	want := texts(t, s)
	s.Keep()
	s = newSource(t, g, nil, sheets.Options{Index: index})
	if !maps.Equal(texts(t, s), want) {
		t.Error("what was carried over gives other texts")
	}
	s.Keep()
	if !bytes.Equal(index.savedAt(1), fresh.savedAt(0)) {
		t.Error("what was carried over is not what is found out")
	}
}

// mapIndex is an IndexStore that keeps everything.
type mapIndex struct {
	keys []string
	data map[string][]byte
}

func (m *mapIndex) Load(key string) ([]byte, error) {
	b, ok := m.data[key]
	if !ok {
		return nil, iofs.ErrNotExist
	}
	return bytes.Clone(b), nil
}

func (m *mapIndex) Save(key string, data []byte) error {
	if m.data == nil {
		m.data = map[string][]byte{}
	}
	if _, ok := m.data[key]; !ok {
		m.keys = append(m.keys, key)
	}
	m.data[key] = bytes.Clone(data)
	return nil
}

// savedAt returns what was saved last for the key that was the i-th.
func (m *mapIndex) savedAt(i int) []byte {
	if i >= len(m.keys) {
		return nil
	}
	return m.data[m.keys[i]]
}
