package dckind_test

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lorefs/cmd/internal/kinds"
	"lorefs/cmd/internal/kinds/dckind"
	"lorefs/cmd/internal/save"
	"lorefs/datacenter/dctest"
	"lorefs/datacenter/edit"
)

// TestSavedFileIsReadThroughTheCache edits a file after a save. What the file has there is read
// through the cache of the source, which holds all its blocks: they are not inflated for each list.
func TestSavedFileIsReadThroughTheCache(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	const sheets, size = 64, 60_000 // each text is nearly as long as a segment
	var list []*dctest.Node
	for i := range sheets {
		text := strings.Repeat(string(rune('A'+i)), size)
		list = append(list, &dctest.Node{Name: "Sheet", Attrs: []dctest.Attr{{Name: "text", Value: text}}})
	}
	path := filepath.Join(t.TempDir(), "a.dat")
	if err := os.WriteFile(path, dctest.Build(dctest.Doc{Root: dctest.Root(list...)}, dctest.Options{}), 0o600); err != nil {
		t.Fatal(err)
	}
	s := openToEdit(t, path)
	defer s.Close()
	apply := func(edits ...edit.Edit) {
		t.Helper()
		if err := dckind.Draft(s).Apply(t.Context(), edits...); err != nil {
			t.Fatal(err)
		}
	}
	apply(edit.Edit{Op: edit.SetFlags, Node: 1, Flags: 3})
	if _, err := s.Sessions[0].Save(t.Context(), save.How{}, func(save.Progress) {}); err != nil {
		t.Fatal(err)
	}
	var removals []edit.Edit
	for i := range sheets {
		removals = append(removals, edit.Edit{Op: edit.RemoveAttribute, Node: edit.Number(1 + 2*i), Name: "text"})
	}
	apply(removals...)

	before := s.Blocks.Stats()
	WriteEdits(t, s, io.Discard)
	first := s.Blocks.Stats()
	if first.Hits+first.Loads == before.Hits+before.Loads {
		t.Error("the saved file is not read through the cache of the source")
	}
	var text bytes.Buffer
	WriteEdits(t, s, &text)
	const blocks = 2 * sheets * size >> 20 // of its texts alone
	if first.Blocks < blocks {
		t.Errorf("%d blocks are in the cache, want %d at least: the file is too small to show anything", first.Blocks, blocks)
	}
	// The journal's notes may need a block that no list does.
	if second := s.Blocks.Stats(); second.Loads-first.Loads > blocks/2 || second.Evictions > 0 {
		t.Errorf("%d blocks were loaded again, %d were dropped", second.Loads-first.Loads, second.Evictions)
	}
	if n := strings.Count(text.String(), "\n"); n != sheets {
		t.Errorf("%d edits are listed, want %d", n, sheets)
	}
}

func WriteEdits(t *testing.T, s *kinds.Source, w io.Writer) {
	t.Helper()
	if err := s.WriteEdits(t.Context(), w, kinds.EditsText, ""); err != nil {
		t.Fatal(err)
	}
}
