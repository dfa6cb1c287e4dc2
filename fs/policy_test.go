//go:build linux

package fs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"maps"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"

	"lorefs/nodes"
	"lorefs/nodes/nodetest"
)

var testTime = time.Unix(1_500_000_000, 0)

func TestNameOnlyFollowsLookups(t *testing.T) {
	var o nameOnly
	if o.next(false) {
		t.Error("by name only although there is room")
	}
	if !o.next(true) {
		t.Error("in full although crowded and nobody asked")
	}
	o.sawLookup()
	full := 0
	for !o.next(true) {
		full++
	}
	if full != fullPerLookup {
		t.Errorf("%d in full after one LOOKUP, want %d", full, fullPerLookup)
	}
	for range 10 * fullCredit {
		o.sawLookup()
	}
	if c := o.credit.Load(); c != fullCredit {
		t.Errorf("the credit is %d, want at most %d", c, fullCredit)
	}
}

// store records what was primed.
type store struct {
	data   map[uint64]string
	status fuse.Status
}

func (s *store) InodeNotifyStoreCache(node uint64, _ int64, data []byte) fuse.Status {
	s.data[node] = string(data)
	return s.status
}

func TestPrimeStoresSmallFilesOnCredit(t *testing.T) {
	var b nodetest.Builder
	small := b.File(nodes.Root, "small", "text\n")
	b.File(nodes.Root, "empty", "")
	b.File(nodes.Root, "large", string(make([]byte, primePage+1)))
	b.Dir(nodes.Root, "dir")
	last := b.File(nodes.Root, "last", string(make([]byte, primePage)))
	tree, err := b.Build(testTime)
	if err != nil {
		t.Fatal(err)
	}
	m := newMount(tree, Options{}.withDefaults())
	s := &store{data: map[uint64]string{}}

	m.primer.sawListing(nodes.Root)
	if len(m.primer.queue) != 0 {
		t.Error("a listing is primed although nothing was read")
	}
	m.primer.sawRead(nodes.Root)
	m.primer.sawListing(nodes.Root)
	if len(m.primer.queue) != 1 {
		t.Error("a listing is not primed although files are read")
	}
	job := priming{m: m, kernel: s}
	job.dir(t.Context(), nodes.Root)
	if len(s.data) != 2 || s.data[uint64(small)] != "text\n" || len(s.data[uint64(last)]) != primePage {
		t.Errorf("primed %d files", len(s.data))
	}
	if c := m.primer.credit.Load(); c != primePerRead-2 {
		t.Errorf("the credit is %d", c)
	}
	clear(s.data)
	m.primer.credit.Store(1)
	job.dir(t.Context(), nodes.Root)
	if len(s.data) != 1 {
		t.Errorf("primed %d files on a credit of 1", len(s.data))
	}
}

// TestPrimeWhatHadNoCredit lists a directory before anything is read. It is primed as soon as two of
// its files are read, and goes on where the credit ended when two more are.
func TestPrimeWhatHadNoCredit(t *testing.T) {
	const files = 20
	var b nodetest.Builder
	dir, other := b.Dir(nodes.Root, "dir"), b.Dir(nodes.Root, "other")
	for i := range files {
		b.File(dir, testName(i), "x")
	}
	tree, err := b.Build(testTime)
	if err != nil {
		t.Fatal(err)
	}
	m := newMount(tree, Options{}.withDefaults())
	job := priming{m: m}
	primed := 0
	read := func(dir nodes.ID, credit int64, queued int) {
		t.Helper()
		m.primer.credit.Store(credit)
		m.primer.sawBeginning(dir)
		if len(m.primer.queue) != queued {
			t.Fatalf("%d directories are queued, want %d", len(m.primer.queue), queued)
		}
		for len(m.primer.queue) > 0 {
			s := &store{data: map[uint64]string{}}
			job.kernel = s
			job.dir(t.Context(), <-m.primer.queue)
			primed += len(s.data)
		}
	}
	m.primer.sawListing(dir)
	read(dir, 5, 0)
	read(other, 5, 0)
	read(dir, 5, 1)
	if primed != 5 {
		t.Errorf("primed %d files on a credit of 5", primed)
	}
	read(dir, primeCredit, 0)
	read(dir, primeCredit, 1)
	if primed != files {
		t.Errorf("primed %d times, want each of %d files once", primed, files)
	}
	read(dir, primeCredit, 0)
	read(dir, primeCredit, 0)

	// A queue that is full loses nothing.
	m.primer.credit.Store(primeCredit)
	for m.primer.enqueue(other) {
	}
	m.primer.sawListing(dir)
	for len(m.primer.queue) > 0 {
		<-m.primer.queue
	}
	read(dir, primeCredit, 0)
	read(dir, primeCredit, 1)
	if primed != 2*files {
		t.Errorf("primed %d times, want each of %d files twice", primed, files)
	}
}

