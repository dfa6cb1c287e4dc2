package sheets

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"testing"

	"lorefs/datacenter"
	"lorefs/datacenter/dctest"
	"lorefs/internal/testneeds"
)

// paper is a Restarter.
type paper struct {
	bytes.Buffer
	restarts int
	err      error
}

func (p *paper) Restart() error {
	p.restarts++
	p.Reset()
	return p.err
}

// writtenFiles returns files whose sheets are written before they are measured: with shared runs,
// long runs, large sheets, and all that needs the extra namespace.
func writtenFiles(t *testing.T) (files []*datacenter.File) {
	t.Helper()
	for seed := range uint64(6) {
		doc := dctest.Generate(dctest.GenOptions{Seed: seed, Sheets: 12, Nodes: 6000})
		files = append(files, dctest.Open(t, dctest.Build(doc, dctest.Options{Placeholders: int(seed % 3)})))
	}
	item := func(attrs ...dctest.Attr) *dctest.Node { return &dctest.Node{Name: "Item", Attrs: attrs} }
	many := slices.Repeat([]*dctest.Node{item(dctest.Attr{Name: "id", Value: 1})}, 20_000)
	late := append(slices.Clone(many), item(dctest.Attr{Name: "id", Value: "text"}))
	sheet := func(kids ...*dctest.Node) *dctest.Node { return &dctest.Node{Name: "S", Children: kids} }
	keyed := item(dctest.Attr{Name: "id", Value: 2})
	keyed.Keys = []string{"id"}
	for _, root := range []*dctest.Node{
		dctest.Root(sheet(many...), sheet(late...), sheet(many...)), // it needs dc:types behind what was written
		dctest.Root(sheet(many...), sheet(keyed)),                   // all others need dc:keys
		dctest.Root(sheet(item(dctest.Attr{Name: "odd name", Value: 1})), sheet(many...)),
		dctest.Root(sheet(item(dctest.Attr{Name: "id", Value: "\x01"})), sheet(), sheet(many...)),
	} {
		files = append(files, dctest.Open(t, dctest.Build(dctest.Doc{Root: root}, dctest.Options{})))
	}
	return files
}

// TestWriteUnmeasured checks that sheets which are written before they are measured have the same
// texts as others, and that this measures them.
func TestWriteUnmeasured(t *testing.T) {
	testneeds.Seconds(t)
	restarts := 0
	for i, f := range writtenFiles(t) {
		measured, err := New(f, nil, Options{})
		if err != nil {
			t.Fatal(err)
		}
		written, err := New(f, nil, Options{})
		if err != nil {
			t.Fatal(err)
		}
		for k, family := range measured.Families() {
			other := written.Families()[k]
			for sheet := range family.Sheets(0) {
				var want bytes.Buffer
				if _, err := measured.WriteSheet(t.Context(), &want, sheet); err != nil {
					t.Fatal(err)
				}
				if is, err := other.Measured(t.Context()); is || err != nil {
					t.Fatalf("file %d, %s: it is measured already, %v", i, family.Name, err)
				}
				got := paper{}
				n, err := written.WriteSheet(t.Context(), &got, sheet)
				if err != nil || n != int64(got.Len()) || !bytes.Equal(got.Bytes(), want.Bytes()) {
					t.Fatalf("file %d, %s %d: %d bytes, %v\n%.1000s, want %d\n%.1000s", i, sheet.Name, sheet.Ordinal, n, err, &got, want.Len(), &want)
				}
				restarts += got.restarts
			}
			if is, err := other.Measured(t.Context()); !is || err != nil {
				t.Fatalf("file %d, %s: it is not measured, %v", i, family.Name, err)
			}
			want, got := family.known(), other.known()
			if !slices.Equal(got.sizes, want.sizes) {
				t.Errorf("file %d, %s: the sizes are %v, want %v", i, family.Name, got.sizes, want.sizes)
			}
		}
	}
	if restarts == 0 {
		t.Error("no sheet was begun anew")
	}
}

// TestRestartFails checks that a sheet which can't be begun anew is no sheet.
func TestRestartFails(t *testing.T) {
	f := dctest.Open(t, dctest.Build(dctest.Doc{Root: dctest.Root(&dctest.Node{Name: "S", Flags: 1})}, dctest.Options{}))
	s, err := New(f, nil, Options{})
	if err != nil {
		t.Fatal(err)
	}
	sheet, _ := s.Families()[0].Named("S-00000.xml")
	p := paper{err: io.ErrShortWrite}
	if _, err := s.WriteSheet(t.Context(), &p, sheet); !errors.Is(err, io.ErrShortWrite) || p.restarts != 1 {
		t.Errorf("%d restarts, %v", p.restarts, err)
	}
	if is, err := s.Families()[0].Measured(t.Context()); is || err != nil {
		t.Errorf("it is measured, %v", err)
	}
}
