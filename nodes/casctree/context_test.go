package casctree_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"testing"

	"lorefs/casc"
	"lorefs/casc/casctest"
	"lorefs/nodes/casctree"
)

// leaving is a cache of blocks that keeps nothing. A caller of it whose context can be
// cancelled leaves before its block is there.
type leaving struct{ leave func() }

func (l *leaving) Block(ctx context.Context, n uint64, load func(context.Context, uint64) ([]byte, error)) ([]byte, error) {
	if l.leave != nil {
		l.leave()
		return nil, context.Canceled
	}
	return load(ctx, n)
}

// TestReaderLeaves checks that a read whose context ended is neither logged nor remembered,
// as that says nothing of the file.
func TestReaderLeaves(t *testing.T) {
	var log bytes.Buffer
	blocks := &leaving{}
	tree := open(t, casctest.FS(twoFiles(t, "the second file")), casc.Options{Blocks: blocks},
		casctree.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	e, err := lookup(t.Context(), tree, "files/second")
	if err != nil {
		t.Fatal(err)
	}
	ctx, leave := context.WithCancel(t.Context())
	blocks.leave = leave
	if _, err := tree.ReadAt(ctx, e.ID, make([]byte, 4), 0); !errors.Is(err, context.Canceled) {
		t.Errorf("who left got %v", err)
	}
	if log.Len() > 0 {
		t.Errorf("it was logged:\n%s", &log)
	}
	blocks.leave = nil
	if got, err := readAll(t.Context(), tree, e); string(got) != "the second file" || err != nil {
		t.Errorf("who came later got %q, %v", got, err)
	}
}