// asking notes whether files are read for programs, and ends what reads them.
type asking struct {
	nodes.Tree
	unasked int
	enough  context.CancelFunc
}

func (a *asking) ReadAt(ctx context.Context, file nodes.ID, p []byte, off int64) (int, error) {
	if nodes.IsUnasked(ctx) {
		a.unasked++
	}
	a.enough()
	return a.Tree.ReadAt(ctx, file, p, off)
}

// TestPrimeReadsForNobody checks that the tree is told that no program has asked for what is
// primed.
func TestPrimeReadsForNobody(t *testing.T) {
	var b nodetest.Builder
	b.File(nodes.Root, "small", "text\n")
	under, err := b.Build(testTime)
	if err != nil {
		t.Fatal(err)
	}
	ctx, enough := context.WithCancel(t.Context())
	tree := &asking{Tree: under, enough: enough}
	m := newMount(tree, Options{}.withDefaults())
	m.primer.credit.Store(primeCredit)
	m.primer.sawListing(nodes.Root)
	m.primer.run(ctx, m, &store{data: map[uint64]string{}})
	if tree.unasked != 1 {
		t.Errorf("%d reads were for nobody", tree.unasked)
	}
}

func TestPrimeLeavesProbes(t *testing.T) {
	var b nodetest.Builder
	for i := range 10 * primeProbe {
		b.File(nodes.Root, testName(i), "x")
	}
	tree, err := b.Build(testTime)
	if err != nil {
		t.Fatal(err)
	}
	m := newMount(tree, Options{}.withDefaults())
	for _, c := range []struct{ credit, probe int }{{2*primeRarer - 1, primeProbe}, {4 * primeRarer, 3 * primeProbe}} {
		m.primer.credit.Store(int64(c.credit))
		s := &store{data: map[uint64]string{}}
		job := priming{m: m, kernel: s}
		job.dir(t.Context(), nodes.Root)
		if want := 10*primeProbe - 10*primeProbe/c.probe; len(s.data) != want {
			t.Errorf("primed %d of %d files on a credit of %d, want %d", len(s.data), 10*primeProbe, c.credit, want)
		}
	}
}

// TestPrimeReadsAllowMore reads until no more credit can be saved up.
func TestPrimeReadsAllowMore(t *testing.T) {
	var p primer
	var before, reads int64
	for ; p.credit.Load() < primeCredit; reads++ {
		p.sawRead(1)
		if c := p.credit.Load(); c-before < primePerRead && c < primeCredit {
			t.Fatalf("a read allows %d pages, want at least %d", c-before, primePerRead)
		}
		before = p.credit.Load()
	}
	if p.sawRead(1); reads > 10 || p.credit.Load() != primeCredit {
		t.Errorf("after %d reads and one more the credit is %d", reads, p.credit.Load())
	}
}

// wholeTree reads files as a whole, but for those of one size.
type wholeTree struct {
	nodes.Tree
	mu    sync.Mutex
	asked [][]nodes.Entry
	not   int64
}

