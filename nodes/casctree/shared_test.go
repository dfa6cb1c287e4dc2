package casctree_test

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"lorefs/blte"
	"lorefs/casc"
	"lorefs/casc/casctest"
	"lorefs/casc/casctest/write"
	"lorefs/casc/root"
	"lorefs/nodes/casctree"
)

// tableSize makes the tree of a storage, and returns the size of its table.
func tableSize(t *testing.T, g *casctest.Game) int {
	t.Helper()
	files, err := g.Install()
	if err != nil {
		t.Fatal(err)
	}
	s := newStore()
	open(t, casctest.FS(files), casc.Options{}, casctree.Options{Index: s})
	for _, data := range s.data {
		return len(data)
	}
	t.Fatal("no table was kept")
	return 0
}

// TestSharedSpans has many names of one file of many spans, as a small manifest may: the
// spans are kept once.
func TestSharedSpans(t *testing.T) {
	const names, parts = 5000, 224
	g := casctest.New()
	s := g.Add([]byte("part"))
	span := root.Span{EKey: s.EKey, CKey: s.CKey, Size: s.Size, ContentSize: s.Size}
	f := root.File{Name: "many"}
	for range parts {
		f.Spans = append(f.Spans, span)
	}
	data := write.TVFS([]root.File{f})
	// Its only node is written again and again, with other names.
	be := binary.BigEndian
	off, size := be.Uint32(data[12:]), be.Uint32(data[16:])
	node := data[off : off+size]
	rest := data[off+size:]
	var path []byte
	for i := range names {
		copy(node[1:], fmt.Sprintf("%04x", i))
		path = append(path, node...)
	}
	more := uint32(len(path)) - size
	head := append([]byte{}, data[:off]...)
	be.PutUint32(head[16:], uint32(len(path)))
	for _, at := range []int{20, 28} {
		be.PutUint32(head[at:], be.Uint32(head[at:])+more)
	}
	g.Ref("vfs-root", g.Add(append(append(head, path...), rest...)))
	if got := tableSize(t, g); got > 60*names+parts*24 {
		t.Errorf("the table has %d bytes for %d names of a file", got, names)
	}
}

// TestSharedForms has many names of one content that has many encoded forms.
func TestSharedForms(t *testing.T) {
	const names, forms = 5000, 100
	g := casctest.New()
	var s write.Stored
	for i := range forms {
		s = g.AddChunks("b:{*=n}", blte.WriteOptions{}, blte.Chunk{Content: []byte("content")[:i%7]}, blte.Chunk{Content: []byte("content")[i%7:]})
	}
	var text strings.Builder
	for i := range names {
		fmt.Fprintf(&text, "file%d|%v\n", i, s.CKey)
	}
	g.Root(g.Add([]byte(text.String())))
	if got := tableSize(t, g); got > 60*names+forms*9 {
		t.Errorf("the table has %d bytes for %d names of a file", got, names)
	}
}
