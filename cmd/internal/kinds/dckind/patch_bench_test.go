package dckind_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"lorefs/cmd/internal/kinds"
	"lorefs/cmd/internal/kinds/dckind"
	"lorefs/cmd/internal/kinds/registry"
	"lorefs/cmd/internal/save"
	"lorefs/datacenter"
	"lorefs/datacenter/edit"
	"lorefs/datacenter/patch"
	"lorefs/internal/testneeds"
)

// BenchmarkApplyPatches compares a patch of 1,000 values in 50 sheets, on a large file, with two
// saves of one value, side by side: one that splices ("ratio"), and one that packs the whole file
// ("packed-ratio"). All times are from the patch's text to the end of the save; the ratios are
// those of the shortest ones, since other programs only add to them.
func BenchmarkApplyPatches(b *testing.B) {
	b.Setenv("XDG_STATE_HOME", b.TempDir())
	path := filepath.Join(b.TempDir(), "a.dat")
	fixture := testneeds.Fixture(b, "datacenter/p100_x64.dat")
	var one, many []byte
	edited(b, fixture, path, func(s *kinds.Source) {
		d, _ := dckind.Of(s)
		one, many = patchOf(b, d.File(), 1, 1), patchOf(b, d.File(), 50, 1000)
	})
	saves := []struct {
		text []byte
		how  save.How
		took time.Duration
	}{
		{text: many, how: save.How{Last: true}},
		{text: one, how: save.How{Last: true}},
		{text: one, how: save.How{Last: true, Repack: true}},
	}
	for b.Loop() {
		for i := range saves {
			edited(b, fixture, path, func(s *kinds.Source) {
				x := &saves[i]
				if took := applyPatch(b, s, x.text, x.how); x.took == 0 || took < x.took {
					x.took = took
				}
			})
		}
	}
	b.ReportMetric(saves[0].took.Seconds()/saves[1].took.Seconds(), "ratio")
	b.ReportMetric(saves[0].took.Seconds()/saves[2].took.Seconds(), "packed-ratio")
}

// applyPatch applies a patch and saves the file. It returns how long that took.
func applyPatch(b *testing.B, s *kinds.Source, text []byte, how save.How) time.Duration {
	b.Helper()
	begin := time.Now()
	p, err := patch.Parse("mod", text)
	if err != nil {
		b.Fatal(err)
	}
	done, err := dckind.ApplyPatches(b.Context(), s, &dckind.Patching{Patches: []*patch.Patch{p}})
	if err != nil || done.Results[0].Conflicts > 0 {
		b.Fatal(done.Results[0].Conflicts, err)
	}
	planned := time.Since(begin)
	if _, failed := s.Save(b.Context(), how, func(save.Progress) {}); failed != nil {
		b.Fatal(failed)
	}
	all := time.Since(begin)
	b.Logf("%d bytes of patch, packed %t: %v, applied after %v", len(text), how.Repack, all, planned)
	return all
}

// edited opens a copy of a file for edits.
func edited(b *testing.B, fixture, path string, do func(*kinds.Source)) {
	b.Helper()
	text, err := os.ReadFile(fixture)
	if err == nil {
		err = os.WriteFile(path, text, 0o600)
	}
	if err != nil {
		b.Fatal(err)
	}
	k, err := registry.Find(b.Context(), path, "", &kinds.Options{})
	if err != nil {
		b.Fatal(err)
	}
	opts := &kinds.Options{CacheSize: 256 << 20, NoIndex: true}
	opts.DataCenter.Keys = datacenter.DefaultKeys()
	s, err := k.Open(b.Context(), path, opts)
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	if err := s.Edit(b.Context(), kinds.EditOptions{NoBackup: true}); err != nil {
		b.Fatal(err)
	}
	do(s)
}

// patchOf returns the text of a patch that changes values in some sheets.
func patchOf(b *testing.B, f *datacenter.File, sheets, values int) []byte {
	b.Helper()
	root, err := f.Root()
	if err != nil {
		b.Fatal(err)
	}
	var edits []edit.Edit
	number, place := edit.Number(1), 0
	each, stride := values/sheets, root.ChildCount()/(8*sheets)
	for sheet, err := range root.Children() {
		if err != nil {
			b.Fatal(err)
		}
		if place++; place%stride == 0 && len(edits) < values {
			if all := ints(b, sheet, number, nil); len(all) >= each {
				for i := range each {
					edits = append(edits, all[i*len(all)/each])
				}
			}
		}
		number += edit.Number(sheet.Entries())
	}
	if len(edits) != values {
		b.Fatalf("%d values, want %d", len(edits), values)
	}
	d, err := edit.NewDraft(f, nil)
	if err == nil {
		err = d.Apply(b.Context(), edits...)
	}
	if err != nil {
		b.Fatal(err)
	}
	snapshot := d.Snapshot()
	defer snapshot.Close()
	p, err := patch.MakeDraft(b.Context(), snapshot, "")
	if err != nil {
		b.Fatal(err)
	}
	return p.Append(nil)
}

// ints appends an edit of each number below a node that identifies nothing.
func ints(b *testing.B, n datacenter.Node, number edit.Number, edits []edit.Edit) []edit.Edit {
	b.Helper()
	for a, err := range n.Attributes() {
		if err != nil {
			b.Fatal(err)
		}
		if a.Type() == datacenter.Int && a.Name() != "id" && !slices.Contains(n.Keys(), a.Name()) {
			edits = append(edits, edit.Edit{
				Op: edit.SetAttribute, Node: number, Name: a.Name(), Value: datacenter.IntValue(a.Int() ^ 1<<20),
			})
		}
	}
	number += 1 + edit.Number(n.AttributeCount())
	for c, err := range n.Children() {
		if err != nil {
			b.Fatal(err)
		}
		edits = ints(b, c, number, edits)
		number += edit.Number(c.Entries())
	}
	return edits
}
