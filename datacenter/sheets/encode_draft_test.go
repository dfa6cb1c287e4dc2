package sheets_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"lorefs/datacenter"
	"lorefs/datacenter/dctest"
	"lorefs/datacenter/edit"
	"lorefs/datacenter/sheets"
	"lorefs/internal/testneeds/property"
)

// editing is a draft that a test edits, and its sheets.
type editing struct {
	t     *rapid.T
	file  *datacenter.File
	draft *edit.Draft
	src   *sheets.Source
	// nodes maps nodes that exist to their depth.
	nodes map[edit.Number]int
	next  uint32
}

// TestDraftShowsWhatIsWritten checks that a draft shows, after each edit, the same as the
// file that is written of it, to readers of whole sheets and of parts.
func TestDraftShowsWhatIsWritten(t *testing.T) {
	files := [][]byte{}
	for _, data := range sources() {
		if f := dctest.Open(t, data); f.Counts().Nodes < 4000 {
			if _, err := edit.NewDraft(f, nil); err == nil {
				files = append(files, data)
			}
		}
	}
	property.Check(t, func(t *rapid.T) {
		data := files[rapid.IntRange(0, len(files)-1).Draw(t, "file")]
		f, err := datacenter.Open(context.Background(), bytes.NewReader(data), int64(len(data)), datacenter.Options{})
		if err != nil {
			t.Fatal(err)
		}
		e := &editing{t: t, file: f, nodes: map[edit.Number]int{}, next: 1 << 20}
		if e.draft, err = edit.NewDraft(f, nil); err != nil {
			t.Fatal(err)
		}
		if e.src, err = sheets.New(f, e.draft, sheets.Options{}); err != nil {
			t.Fatal(err)
		}
		e.find(0, 0)
		for range rapid.IntRange(1, 6).Draw(t, "edits") {
			e.edit()
			if rapid.Bool().Draw(t, "look") {
				e.look()
			}
		}
		e.compare()
	})
}

// find collects some nodes.
func (e *editing) find(n edit.Number, depth int) {
	const many = 60
	if len(e.nodes) > many || depth > 4 || e.draft.Open(n) != nil {
		return
	}
	if n != 0 {
		e.nodes[n] = depth
	}
	entries, _ := e.draft.List(n, 0, 12, nil)
	for _, entry := range entries {
		if !entry.Attribute {
			e.find(entry.Number, depth+1)
		}
	}
}

func (e *editing) node() edit.Number {
	return rapid.SampledFrom(slices.Sorted(maps.Keys(e.nodes))).Draw(e.t, "node")
}

func (e *editing) name() string {
	return rapid.SampledFrom([]string{"Alpha", "beta", "new name", "몬스터", "id", "Zeta"}).Draw(e.t, "name")
}

func (e *editing) value() datacenter.Value {
	v, err := datacenter.InferValue(rapid.SampledFrom([]string{"1", "0.5", "true", "text <&>", "", " ", "\x01\\", "12", "a\nb"}).Draw(e.t, "value"))
	if err != nil {
		e.t.Fatal(err)
	}
	return v
}

// edit tries one edit.
func (e *editing) edit() {
	parent := edit.Number(0)
	if len(e.nodes) > 0 && rapid.Bool().Draw(e.t, "deep") {
		parent = e.node()
	}
	kind := rapid.IntRange(0, 6).Draw(e.t, "kind")
	if len(e.nodes) == 0 {
		kind = 0
	}
	e.next++
	var change edit.Edit
	switch kind {
	case 0, 1:
		change = edit.Edit{Op: edit.AddNode, Node: e.draft.NewNumber(), Parent: parent, Name: e.name(), Ordinal: e.next}
		e.nodes[change.Node] = e.nodes[parent] + 1
	case 2:
		change = edit.Edit{Op: edit.SetAttribute, Node: e.node(), Name: e.name(), Value: e.value()}
	case 3:
		text, err := datacenter.StringValue(e.value().Text())
		if err != nil {
			e.t.Fatal(err)
		}
		change = edit.Edit{Op: edit.SetAttribute, Node: e.node(), Name: dctest.ValueName, Value: text}
	case 4:
		change = edit.Edit{Op: edit.RemoveNode, Node: e.node()}
	case 5:
		change = edit.Edit{Op: edit.MoveNode, Node: e.node(), Parent: parent, Name: e.name(), Ordinal: e.next}
	case 6:
		change = edit.Edit{Op: edit.SetKeys, Node: e.node(), Keys: datacenter.KeyDefinition{"id"}}
	}
	if err := e.draft.Apply(context.Background(), change); err != nil && kind < 2 {
		delete(e.nodes, change.Node)
	}
	for n := range e.nodes {
		if _, ok := e.draft.Node(n); !ok {
			delete(e.nodes, n)
		}
	}
}

