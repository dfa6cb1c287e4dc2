package casctree_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"path"
	"strings"
	"sync"
	"testing"

	"lorefs/blte/bltetest"
	"lorefs/casc"
	"lorefs/casc/casctest"
	"lorefs/casc/casctest/write"
	"lorefs/nodes"
	"lorefs/nodes/casctree"
)

// listFile is a list file in memory.
func listFile(text string) casctree.ListFile {
	return casctree.ListFile{Name: "list.csv", Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }}
}

// store is an IndexStore in memory that counts.
type store struct {
	mu          sync.Mutex
	data        map[string][]byte
	hits, saves int
}

func newStore() *store { return &store{data: map[string][]byte{}} }

func (s *store) Load(key string) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b, ok := s.data[key]
	if !ok {
		return nil, fmt.Errorf("%s: %w", key, iofs.ErrNotExist)
	}
	s.hits++
	return b, nil
}

func (s *store) Save(key string, data []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.saves++
	s.data[key] = bytes.Clone(data)
	return nil
}

// open opens a storage and makes its tree.
func open(tb testing.TB, fsys iofs.FS, sopts casc.Options, opts casctree.Options) *casctree.Tree {
	tb.Helper()
	tree, _ := openBoth(tb, fsys, sopts, opts)
	return tree
}

func openBoth(tb testing.TB, fsys iofs.FS, sopts casc.Options, opts casctree.Options) (*casctree.Tree, *casc.Storage) {
	tb.Helper()
	st, err := casc.Open(fsys, sopts)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := st.Close(); err != nil {
			tb.Error(err)
		}
	})
	if opts.RefreshEvery == 0 {
		opts.RefreshEvery = -1 // tests call it
	}
	tree, err := casctree.New(context.Background(), st, opts)
	if err != nil {
		tb.Fatal(err)
	}
	return tree, st
}

// makeGame makes a filled game with a kind of root, and the options that open it.
func makeGame(tb testing.TB, root, form string) (*casctest.Game, write.Files, casc.Options, casctree.Options) {
	tb.Helper()
	g, files := casctest.Make(tb, root, form)
	opts := casctree.Options{ListFiles: []casctree.ListFile{listFile(g.List())}}
	return g, files, casc.Options{Keys: bltetest.Keys()}, opts
}

// lookup follows a path.
func lookup(ctx context.Context, tree nodes.Tree, name string) (nodes.Entry, error) {
	e := nodes.Entry{ID: nodes.Root, Kind: nodes.Dir}
	for part := range strings.SplitSeq(name, "/") {
		var err error
		if e, err = tree.Lookup(ctx, e.ID, part); err != nil {
			return e, fmt.Errorf("%s: %w", name, err)
		}
	}
	return e, nil
}

// readAll reads a whole file.
func readAll(ctx context.Context, tree nodes.Tree, e nodes.Entry) ([]byte, error) {
	e, err := nodes.WithSize(ctx, tree, e)
	if err != nil {
		return nil, err
	}
	b := make([]byte, e.Size+1)
	n, err := tree.ReadAt(ctx, e.ID, b, 0)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	if err == nil && int64(n) != e.Size {
		err = fmt.Errorf("%d bytes, stated are %d", n, e.Size)
	}
	return b[:n], err
}

func readPath(ctx context.Context, tree nodes.Tree, name string) ([]byte, error) {
	e, err := lookup(ctx, tree, name)
	if err != nil {
		return nil, err
	}
	return readAll(ctx, tree, e)
}

// listed returns all files below a directory by path.
func listed(tb testing.TB, tree nodes.Tree, top string) map[string]nodes.Entry {
	tb.Helper()
	e, err := lookup(tb.Context(), tree, top)
	if err != nil {
		tb.Fatal(err)
	}
	found := map[string]nodes.Entry{}
	for w, err := range nodes.Walk(tb.Context(), tree, e.ID) {
		if err != nil {
			tb.Fatal(err)
		}
		if w.Kind == nodes.File {
			found[path.Join(top, w.Path)] = w.Entry
		}
	}
	return found
}

// pathOf returns the path in the mount of a name of a game.
func pathOf(root, name string) string {
	if root == "tvfs" {
		name = strings.ReplaceAll(name, ":", "/")
		if strings.HasSuffix(name, "/") {
			name += "%"
		}
	}
	return "files/" + name
}