func (w *wholeTree) ReadWhole(ctx context.Context, files []nodes.Entry) iter.Seq2[int, []byte] {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked = append(w.asked, files)
	return func(yield func(int, []byte) bool) {
		for i := range files {
			p := make([]byte, files[i].Size)
			if _, err := w.ReadAt(ctx, files[i].ID, p, 0); err != nil || files[i].Size == w.not {
				continue
			}
			if !yield(i, p) {
				return
			}
		}
	}
}

// lockedStore is a store that several goroutines use.
type lockedStore struct {
	mu sync.Mutex
	store
}

func (s *lockedStore) InodeNotifyStoreCache(node uint64, offset int64, data []byte) fuse.Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.store.InodeNotifyStoreCache(node, offset, data)
}

// TestPrimeBatches primes files in batches, also those that the tree does not read in a batch.
func TestPrimeBatches(t *testing.T) {
	const files = 2*primeBatch + 9 // fewer than lie between two probes
	var b nodetest.Builder
	want := map[uint64]string{}
	for i := range files {
		content := strings.Repeat("x", i+1)
		want[uint64(b.File(nodes.Root, testName(i), content))] = content
	}
	under, err := b.Build(testTime)
	if err != nil {
		t.Fatal(err)
	}
	tree := &wholeTree{Tree: under, not: 7}
	m := newMount(tree, Options{}.withDefaults())
	m.primer.credit.Store(primeCredit)
	s := &lockedStore{store: store{data: map[uint64]string{}}}
	job := priming{m: m, kernel: s}
	end := job.beginBatches(t.Context())
	job.dir(t.Context(), nodes.Root)
	end()
	if !maps.Equal(s.data, want) {
		t.Errorf("primed %d of %d files, or not all right", len(s.data), files)
	}
	if n := (files + primeBatch - 1) / primeBatch; len(tree.asked) != n {
		t.Errorf("asked for %d batches, want %d", len(tree.asked), n)
	}
	if n := m.counters.primed.Load(); n != files {
		t.Errorf("%d are counted", n)
	}
}

// TestPrimeMax primes files of ten pages each. They take ten times the credit, and a probe is left
// out as soon as the READ of one allows as much as lies between two.
func TestPrimeMax(t *testing.T) {
	const pages, files = 10, 40
	var b nodetest.Builder
	for i := range files {
		b.File(nodes.Root, testName(i), string(make([]byte, pages*primePage)))
	}
	b.File(nodes.Root, "larger", string(make([]byte, pages*primePage+1)))
	tree, err := b.Build(testTime)
	if err != nil {
		t.Fatal(err)
	}
	m := newMount(tree, Options{PrimeMax: pages * primePage}.withDefaults())
	const credit = 2*primeRarer - 1
	m.primer.credit.Store(credit)
	s := &store{data: map[uint64]string{}}
	job := priming{m: m, kernel: s}
	job.dir(t.Context(), nodes.Root)
	if want := files - files*pages/(primeProbePages+1); len(s.data) != want {
		t.Errorf("primed %d of %d files, want %d", len(s.data), files, want)
	}
	for id, data := range s.data {
		if len(data) != pages*primePage {
			t.Errorf("file %d is primed with %d bytes", id, len(data))
		}
	}
	if c, want := m.primer.credit.Load(), credit-int64(len(s.data))*pages; c != want {
		t.Errorf("the credit is %d, want %d", c, want)
	}
}

func TestPrimeLeavesWhatWasRead(t *testing.T) {
	var b nodetest.Builder
	read, other := b.File(nodes.Root, "a", "x"), b.File(nodes.Root, "b", "y")
	tree, err := b.Build(testTime)
	if err != nil {
		t.Fatal(err)
	}
	m := newMount(tree, Options{}.withDefaults())
	m.primer.sawRead(read)
	s := &store{data: map[uint64]string{}}
	job := priming{m: m, kernel: s}
	job.dir(t.Context(), nodes.Root)
	if len(s.data) != 1 || s.data[uint64(other)] != "y" {
		t.Errorf("primed %v", s.data)
	}
}

