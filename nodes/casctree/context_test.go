package casctree_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	iofs "io/fs"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"lorefs/blte"
	"lorefs/blte/bltetest"
	"lorefs/casc"
	"lorefs/casc/casctest"
	"lorefs/casc/casctest/write"
	"lorefs/casc/root"
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

// gated is a storage whose files are not read while it is shut. It is shut from when gate is set
// until that is closed, and sends to asked when a read begins to wait.
type gated struct {
	fstest.MapFS
	asked chan struct{}
	gate  atomic.Pointer[chan struct{}]
}

type gatedFile struct {
	iofs.File
	io.ReaderAt
	fsys *gated
}

func (g *gated) Open(name string) (iofs.File, error) {
	f, err := g.MapFS.Open(name)
	if r, ok := f.(io.ReaderAt); ok && err == nil {
		return gatedFile{f, r, g}, nil
	}
	return f, err
}

func (f gatedFile) ReadAt(p []byte, off int64) (int, error) {
	if gate := f.fsys.gate.Load(); gate != nil {
		select {
		case f.fsys.asked <- struct{}{}:
		default:
		}
		<-*gate
	}
	return f.ReaderAt.ReadAt(p, off)
}

// impatient is the context of a caller that leaves as soon as it is waited for.
type impatient struct {
	context.Context //nolint:containedctx // it is a context
	leave           context.CancelFunc
}

func (c impatient) Done() <-chan struct{} {
	c.leave()
	return c.Context.Done()
}

// TestDescriptionIsLeft checks that a reader of casc.json need not wait for the look at all files
// that another one began.
func TestDescriptionIsLeft(t *testing.T) {
	g := casctest.New()
	secret := &blte.Encryption{Name: bltetest.SecretName, IV: []byte{1, 2, 3, 4}, Cipher: blte.CipherSalsa20}
	// The specification does not say which key is needed.
	s := g.AddChunks("?", blte.WriteOptions{}, blte.Chunk{Content: []byte("hidden"), Encrypt: secret, Key: bltetest.Key()})
	g.Root(g.Add(write.TextRoot([]root.File{{Name: "a", CKey: s.CKey}})))
	files, err := g.Install()
	if err != nil {
		t.Fatal(err)
	}
	fsys := &gated{MapFS: casctest.FS(files), asked: make(chan struct{}, 1)}
	tree := open(t, fsys, casc.Options{}, casctree.Options{})
	e, err := lookup(t.Context(), tree, "casc.json")
	if err != nil {
		t.Fatal(err)
	}
	gate := make(chan struct{})
	fsys.gate.Store(&gate)
	var first sync.WaitGroup
	first.Go(func() {
		if got, err := readAll(t.Context(), tree, e); err != nil || !bytes.Contains(got, []byte("encrypted_without_key\":          1")) {
			t.Errorf("who stayed got %s, %v", got, err)
		}
	})
	<-fsys.asked
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	left := make(chan error, 1)
	go func() {
		_, err := tree.ReadAt(impatient{ctx, leave}, e.ID, make([]byte, 4), 0)
		left <- err
	}()
	select {
	case err := <-left:
		if !errors.Is(err, context.Canceled) {
			t.Errorf("who left got %v", err)
		}
	case <-time.After(time.Minute):
		t.Error("a reader whose context has ended still waits")
	}
	close(gate)
	first.Wait()
}
