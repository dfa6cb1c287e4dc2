package casctree_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"lorefs/blte"
	"lorefs/casc"
	"lorefs/casc/casctest"
	"lorefs/casc/casctest/write"
	"lorefs/casc/keys"
	"lorefs/casc/root"
	"lorefs/nodes"
	"lorefs/nodes/casctree"
)

// TestTrace traces the files of the fixtures: keys, sizes, numbers and languages are those
// that their maker lists, and the encoded file is where Trace says.
func TestTrace(t *testing.T) {
	for _, kind := range someSynthetics() {
		s := loadSynthetic(t, kind)
		tree := s.tree(t, casc.Options{}, casctree.Options{Missing: true})
		for _, f := range s.Files {
			name := s.mountPath(f.Shown())
			e, err := lookup(t.Context(), tree, name)
			if err != nil {
				continue // TestSyntheticManifests tells
			}
			tr, err := tree.Trace(t.Context(), e.ID)
			if err != nil || !strings.EqualFold(tr.Path, name) || tr.Size != f.Size {
				t.Errorf("%s: %s: %+v, %v", kind, name, tr, err)
				continue
			}
			if f.CKey != "" && len(tr.Forms) > 0 && len(tr.Forms[0]) == 1 && tr.CKey.String() != f.CKey {
				t.Errorf("%s: %s: content key %v, want %s", kind, name, tr.CKey, f.CKey)
			}
			if tr.NRows < 1 || len(tr.Rows) == 0 {
				t.Errorf("%s: %s: no row of the root", kind, name)
			} else if f.FDID != 0 && !slices.ContainsFunc(tr.Rows, func(r root.File) bool {
				return r.ID == f.FDID && uint32(r.Locale) == f.Locale && uint32(r.Flags) == f.CFlags
			}) {
				t.Errorf("%s: %s: rows %+v, want number %d, %#x, %#x", kind, name, tr.Rows, f.FDID, f.Locale, f.CFlags)
			}
			for _, span := range slices.Concat(tr.Forms...) {
				// Of the file with two forms its maker lists one.
				if key := span.EKey.String(); len(tr.Forms) == 1 && span.KeySize == 16 && !slices.Contains(f.EKeys, key) {
					t.Errorf("%s: %s: encoding key %s, want one of %v", kind, name, key, f.EKeys)
				}
				checkPlace(t, s.Store, kind+": "+name, span)
			}
			switch f.Kind {
			case "EMISS":
				if !errors.Is(tr.Err, nodes.ErrNoKey) || len(tr.Gaps) == 0 {
					t.Errorf("%s: %s: %v, %v", kind, name, tr.Gaps, tr.Err)
				}
			default:
				if tr.Err != nil && !errors.Is(tr.Err, nodes.ErrUnavailable) || len(tr.Gaps) > 0 {
					t.Errorf("%s: %s: %v, %v", kind, name, tr.Gaps, tr.Err)
				}
			}
		}
	}
}

// checkPlace checks that the header at a place has the encoding key.
func checkPlace(t *testing.T, store write.Files, name string, span casctree.TracedSpan) {
	t.Helper()
	if span.Archive == "" {
		return
	}
	for file, data := range store {
		if !strings.HasSuffix(file, "/"+span.Archive) {
			continue
		}
		key, err := blte.FileKey(data[span.Off:][:span.Size])
		if err != nil || !bytes.HasPrefix(key[:], span.EKey[:span.KeySize]) {
			t.Errorf("%s: at %s, %#x is %x, %v; want %v", name, span.Archive, span.Off, key, err, span.EKey)
		}
		return
	}
	t.Errorf("%s: no archive %s", name, span.Archive)
}

// TestTraceOdd traces files of several spans and forms, one that the encoding file does not
// have, and nodes that are no files of the archives.
func TestTraceOdd(t *testing.T) {
	g := casctest.New()
	text := []byte("in two forms")
	s := g.AddChunks("n", blte.WriteOptions{}, blte.Chunk{Content: text})
	g.Add(text)
	unknown := keys.Key{1, 2, 3}
	g.Root(g.Add(write.TextRoot([]root.File{{Name: "two", CKey: s.CKey}, {Name: "too", CKey: s.CKey}, {Name: "unknown", CKey: unknown}})))
	files, err := g.Install()
	if err != nil {
		t.Fatal(err)
	}
	tree := open(t, casctest.FS(files), casc.Options{}, casctree.Options{Missing: true})
	trace := func(name string) (casctree.Traced, error) {
		e, err := lookup(t.Context(), tree, name)
		if err != nil {
			t.Fatal(err)
		}
		return tree.Trace(t.Context(), e.ID)
	}
	if tr, err := trace("files/two"); err != nil || len(tr.Forms) != 2 || tr.CKey != s.CKey || tr.NRows != 1 || tr.Rows[0].Name != "two" || tr.Err != nil {
		t.Errorf("two forms: %+v, %v", tr, err)
	}
	key := s.CKey.String()
	if tr, err := trace("content/" + key[:2] + "/" + key); err != nil || tr.NRows != 2 || tr.CKey != s.CKey {
		t.Errorf("by its key: %+v, %v", tr, err)
	}
	if tr, err := trace("files/unknown"); err != nil || len(tr.Forms) != 0 || tr.CKey != unknown || tr.NRows != 1 || !errors.Is(tr.Err, nodes.ErrUnavailable) {
		t.Errorf("unknown: %+v, %v", tr, err)
	}
	for _, name := range []string{"files", "casc.json", "config", "content", "content/00"} {
		if tr, err := trace(name); !errors.Is(err, nodes.ErrInvalid) {
			t.Errorf("%s: %+v, %v", name, tr, err)
		}
	}
	if _, err := tree.Trace(t.Context(), 1<<62); err == nil {
		t.Error("no node")
	}
}
