package casc_test

import (
	"testing"

	"lorefs/casc/casctest/write"
	"lorefs/casc/internal/root/diablo3"
	"lorefs/casc/internal/root/mndx"
	"lorefs/casc/internal/root/overwatch"
	"lorefs/casc/internal/root/text"
	"lorefs/casc/internal/root/tvfs"
	"lorefs/casc/internal/root/wow"
	"lorefs/casc/keys"
	"lorefs/casc/root"
)

// drain runs through the files of a root, and fails if there are more than it can name.
func drain(t *testing.T, r root.Root, err error, size int) {
	t.Helper()
	if err != nil {
		return
	}
	n := 0
	for f, err := range r.Files() {
		if err != nil {
			return
		}
		if f.Name == "" && !f.HasID && !f.HasHash {
			t.Fatalf("a file without any name: %+v", f)
		}
		if n++; n > 100*size+1000 {
			t.Fatalf("%d files of %d bytes", n, size)
		}
	}
}

func fuzzFiles() []root.File {
	g := newGame()
	for i, name := range []string{"a", "b/c", "b/d.txt"} {
		g.Put(name, nil, g.Add([]byte{byte(i)}))
	}
	return g.Files()
}

func FuzzWoWRoot(f *testing.F) {
	for version := range 4 {
		f.Add(write.WoWRoot(version, fuzzFiles()))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := wow.Parse(data)
		drain(t, r, err, len(data))
	})
}

func FuzzTVFS(f *testing.F) {
	f.Add(write.TVFS(fuzzFiles()))
	f.Fuzz(func(_ *testing.T, data []byte) {
		r, err := tvfs.Parse(data, nil)
		if err != nil {
			return
		}
		for f, err := range r.Files() {
			if err != nil || len(f.Spans) == 0 {
				return
			}
		}
	})
}

func FuzzDiablo3(f *testing.F) {
	entries := []write.Diablo3Entry{{Name: "CoreTOC.dat"}, {Name: "Data_D3/PC/Misc/Packages.dat"}, {ID: 1}, {ID: 2, Numbered: true}}
	f.Add(write.Diablo3([]write.Diablo3Entry{{Name: "Base"}}), write.Diablo3Folder(entries), write.CoreTOC(3, map[uint32]string{1: "x"}))
	f.Fuzz(func(t *testing.T, root, folder, names []byte) {
		r, err := diablo3.Parse(root, &inTurn{root: folder, rest: names})
		drain(t, r, err, (len(root)+1)*(len(folder)+1))
	})
}

// inTurn is a loader that returns one file first, and another from then on.
type inTurn struct{ root, rest []byte }

func (l *inTurn) Content(keys.Key) ([]byte, error) {
	b := l.root
	l.root = l.rest
	return b, nil
}

func (l *inTurn) Encoded([]byte) ([]byte, error) { return l.Content(keys.Key{}) }

func FuzzMNDX(f *testing.F) {
	f.Add(write.MNDX(2, []write.MNDXFile{{Package: "p", Name: "n", CKey: keys.Key{1}}, {Package: "q", Name: "n"}, {Package: "q", Name: "nm"}}))
	f.Fuzz(func(_ *testing.T, data []byte) {
		r, err := mndx.Parse(data)
		if err != nil {
			return
		}
		n := 0
		for _, err := range r.Files() {
			if n++; err != nil || n > len(data) {
				break
			}
		}
	})
}

func FuzzTextRoots(f *testing.F) {
	f.Add(write.TextRoot(fuzzFiles()), []byte("1;x\ny\n"))
	f.Add(write.Overwatch(fuzzFiles()), []byte("# x\r\n"))
	f.Fuzz(func(t *testing.T, data, list []byte) {
		r, err := text.Parse(data)
		drain(t, r, err, len(data))
		o, err := overwatch.Parse(data, nil)
		drain(t, o, err, len(data))
		names, err := root.ParseListFile(list)
		if err != nil {
			return
		}
		for id := range uint32(100) {
			_ = names.Name(&root.File{ID: id, HasID: true, NameHash: uint64(id), HasHash: true})
		}
	})
}