// look reads a part of each sheet, so that caches can be out of date after the next edit.
func (e *editing) look() {
	p := make([]byte, 100)
	for _, f := range e.src.Families() {
		for sheet := range f.Sheets(0) {
			size, err := e.src.Size(context.Background(), sheet)
			if err != nil {
				e.t.Fatalf("%s %d: %v", sheet.Name, sheet.Ordinal, err)
			}
			if _, err := e.src.ReadAt(context.Background(), sheet, p, size/2); err != nil && err != io.EOF { //nolint:errorlint // io.EOF must not be wrapped
				e.t.Fatal(err)
			}
		}
	}
}

// compare writes the draft and compares the sheets. It compares only their data, since the
// schemas may differ: those of the draft grow, and those of the file are new.
func (e *editing) compare() {
	var out bytes.Buffer
	s := e.draft.Snapshot()
	defer s.Close()
	_, err := s.Write(context.Background(), datacenter.WriteOptions{}, &out)
	if err != nil {
		e.t.Fatal(err)
	}
	// A file of few nodes may look like one of another layout, too.
	opts := datacenter.Options{Layout: e.file.Layout()}
	f, err := datacenter.Open(context.Background(), bytes.NewReader(out.Bytes()), int64(out.Len()), opts)
	if err != nil {
		e.t.Fatal(err)
	}
	written, err := sheets.New(f, nil, sheets.Options{})
	if err != nil {
		e.t.Fatal(err)
	}
	got, want := e.texts(e.src), e.texts(written)
	if !slices.Equal(got, want) {
		e.t.Fatalf("the draft shows\n%s\nbut writes\n%s", strings.Join(got, ""), strings.Join(want, ""))
	}
}

// texts returns all sheets, sorted: siblings with keys get their places when they are
// written.
func (e *editing) texts(s *sheets.Source) []string {
	var all []string
	for _, f := range s.Families() {
		for sheet := range f.Sheets(0) {
			var text bytes.Buffer
			n, err := s.WriteSheet(context.Background(), &text, sheet)
			if err != nil {
				e.t.Fatalf("%s %d: %v", sheet.Name, sheet.Ordinal, err)
			}
			e.parts(s, sheet, text.String())
			if size, err := s.Size(context.Background(), sheet); size != n || err != nil {
				e.t.Fatalf("%s %d: size %d, %v, want %d", sheet.Name, sheet.Ordinal, size, err, n)
			}
			all = append(all, fmt.Sprintf("%s: %s", f.Name, schemaDependent.ReplaceAllString(text.String(), "")))
		}
	}
	slices.Sort(all)
	return all
}

// parts reads a sheet piece by piece.
func (e *editing) parts(s *sheets.Source, sheet sheets.Sheet, want string) {
	var got []byte
	p := make([]byte, 777)
	for {
		n, err := s.ReadAt(context.Background(), sheet, p, int64(len(got)))
		got = append(got, p[:n]...)
		if err != nil {
			break
		}
	}
	if string(got) != want {
		e.t.Fatalf("%s %d read in parts is\n%s\nwant\n%s", sheet.Name, sheet.Ordinal, got, want)
	}
}

// schemaDependent matches the attributes that depend on the schema.
var schemaDependent = regexp.MustCompile(` (dc:keys|dc:types|xmlns:dc)="[^"]*"`)

// TestSheetsThatComeBack checks that a sheet that was removed, and is taken back, is in its place
// with its text.
func TestSheetsThatComeBack(t *testing.T) {
	f := dctest.Open(t, dctest.Build(dctest.Generate(dctest.GenOptions{Seed: 5, Sheets: 6, Nodes: 300}), dctest.Options{}))
	d, err := edit.NewDraft(f, nil)
	if err != nil {
		t.Fatal(err)
	}
	src, err := sheets.New(f, d, sheets.Options{})
	if err != nil {
		t.Fatal(err)
	}
	texts := func() map[edit.Number]string {
		all := map[edit.Number]string{}
		for _, family := range src.Families() {
			for s := range family.Sheets(0) {
				var b bytes.Buffer
				if _, err := src.WriteSheet(t.Context(), &b, s); err != nil {
					t.Fatal(err)
				}
				all[s.Number] = family.SheetFile(s.Ordinal) + b.String()
				if found, ok := src.Sheet(s.Number); !ok || found != s {
					t.Errorf("sheet %d is %+v, %v, want %+v", s.Number, found, ok, s)
				}
			}
		}
		return all
	}
	want := texts()
	for n := range want {
		if err := d.Apply(t.Context(), edit.Edit{Op: edit.RemoveNode, Node: n}); err != nil {
			t.Fatal(err)
		}
	}
	if got := texts(); len(got) > 0 {
		t.Errorf("%d sheets are left", len(got))
	}
	if _, err := d.Revert(t.Context(), nil, []edit.Target{{}}); err != nil {
		t.Fatal(err)
	}
	if got := texts(); !maps.Equal(got, want) {
		t.Errorf("there are %d sheets, want %d as they were", len(got), len(want))
	}
}
