package datacenter_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime/pprof"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"lorefs/datacenter"
	"lorefs/datacenter/dctest"
)

// aheadData returns a file of several pieces of what is decrypted at a time.
func aheadData() []byte {
	m := dctest.NewImage(dctest.SmallDoc(datacenter.LayoutV6X64), dctest.Options{FullCount: 65535, Garbage: 3})
	return m.Seal(dctest.SealOptions{Stored: true})
}

// piece is how much is decrypted at a time.
const piece = 256 << 10

// watched is a reader that knows what reads it.
type watched struct {
	read func(p []byte, off int64) (int, error)
	// before is called with the number of the read, from 0 on. It may be nil.
	before func(n int64)

	reads, running, late atomic.Int64
	over                 atomic.Bool
}

func (w *watched) ReadAt(p []byte, off int64) (int, error) {
	w.running.Add(1)
	defer w.running.Add(-1)
	if w.over.Load() {
		w.late.Add(1)
	}
	if n := w.reads.Add(1) - 1; w.before != nil {
		w.before(n)
	}
	return w.read(p, off)
}

// open opens what w reads, and checks that nothing reads w afterwards.
func (w *watched) open(ctx context.Context, t *testing.T, size int64) error {
	t.Helper()
	_, err := datacenter.Open(ctx, w, size, datacenter.Options{BlockSize: 64 << 10})
	running := w.running.Load()
	w.over.Store(true)
	if running > 0 {
		t.Errorf("%d reads are under way after Open", running)
	}
	noneAhead(t)
	if n := w.late.Load(); n > 0 {
		t.Errorf("%d reads after Open", n)
	}
	return err
}

// noneAhead checks that the goroutines that read ahead end.
func noneAhead(t *testing.T) {
	t.Helper()
	var all bytes.Buffer
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(time.Millisecond) {
		all.Reset()
		if err := pprof.Lookup("goroutine").WriteTo(&all, 1); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(all.String(), "datacenter.readForward") {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("a goroutine still reads ahead:\n%s", &all)
		}
	}
}

func TestReadErrorsWhileReadingAhead(t *testing.T) {
	data := aheadData()
	whole, onFire := bytes.NewReader(data), errors.New("the disk is on fire")
	rng := rand.New(rand.NewPCG(1, 1))
	places := []int64{piece - 1, piece, piece + 6, 2*piece + 5, int64(len(data)) - 1}
	for range 10 {
		places = append(places, piece+rng.Int64N(int64(len(data))-piece))
	}
	for _, at := range places {
		for name, read := range map[string]func(p []byte, off int64) (int, error){
			"nothing of the read": failsAt{whole, at, onFire}.ReadAt,
			"all before it": func(p []byte, off int64) (int, error) {
				if off > at || at >= off+int64(len(p)) {
					return whole.ReadAt(p, off)
				}
				n, _ := whole.ReadAt(p[:at-off], off)
				return n, onFire
			},
		} {
			t.Run(fmt.Sprintf("%#x, %s", at, name), func(t *testing.T) {
				w := &watched{read: read}
				if err := w.open(t.Context(), t, int64(len(data))); !errors.Is(err, onFire) || isFormatError(err) {
					t.Errorf("%v, want %v", err, onFire)
				}
			})
		}
	}
}

// TestSourcesThatEndEarly has files that become shorter after their size was asked for.
func TestSourcesThatEndEarly(t *testing.T) {
	data := aheadData()
	for _, n := range []int{piece, piece + 6, piece + 7, 2*piece + 6, len(data) / 2, len(data) - 5, len(data) - 1} {
		w := &watched{read: bytes.NewReader(data[:n]).ReadAt}
		if err := w.open(t.Context(), t, int64(len(data))); err == nil {
			t.Errorf("%d of %d bytes: no error", n, len(data))
		}
	}
}

// TestReaderThatIsStuck has a reader that breaks its contract: it neither reads on nor says why.
func TestReaderThatIsStuck(t *testing.T) {
	data := aheadData()
	whole := bytes.NewReader(data)
	for _, at := range []int64{piece, piece + 6, 2*piece + 100} {
		w := &watched{read: func(p []byte, off int64) (int, error) {
			if off+int64(len(p)) <= at || off > at+piece {
				return whole.ReadAt(p, off)
			}
			return whole.ReadAt(p[:max(0, at-off)], off)
		}}
		if err := w.open(t.Context(), t, int64(len(data))); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("stuck at %#x: %v, want an unexpected EOF", at, err)
		}
	}
}

