package datacenter_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"

	"lorefs/datacenter"
	"lorefs/datacenter/dctest"
	"lorefs/datacenter/internal/compare"
)

// TestBuilderOpen checks that a data center that is opened from memory is the one that would be written, however it
// is read.
func TestBuilderOpen(t *testing.T) {
	for name, build := range map[string]func(*testing.T, *datacenter.Builder){
		"many": buildMany, "empty": func(*testing.T, *datacenter.Builder) {},
	} {
		header := datacenter.Header{Timestamp: 5, Revision: 7, Unknown1: 1, Unknown4: 2}
		for _, layout := range dctest.SomeLayouts() {
			t.Run(name+" "+layout.String(), func(t *testing.T) {
				opts := datacenter.WriteOptions{Header: header, Layout: layout}
				b := newBuilder(t, opts)
				b.Hold()
				build(t, b)
				f, err := b.Open(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				written := newBuilder(t, datacenter.WriteOptions{Header: header, Layout: datacenter.LayoutV6X86})
				build(t, written)
				var out strings.Builder
				if err := written.Write(t.Context(), &out); err != nil {
					t.Fatal(err)
				}
				g := mustOpen(t, []byte(out.String()), datacenter.Options{})
				if f.Layout() != g.Layout() || f.Header() != g.Header() || f.Counts() != g.Counts() || f.Size() != g.Size() {
					t.Errorf("%v %+v %+v %d bytes, want %v %+v %+v %d bytes",
						f.Layout(), f.Header(), f.Counts(), f.Size(), g.Layout(), g.Header(), g.Counts(), g.Size())
				}
				var loading sync.WaitGroup
				defer loading.Wait()
				for _, f := range []*datacenter.File{f, datacenter.Of(f.Form().Holding()), f.Private(4).File, datacenter.Of(f.Form().ReadAhead(&loading))} {
					if !sameRoots(t, compare.NewComparer(t.Context(), g, f), g, f) {
						t.Error("not the same")
					}
				}
			})
		}
	}
}

func TestBuilderOpenErrors(t *testing.T) {
	b := newBuilder(t, datacenter.WriteOptions{})
	b.Hold()
	if err := b.Write(t.Context(), io.Discard); err == nil || !strings.Contains(err.Error(), "BUG") {
		t.Errorf("Write after Hold: %v", err)
	}
	if _, err := newBuilder(t, datacenter.WriteOptions{}).Open(t.Context()); err == nil || !strings.Contains(err.Error(), "BUG") {
		t.Errorf("Open without Hold: %v", err)
	}
	b = newBuilder(t, datacenter.WriteOptions{})
	b.Hold()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := b.Open(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
}

// sameRoots compares all nodes of two files.
func sameRoots(t *testing.T, c *compare.Comparer, f, g *datacenter.File) bool {
	t.Helper()
	x, err := f.Root()
	if err != nil {
		t.Fatal(err)
	}
	y, err := g.Root()
	if err != nil {
		t.Fatal(err)
	}
	same, err := c.Same(x, y)
	return same && err == nil
}
