package leave_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"lorefs/nodes"
	"lorefs/nodes/leave"
	"lorefs/nodes/nodetest"
)

// TestTree checks that nothing but the time of waiting is changed, also of a directory that is
// gathered in parts.
func TestTree(t *testing.T) {
	files := map[string]string{"a/b/c.txt": "content", "empty": ""}
	for i := range 2500 {
		files[fmt.Sprintf("many/%04d", i)] = strings.Repeat("x", i%7)
	}
	nodetest.Run(t, leave.New(nodetest.MemFiles(time.Unix(1, 0), files), func() { t.Error("reads were ended") }))
}

// stalled is a tree whose reads wait for a server, and know no contexts.
type stalled struct {
	nodes.Tree
	reads  chan struct{} // gets something for each read that begins
	answer chan struct{}

	mu  sync.Mutex // guards end
	end chan struct{}
}

func newStalled() *stalled {
	return &stalled{
		Tree:  nodetest.MemFiles(time.Unix(1, 0), map[string]string{"f": "content"}),
		reads: make(chan struct{}, 10), end: make(chan struct{}), answer: make(chan struct{}),
	}
}

func (s *stalled) ReadAt(_ context.Context, id nodes.ID, p []byte, off int64) (int, error) {
	s.mu.Lock()
	end := s.end
	s.mu.Unlock()
	s.reads <- struct{}{}
	select {
	case <-end:
		return 0, fmt.Errorf("a read: %w", context.Canceled)
	case <-s.answer:
		return s.Tree.ReadAt(context.Background(), id, p, off)
	}
}

// endReads ends the reads that are going on.
func (s *stalled) endReads() {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.end)
	s.end = make(chan struct{})
}

func (s *stalled) file(t *testing.T) nodes.ID {
	t.Helper()
	e, err := s.Lookup(t.Context(), nodes.Root, "f")
	if err != nil {
		t.Fatal(err)
	}
	return e.ID
}

// TestLeave has two readers leave one after the other: each at once, and the reads end with the
// last one. A third one comes later.
func TestLeave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStalled()
		ends := 0
		tree, file := leave.New(s, func() { ends++; s.endReads() }), s.file(t)
		var leaves [2]context.CancelFunc
		errs := make(chan error)
		for i := range leaves {
			var ctx context.Context
			ctx, leaves[i] = context.WithCancel(t.Context())
			go func() {
				_, err := tree.ReadAt(ctx, file, make([]byte, 7), 0)
				errs <- err
			}()
		}
		<-s.reads
		<-s.reads
		for i := range leaves {
			if ends != 0 {
				t.Error("reads were ended while somebody waited")
			}
			leaves[i]()
			if err := <-errs; !errors.Is(err, context.Canceled) {
				t.Errorf("reader %d: %v", i, err)
			}
		}
		synctest.Wait()
		if ends != 1 {
			t.Errorf("reads were ended %d times", ends)
		}
		close(s.answer)
		p := make([]byte, 7)
		if n, err := tree.ReadAt(t.Context(), file, p, 0); n != len(p) || string(p) != "content" || err != nil {
			t.Errorf("a later read: %q, %v", p[:n], err)
		}
		if ends != 1 {
			t.Error("reads were ended although nobody left")
		}
	})
}

// TestShared has a reader share what was ended for another one: it asks again.
func TestShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStalled()
		tree, file := leave.New(s, func() {}), s.file(t)
		done := make(chan error)
		go func() {
			_, err := tree.ReadAt(t.Context(), file, make([]byte, 7), 0)
			done <- err
		}()
		<-s.reads
		s.endReads()
		<-s.reads
		close(s.answer)
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}