// TestEOFWithTheLastBytes has a reader that says io.EOF along with the last bytes, as it may.
func TestEOFWithTheLastBytes(t *testing.T) {
	data := aheadData()
	w := &watched{read: func(p []byte, off int64) (int, error) {
		n, err := bytes.NewReader(data).ReadAt(p, off)
		if off+int64(n) == int64(len(data)) {
			err = io.EOF
		}
		return n, err
	}}
	if err := w.open(t.Context(), t, int64(len(data))); err != nil {
		t.Error(err)
	}
}

func TestCancelledWhileReadingAhead(t *testing.T) {
	data := aheadData()
	whole := &watched{read: bytes.NewReader(data).ReadAt}
	if err := whole.open(t.Context(), t, int64(len(data))); err != nil {
		t.Fatal(err)
	}
	for at := range whole.reads.Load() / 2 {
		ctx, cancel := context.WithCancel(t.Context())
		w := &watched{read: bytes.NewReader(data).ReadAt, before: func(n int64) {
			if n == at {
				cancel()
			}
		}}
		if err := w.open(ctx, t, int64(len(data))); !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled at read %d: %v", at, err)
		}
		cancel()
	}
}

// TestKeepBlocks checks that a file whose blocks are kept, or held until they are read, is not read
// again.
func TestKeepBlocks(t *testing.T) {
	data := aheadData()
	for _, opts := range []datacenter.Options{{}, {KeepBlocks: true}, {HoldBlocks: true}} {
		w := &watched{read: bytes.NewReader(data).ReadAt}
		opts.BlockSize = 64 << 10
		f, err := datacenter.Open(t.Context(), w, int64(len(data)), opts)
		if err != nil {
			t.Fatal(err)
		}
		want := !opts.KeepBlocks && !opts.HoldBlocks
		if again := w.readsFor(t, f); again != want {
			t.Errorf("with KeepBlocks %v and HoldBlocks %v, the file is read again: %v", opts.KeepBlocks, opts.HoldBlocks, again)
		}
	}
}

// TestHoldBlocks checks that a block is held until it is first read, and not longer.
func TestHoldBlocks(t *testing.T) {
	data := aheadData()
	w, blocks := &watched{read: bytes.NewReader(data).ReadAt}, &dropping{}
	f, err := datacenter.Open(t.Context(), w, int64(len(data)), datacenter.Options{BlockSize: 64 << 10, HoldBlocks: true, Blocks: blocks})
	if err != nil {
		t.Fatal(err)
	}
	if w.readsFor(t, f) {
		t.Error("the first walk reads the file")
	}
	clear(blocks.kept)
	if !w.readsFor(t, f) {
		t.Error("the second walk does not read the file, so that all blocks are in memory")
	}
}

// dropping is a BlockCache whose blocks are dropped by hand.
type dropping struct{ kept map[uint64][]byte }

// Block implements [datacenter.BlockCache].
func (d *dropping) Block(ctx context.Context, n uint64, load func(ctx context.Context, n uint64) ([]byte, error)) ([]byte, error) {
	if b := d.kept[n]; b != nil {
		return b, nil
	}
	b, err := load(ctx, n)
	if d.kept == nil {
		d.kept = map[uint64][]byte{}
	}
	d.kept[n] = b
	return b, err
}

// readsFor reports whether a walk of the whole file reads from w.
func (w *watched) readsFor(t *testing.T, f *datacenter.File) bool {
	t.Helper()
	before := w.reads.Load()
	root, err := f.Root()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := walk(root, 1<<30); err != nil {
		t.Fatal(err)
	}
	return w.reads.Load() > before
}

// TestLater checks that Open leaves the index for later, and that it is of use then.
func TestLater(t *testing.T) {
	data := aheadData()
	store := dctest.Index{}
	var later []func()
	opts := datacenter.Options{Index: store, Later: func(work func()) { later = append(later, work) }}
	mustOpen(t, data, opts)
	if len(store) > 0 || len(later) != 1 {
		t.Fatalf("after Open, %d indexes are saved and %d pieces of work are left, want 0 and 1", len(store), len(later))
	}
	later[0]()
	opts.Progress = func(int64, int64) { t.Error("the file is inflated, although there is an index") }
	mustOpen(t, data, opts)
	if len(later) > 1 {
		t.Error("Open with an index makes another one")
	}
}
