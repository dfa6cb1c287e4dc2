package casctree_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"testing"
	"time"

	"lorefs/blte"
	"lorefs/blte/bltetest"
	"lorefs/casc"
	"lorefs/casc/casctest"
	"lorefs/nodes"
	"lorefs/nodes/blockcache"
	"lorefs/nodes/casctree"
)

// aheadRead is a read of a file of aheadGame.
type aheadRead struct {
	file     string
	off, len int
}

// aheadGame has files of four chunks of 64 KB, whose names are in the order in which they are
// listed.
func aheadGame(t *testing.T) *casctest.Game {
	t.Helper()
	g := casctest.New()
	for i := range 6 {
		content := bltetest.Noise(256<<10, uint64(i))
		var chunks []blte.Chunk
		for k := range 4 {
			chunks = append(chunks, blte.Chunk{Content: content[k<<16:][:1<<16], Mode: blte.ModeZlib})
		}
		g.Put(fmt.Sprintf("f%d", i), content, g.AddChunks("b:{64K*=z}", blte.WriteOptions{}, chunks...))
	}
	casctest.Roots["text"](g)
	return g
}

// TestReadAhead reads files, and then something that is decoded by then or is not: the latter for
// programs that don't read all of each file, one after the other.
func TestReadAhead(t *testing.T) {
	const whole, chunk = 256 << 10, 64 << 10
	g := aheadGame(t)
	files, err := g.Install()
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name   string
		before []aheadRead
		then   aheadRead
		// budget is that of the tree's cache.
		budget int64
		ready  bool
	}{
		{"the next file", []aheadRead{{"f0", 0, whole}, {"f1", 0, whole}}, aheadRead{"f2", 0, chunk}, 64 << 20, true},
		{"a file is left out", []aheadRead{{"f0", 0, whole}, {"f2", 0, whole}}, aheadRead{"f3", 0, chunk}, 64 << 20, true},
		{"in pieces", []aheadRead{{"f0", 0, chunk}, {"f0", chunk, 3 * chunk}}, aheadRead{"f1", 0, chunk}, 64 << 20, true},
		{"the rest of a file", []aheadRead{{"f0", 0, 1000}, {"f0", 1000, 1000}}, aheadRead{"f0", 3 * chunk, chunk}, 64 << 20, true},
		{"out of order by a bit", []aheadRead{{"f0", chunk, 1000}, {"f0", 0, 1000}}, aheadRead{"f0", 2 * chunk, chunk}, 64 << 20, true},
		{"one file", []aheadRead{{"f0", 0, whole}}, aheadRead{"f1", 0, chunk}, 64 << 20, false},
		{"the other way", []aheadRead{{"f2", 0, whole}, {"f1", 0, whole}}, aheadRead{"f3", 0, chunk}, 64 << 20, false},
		{"only beginnings", []aheadRead{{"f0", 0, 100}, {"f1", 0, 100}, {"f2", 0, 100}}, aheadRead{"f3", 0, chunk}, 64 << 20, false},
		{"no cache", []aheadRead{{"f0", 0, whole}, {"f1", 0, whole}}, aheadRead{"f2", 0, chunk}, 0, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			chunks := blockcache.New(64 << 20)
			tree, _ := openBoth(t, casctest.FS(files), casc.Options{Blocks: chunks.View()},
				casctree.Options{Blocks: blockcache.New(tt.budget).View()})
			read := func(r aheadRead) {
				e, err := lookup(t.Context(), tree, "files/"+r.file)
				if err != nil {
					t.Fatal(err)
				}
				p := make([]byte, r.len)
				n, err := tree.ReadAt(t.Context(), e.ID, p, int64(r.off))
				if err != nil && !errors.Is(err, io.EOF) || !bytes.Equal(p[:n], g.Want[r.file][r.off:][:r.len]) {
					t.Fatalf("%+v: %d bytes, %v", r, n, err)
				}
			}
			for _, r := range tt.before {
				read(r)
			}
			tree.StopAhead()
			before := chunks.Stats().Loads
			read(tt.then)
			if ready := chunks.Stats().Loads == before; ready != tt.ready {
				t.Errorf("decoded before it is read: %v, want %v", ready, tt.ready)
			}
		})
	}
}

