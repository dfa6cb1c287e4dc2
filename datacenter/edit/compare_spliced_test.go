package edit_test

import (
	"bytes"
	"errors"
	"testing"

	"lorefs/datacenter"
	"lorefs/datacenter/edit"
)

// TestCompareSplicedDiffers splices one file with pairs of different edits. Each result must be found
// to differ from what the other edits were to make.
func TestCompareSplicedDiffers(t *testing.T) {
	data := outOfOrder(t)
	text := func(s string) datacenter.Value {
		v, err := datacenter.StringValue(s)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	name := func(n edit.Number, s string) []edit.Edit {
		return []edit.Edit{{Op: edit.SetAttribute, Node: n, Name: "name", Value: text(s)}}
	}
	flags := []edit.Edit{{Op: edit.SetFlags, Node: itemA1, Flags: 1}}
	removed := func(n edit.Number) []edit.Edit { return []edit.Edit{{Op: edit.RemoveNode, Node: n}} }
	for what, pair := range map[string][2][]edit.Edit{
		"values":     {name(itemA1, "x"), name(itemA1, "y")},
		"places":     {name(itemA1, "x"), name(itemA4, "x")},
		"a flag":     {flags, name(itemA1, "item 1 ")},
		"removed":    {removed(itemA1), removed(itemA4)},
		"attributes": {{{Op: edit.RemoveAttribute, Node: itemA1, Name: "name"}}, {{Op: edit.RemoveAttribute, Node: itemA4, Name: "name"}}},
	} {
		t.Run(what, func(t *testing.T) {
			var written [2]*edit.Written
			var files [2]*datacenter.File
			for i, edits := range pair {
				written[i], files[i] = splicedWith(t, data, edits)
			}
			for i, w := range written {
				if err := w.CompareSpliced(t.Context(), files[i]); err != nil {
					t.Error(err)
				}
				if err := w.CompareSpliced(t.Context(), files[1-i]); !errors.Is(err, edit.ErrDiffers) {
					t.Errorf("compared with the other file: %v", err)
				}
			}
		})
	}
}

// splicedWith splices a file with edits.
func splicedWith(t *testing.T, data []byte, edits []edit.Edit) (*edit.Written, *datacenter.File) {
	t.Helper()
	d, err := edit.NewDraft(openBlocks(t, data), nil)
	if err == nil {
		err = d.Apply(t.Context(), edits...)
	}
	if err != nil {
		t.Fatal(err)
	}
	s := d.Snapshot()
	t.Cleanup(s.Close)
	var out bytes.Buffer
	w, spliced, err := s.Splice(t.Context(), datacenter.WriteOptions{}, &out)
	if err != nil {
		t.Fatal(err)
	}
	g, err := spliced.Open(bytes.NewReader(out.Bytes()), int64(out.Len()), datacenter.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return w, g
}