func TestPrimeEndsWithTheMount(t *testing.T) {
	m := newMount(nodetest.MemFiles(testTime, map[string]string{"a": "x"}), Options{}.withDefaults())
	m.primer.credit.Store(primeCredit)
	s := &store{data: map[uint64]string{}}
	job := priming{m: m, kernel: s}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	job.dir(ctx, nodes.Root)
	if len(s.data) != 0 {
		t.Error("files are primed after the end")
	}
}

// oddTree answers as its fields say.
type oddTree struct {
	*nodetest.Mem
	readAt func(p []byte) (int, error)
	attr   func(nodes.ID) error
	lookup func(*nodes.Entry) error
	// noTime lists entries without a time.
	noTime bool
}

func (o oddTree) ReadAt(ctx context.Context, id nodes.ID, p []byte, off int64) (int, error) {
	if o.readAt == nil {
		return o.Mem.ReadAt(ctx, id, p, off)
	}
	return o.readAt(p)
}

func (o oddTree) Attr(ctx context.Context, id nodes.ID) (nodes.Attr, error) {
	if o.attr != nil {
		if err := o.attr(id); err != nil {
			return nodes.Attr{}, err
		}
	}
	return o.Mem.Attr(ctx, id)
}

func (o oddTree) Lookup(ctx context.Context, dir nodes.ID, name string) (nodes.Entry, error) {
	e, err := o.Mem.Lookup(ctx, dir, name)
	if o.lookup != nil {
		err = errors.Join(err, o.lookup(&e))
	}
	return e, err
}

func (o oddTree) ReadDir(ctx context.Context, dir nodes.ID, cursor uint64) iter.Seq2[nodes.Entry, error] {
	return func(yield func(nodes.Entry, error) bool) {
		for e, err := range o.Mem.ReadDir(ctx, dir, cursor) {
			if o.noTime {
				e.ModTime = time.Time{}
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

func TestPrimerOutlivesPanics(t *testing.T) {
	tree := oddTree{
		Mem:    nodetest.MemFiles(testTime, map[string]string{"a": "x"}),
		readAt: func([]byte) (int, error) { panic("BUG: as the test wants it") },
	}
	var out bytes.Buffer
	m := newMount(tree, Options{Logger: slog.New(slog.NewTextHandler(&out, nil))}.withDefaults())
	m.primer.credit.Store(primeCredit)
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { m.primer.run(ctx, m, &store{data: map[uint64]string{}}) })
	m.primer.queue <- nodes.Root
	m.primer.queue <- nodes.Root
	for m.stats().Errors < 2 {
		time.Sleep(time.Millisecond) // until both have panicked, or go test gives up
	}
	cancel()
	running.Wait()
	if n := strings.Count(out.String(), "panic while priming"); n != 2 {
		t.Errorf("%d panics logged, want 2:\n%s", n, out.String())
	}
}

func TestPrimeStoresNoPartOfAFile(t *testing.T) {
	for name, err := range map[string]error{"EOF": io.EOF, "wrapped EOF": fmt.Errorf("inflate: %w", io.EOF), "no error": nil} {
		tree := oddTree{
			Mem:    nodetest.MemFiles(testTime, map[string]string{"a": "text"}),
			readAt: func(p []byte) (int, error) { return len(p) / 2, err },
		}
		m := newMount(tree, Options{}.withDefaults())
		m.primer.credit.Store(primeCredit)
		s := &store{data: map[uint64]string{}}
		job := priming{m: m, kernel: s}
		job.dir(t.Context(), nodes.Root)
		if len(s.data) != 0 {
			t.Errorf("%s: a part of a file is stored", name)
		}
	}
}
