package nodes_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"syscall"
	"testing"

	"lorefs/nodes"
)

func TestNotExist(t *testing.T) {
	err := nodes.NotExist("x")
	if !errors.Is(err, nodes.ErrNotExist) || !errors.Is(err, iofs.ErrNotExist) {
		t.Errorf("NotExist = %v matches too little", err)
	}
	if err := &(iofs.PathError{Op: "open", Path: "x", Err: syscall.ENOENT}); errors.Is(err, nodes.ErrNotExist) {
		t.Error("a file that the source lacks is taken for a name that the tree lacks")
	}
}

func TestMemFilesRefusesAbsolutePaths(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	nodes.MemFiles(testTime, map[string]string{"/x": ""})
}

// brokenTree finds less than it promises, or nothing about its root.
type brokenTree struct {
	*nodes.Mem
	short  int
	end    error
	noRoot bool
}

func (b brokenTree) ReadAt(ctx context.Context, id nodes.ID, p []byte, off int64) (int, error) {
	n, err := b.Mem.ReadAt(ctx, id, p, off)
	if b.end != nil && n > 0 {
		return n - b.short, b.end
	}
	return n, err
}

func (b brokenTree) Attr(ctx context.Context, id nodes.ID) (nodes.Attr, error) {
	if b.noRoot && id == nodes.Root {
		return nodes.Attr{}, errors.New("the header is damaged")
	}
	return b.Mem.Attr(ctx, id)
}

func TestFSReadsNoPartOfAFile(t *testing.T) {
	wrapped := fmt.Errorf("inflate: %w", io.EOF)
	for name, c := range map[string]struct {
		tree brokenTree
		want error
	}{
		"early EOF":    {brokenTree{short: 2, end: io.EOF}, io.ErrUnexpectedEOF},
		"wrapped EOF":  {brokenTree{short: 2, end: wrapped}, wrapped},
		"EOF in place": {brokenTree{end: io.EOF}, nil},
	} {
		c.tree.Mem = nodes.MemFiles(testTime, map[string]string{"x": "text"})
		fsys := nodes.FS(c.tree)
		if _, err := iofs.ReadFile(fsys, "x"); !errors.Is(err, c.want) {
			t.Errorf("%s: ReadFile: %v, want %v", name, err, c.want)
		}
		f, err := fsys.Open("x")
		if err != nil {
			t.Fatal(err)
		}
		if p, err := io.ReadAll(f); !errors.Is(err, c.want) {
			t.Errorf("%s: ReadAll: %q, %v, want %v", name, p, err, c.want)
		}
	}
	if _, err := iofs.ReadFile(nodes.FS(testFiles()), "a"); err == nil {
		t.Error("a directory can be read")
	}
}

func TestMuxListsAroundABrokenTree(t *testing.T) {
	broken := brokenTree{Mem: testFiles(), noRoot: true}
	m, err := nodes.NewMux(testTime, []nodes.Mount{{Name: "broken", Tree: broken}, {Name: "good", Tree: testFiles()}})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for e, err := range m.ReadDir(t.Context(), nodes.Root, 0) {
		if err != nil {
			t.Fatal(err)
		}
		if !e.ModTime.Equal(testTime) {
			t.Errorf("%s has the time %v, want %v", e.Name, e.ModTime, testTime)
		}
		names = append(names, e.Name)
	}
	if len(names) != 2 {
		t.Errorf("listed %q", names)
	}
}