// TestReadAheadOfDamage reads ahead of a program up to a file that is damaged. Only reading that
// file fails.
func TestReadAheadOfDamage(t *testing.T) {
	g := aheadGame(t)
	files, err := g.Install()
	if err != nil {
		t.Fatal(err)
	}
	bad := g.ByName["f3"].Encoded
	for name, data := range files {
		if at := bytes.Index(data, bad); at >= 0 {
			files[name] = bytes.Clone(data)
			files[name][at+len(bad)-1] ^= 1
		}
	}
	blocks := blockcache.New(64 << 20)
	tree := open(t, casctest.FS(files), casc.Options{Blocks: blocks.View()}, casctree.Options{Blocks: blocks.View()})
	defer tree.StopAhead()
	for _, name := range []string{"f0", "f1", "f2", "f3", "f4"} {
		e, err := lookup(t.Context(), tree, "files/"+name)
		if err != nil {
			t.Fatal(err)
		}
		got, err := readAll(t.Context(), tree, e)
		if name == "f3" {
			if _, damaged := errors.AsType[*blte.FormatError](err); !damaged {
				t.Errorf("the damaged file: %v", err)
			}
			continue
		}
		if err != nil || !bytes.Equal(got, g.Want[name]) {
			t.Errorf("%s: %d bytes, %v", name, len(got), err)
		}
	}
}

// TestReadAheadGoesOn reads two files, and expects all others to be decoded though nothing more is
// read.
func TestReadAheadGoesOn(t *testing.T) {
	g := aheadGame(t)
	files, err := g.Install()
	if err != nil {
		t.Fatal(err)
	}
	blocks := blockcache.New(64 << 20)
	tree, _ := openBoth(t, casctest.FS(files), casc.Options{Blocks: blocks.View()}, casctree.Options{Blocks: blocks.View()})
	defer tree.StopAhead()
	for _, name := range []string{"f0", "f1"} {
		e, err := lookup(t.Context(), tree, "files/"+name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := readAll(t.Context(), tree, e); err != nil {
			t.Fatal(err)
		}
	}
	want := int64(len(g.Want) * 256 << 10)
	for deadline := time.Now().Add(time.Minute); blocks.Stats().Bytes < want; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d bytes are decoded, want %d", blocks.Stats().Bytes, want)
		}
	}
}

// TestReadAheadLeavesWholes reads files as a whole. They are not decoded ahead of a program that
// reads others before and behind them.
func TestReadAheadLeavesWholes(t *testing.T) {
	g := aheadGame(t)
	files, err := g.Install()
	if err != nil {
		t.Fatal(err)
	}
	chunks := blockcache.New(64 << 20)
	tree, _ := openBoth(t, casctest.FS(files), casc.Options{Blocks: chunks.View()}, casctree.Options{Blocks: chunks.View()})
	var entries []nodes.Entry
	for i := range 6 {
		e, err := lookup(t.Context(), tree, fmt.Sprintf("files/f%d", i))
		if err != nil {
			t.Fatal(err)
		}
		entries = append(entries, e)
	}
	read, before := 0, chunks.Stats().Loads
	for i, content := range tree.ReadWhole(t.Context(), entries[2:5]) {
		if name := entries[2+i].Name; !bytes.Equal(content, g.Want[name]) {
			t.Errorf("%s: %d bytes", name, len(content))
		}
		read++
	}
	if loads := chunks.Stats().Loads - before; read != 3 || loads != 0 {
		t.Errorf("%d files are read as a whole, %d chunks are kept", read, loads)
	}
	for _, e := range entries[:2] {
		if _, err := readAll(t.Context(), tree, e); err != nil {
			t.Fatal(err)
		}
	}
	tree.StopAhead()
	before = chunks.Stats().Loads
	for i, loads := range []int64{0, 0, 4, 4, 4, 0} { // four chunks each
		if _, err := readAll(t.Context(), tree, entries[i]); err != nil {
			t.Fatal(err)
		}
		if got := chunks.Stats().Loads - before; got != loads {
			t.Errorf("%s: %d chunks are decoded when it is read, want %d", entries[i].Name, got, loads)
		}
		before = chunks.Stats().Loads
	}
}
