package editing_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"lorefs/nodes"
	"lorefs/nodes/editing"
)

// tree is a tree of one file, which takes any content but one that begins with "bad".
type tree struct {
	nodes.Tree // nothing but Attr and ReadAt is asked for
	owner      *editing.Owner
	editing    sync.Mutex
	mu         sync.RWMutex

	text       editing.Text
	source     []byte
	incomplete bool
	lacks      int64 // how much shorter the file is than it says
	// reads, commits, settled, touched and syncs count calls.
	reads, commits, settled, touched int
	syncs                            atomic.Int64
}

const most = 1 << 20

var errBad = errors.New("it is bad")

func newTree(source string) *tree {
	e := &tree{source: []byte(source)}
	e.owner = editing.NewOwner(e, &e.editing, &e.mu, func() error { e.syncs.Add(1); return nil }, nil)
	return e
}

func (e *tree) Attr(context.Context, nodes.ID) (nodes.Attr, error) {
	if e.incomplete {
		return nodes.Attr{}, errBad
	}
	return nodes.Attr{Kind: nodes.File, Size: int64(len(e.source)) + e.lacks}, nil
}

func (e *tree) ReadAt(_ context.Context, _ nodes.ID, p []byte, off int64) (int, error) {
	e.reads++
	return nodes.ReadContent(e.source, p, off)
}

// open opens the file for writing, refuser tells whether by a handle that refuses
// early.
func (e *tree) open(refuser bool) *editing.Writer {
	e.editing.Lock()
	defer e.editing.Unlock()
	e.mu.Lock()
	defer e.mu.Unlock()
	if refuser {
		return e.owner.Open(&e.text, refusing{handle{e}})
	}
	return e.owner.Open(&e.text, handle{e})
}

// read is what the file shows.
func (e *tree) read(t rapid.TB) string {
	t.Helper()
	e.mu.RLock()
	defer e.mu.RUnlock()
	if !e.text.Held() {
		return string(e.source)
	}
	b := make([]byte, e.text.Size()+1)
	n, err := e.text.ReadAt(b, 0)
	if int64(n) != e.text.Size() || err != io.EOF { //nolint:errorlint // the end is io.EOF itself
		t.Errorf("read %d bytes of %d: %v", n, e.text.Size(), err)
	}
	return string(b[:n])
}

type handle struct{ e *tree }

func (h handle) Hold(ctx context.Context) error { return h.e.owner.Hold(ctx, 1, &h.e.text) }

func (h handle) Room(size int64) error { return editing.CheckSize(size, most) }

func (h handle) Touched() { h.e.touched++ }

func (h handle) Incomplete() bool { return h.e.incomplete }

func (h handle) Commit(context.Context) error {
	h.e.mu.Lock()
	defer h.e.mu.Unlock()
	h.e.commits++
	defer h.e.text.Drop()
	if bytes.HasPrefix(h.e.text.Bytes(), []byte("bad")) {
		return errBad
	}
	h.e.source, h.e.incomplete = bytes.Clone(h.e.text.Bytes()), false
	return nil
}

func (h handle) Settle() {
	h.e.settled++
	if !h.e.text.Dirty() {
		h.e.text.Drop()
	}
}

// refusing is a handle that refuses "no" wherever it is written.
type refusing struct{ handle }

func (refusing) Refuse(p []byte, _ int64) error {
	if string(p) == "no" {
		return errBad
	}
	return nil
}

func (r refusing) Revert() {
	r.e.mu.Lock()
	defer r.e.mu.Unlock()
	if r.e.incomplete {
		r.e.text.Empty()
	} else {
		r.e.text.Drop()
	}
}

// write, truncate, flush and release fail the test if they fail.
func write(t rapid.TB, w nodes.Writer, p string, off int64) {
	t.Helper()
	if n, err := w.WriteAt(context.Background(), []byte(p), off); n != len(p) || err != nil {
		t.Fatalf("write %q at %d: %d, %v", p, off, n, err)
	}
}

func truncate(t rapid.TB, w nodes.Writer, size int64) {
	t.Helper()
	if err := w.Truncate(context.Background(), size); err != nil {
		t.Fatalf("truncate to %d: %v", size, err)
	}
}

func flush(t rapid.TB, w nodes.Writer) {
	t.Helper()
	if err := w.Flush(context.Background()); err != nil {
		t.Fatalf("flush: %v", err)
	}
}

func release(t rapid.TB, w nodes.Writer) {
	t.Helper()
	if err := w.Release(); err != nil {
		t.Fatalf("release: %v", err)
	}
}

// shows fails the test if the file does not show a text, or the source is not another.
func (e *tree) shows(t rapid.TB, text, source string) {
	t.Helper()
	if got := e.read(t); got != text {
		t.Errorf("the file shows %q, want %q", got, text)
	}
	if string(e.source) != source {
		t.Errorf("the source has %q, want %q", e.source, source)
	}
}

func TestFlush(t *testing.T) {
	e := newTree("hello")
	w := e.open(false)
	flush(t, w)
	if e.commits != 0 || e.syncs.Load() != 0 {
		t.Errorf("%d commits and %d syncs of what was not written", e.commits, e.syncs.Load())
	}
	write(t, w, "J", 0)
	e.shows(t, "Jello", "hello")
	flush(t, w)
	e.shows(t, "Jello", "Jello")
	if e.commits != 1 || e.syncs.Load() != 1 || e.text.Held() {
		t.Errorf("%d commits, %d syncs, a text is held: %v; want 1, 1, false", e.commits, e.syncs.Load(), e.text.Held())
	}
	write(t, w, "y", 4)
	release(t, w)
	e.shows(t, "Jelly", "Jelly")
	if e.settled != 1 || e.text.Open() {
		t.Errorf("settled %d times, open: %v; want 1, false", e.settled, e.text.Open())
	}
}

func TestFlushFails(t *testing.T) {
	e := newTree("good")
	w := e.open(false)
	write(t, w, "bad ", 0)
	if err := w.Flush(t.Context()); !errors.Is(err, errBad) || e.syncs.Load() != 0 {
		t.Errorf("flush: %v, %d syncs; want %v, 0", err, e.syncs.Load(), errBad)
	}
	e.shows(t, "good", "good")
	write(t, w, "bad ", 0)
	if err := w.Sync(t.Context()); !errors.Is(err, errBad) || e.syncs.Load() != 1 {
		t.Errorf("sync: %v, %d syncs; want %v, 1", err, e.syncs.Load(), errBad)
	}
	write(t, w, "bad ", 0)
	if err := w.Release(); !errors.Is(err, errBad) {
		t.Errorf("release: %v, want %v", err, errBad)
	}
}

// Shells truncate a file, flush it, and only then write.
func TestCut(t *testing.T) {
	e := newTree("hello")
	w := e.open(false)
	truncate(t, w, 0)
	if e.reads != 0 {
		t.Error("what was to be cut off was read")
	}
	flush(t, w)
	e.shows(t, "", "hello")
	write(t, w, "new", 0)
	flush(t, w)
	e.shows(t, "new", "new")
	truncate(t, w, 0)
	flush(t, w)
	e.shows(t, "", "new")
	release(t, w)
	e.shows(t, "", "")
}

// What is cut to a length is judged when it is flushed, as nothing else need come.
func TestCutToLength(t *testing.T) {
	e := newTree("bad hello")
	w := e.open(false)
	truncate(t, w, 4)
	if err := w.Flush(t.Context()); !errors.Is(err, errBad) {
		t.Errorf("flush: %v, want %v", err, errBad)
	}
	e.shows(t, "bad hello", "bad hello")
	truncate(t, w, 0)
	truncate(t, w, 2)
	flush(t, w)
	e.shows(t, "\x00\x00", "\x00\x00")
	release(t, w)
}

// An empty write counts as one: truncate(2) gets its answer by it.
func TestEmptyWrite(t *testing.T) {
	e := newTree("hello")
	w := e.open(false)
	truncate(t, w, 2)
	write(t, w, "", 0)
	flush(t, w)
	e.shows(t, "he", "he")
	write(t, w, "", 9)
	e.shows(t, "he", "he")
	release(t, w)
}

func TestIncomplete(t *testing.T) {
	e := newTree("")
	e.incomplete = true
	e.text.Keep()
	a, b := e.open(false), e.open(false)
	flush(t, a)
	release(t, a)
	if e.commits != 0 || e.settled != 0 {
		t.Errorf("%d commits, settled %d times while the file is open", e.commits, e.settled)
	}
	release(t, b)
	if e.commits != 1 || e.settled != 1 {
		t.Errorf("%d commits, settled %d times; want 1 each", e.commits, e.settled)
	}
}

// What is behind the end is zeros, also where there was something before.
func TestGap(t *testing.T) {
	e := newTree("hello")
	w := e.open(false)
	truncate(t, w, 1)
	write(t, w, "!", 3)
	e.shows(t, "h\x00\x00!", "hello")
	truncate(t, w, 2)
	truncate(t, w, 5)
	e.shows(t, "h\x00\x00\x00\x00", "hello")
	release(t, w)
}

func TestLimits(t *testing.T) {
	e := newTree("hello")
	w := e.open(false)
	for _, off := range []int64{-1, most, most - 1, 1<<63 - 1} {
		if n, err := w.WriteAt(t.Context(), []byte("12"), off); n != 0 || !errors.Is(err, nodes.ErrTooLarge) {
			t.Errorf("write at %d: %d, %v; want %v", off, n, err, nodes.ErrTooLarge)
		}
	}
	if err := w.Truncate(t.Context(), most+1); !errors.Is(err, nodes.ErrTooLarge) {
		t.Errorf("truncate: %v, want %v", err, nodes.ErrTooLarge)
	}
	if err := w.Truncate(t.Context(), -1); !errors.Is(err, nodes.ErrInvalid) {
		t.Errorf("truncate to -1: %v, want %v", err, nodes.ErrInvalid)
	}
	e.shows(t, "hello", "hello")
	release(t, w)
	if e.commits != 0 || e.touched != 0 {
		t.Errorf("%d commits, touched %d times; want none", e.commits, e.touched)
	}
	w = e.open(false)
	write(t, w, "12", most-2)
	truncate(t, w, most)
	release(t, w)
}

func TestRefused(t *testing.T) {
	e := newTree("hello")
	w := e.open(true)
	refuse := func() {
		t.Helper()
		if _, err := w.WriteAt(t.Context(), []byte("no"), 0); !errors.Is(err, errBad) {
			t.Errorf("write: %v, want %v", err, errBad)
		}
	}
	refuse()
	flush(t, w) // nothing was accepted before
	write(t, w, "so far", 0)
	refuse()
	write(t, w, "more", 6)
	if err := w.Flush(t.Context()); !errors.Is(err, nodes.ErrInvalid) {
		t.Errorf("flush: %v, want %v", err, nodes.ErrInvalid)
	}
	e.shows(t, "hello", "hello")
	write(t, w, "so far", 0)
	refuse()
	truncate(t, w, 3)
	if err := w.Release(); !errors.Is(err, nodes.ErrInvalid) {
		t.Errorf("release: %v, want %v", err, nodes.ErrInvalid)
	}
	e.shows(t, "hello", "hello")
	if e.commits != 0 {
		t.Errorf("%d commits of what was refused", e.commits)
	}
}

// A new file of which a part was refused is new again, and so is committed empty.
func TestRefusedNew(t *testing.T) {
	e := newTree("")
	e.incomplete = true
	e.text.Keep()
	w := e.open(true)
	write(t, w, "so far", 0)
	if _, err := w.WriteAt(t.Context(), []byte("no"), 6); !errors.Is(err, errBad) {
		t.Errorf("write: %v, want %v", err, errBad)
	}
	if err := w.Flush(t.Context()); !errors.Is(err, nodes.ErrInvalid) {
		t.Errorf("flush: %v, want %v", err, nodes.ErrInvalid)
	}
	if e.shows(t, "", ""); !e.text.Held() || e.text.Dirty() {
		t.Errorf("held: %v, dirty: %v; want true, false", e.text.Held(), e.text.Dirty())
	}
	release(t, w)
	if e.commits != 1 {
		t.Errorf("%d commits, want 1", e.commits)
	}
}

// Who begins anew after a refusal has nothing refused.
func TestRefusedBegunAnew(t *testing.T) {
	for name, begin := range map[string]func(rapid.TB, nodes.Writer){
		"write":    func(t rapid.TB, w nodes.Writer) { write(t, w, "other", 0) },
		"truncate": func(t rapid.TB, w nodes.Writer) { truncate(t, w, 0); write(t, w, "other", 0) },
	} {
		t.Run(name, func(t *testing.T) {
			e := newTree("hello")
			w := e.open(true)
			write(t, w, "five.", 0)
			if _, err := w.WriteAt(t.Context(), []byte("no"), 5); !errors.Is(err, errBad) {
				t.Errorf("write: %v, want %v", err, errBad)
			}
			begin(t, w)
			flush(t, w)
			e.shows(t, "other", "other")
			release(t, w)
		})
	}
}

// A text that is written from the first byte to the last, bit by bit, is not copied
// for each of them.
func TestGrowth(t *testing.T) {
	e := newTree("")
	w := e.open(false)
	moved, size := 0, int64(0)
	for off := int64(0); off < most; off += 64 {
		write(t, w, string(make([]byte, 64)), off)
		if now := e.text.Cap(); now != size {
			moved, size = moved+1, now
		}
	}
	if moved > 64 {
		t.Errorf("the text was moved %d times", moved)
	}
	truncate(t, w, 0)
	if e.text.Cap() != 0 {
		t.Errorf("an empty text takes %d bytes", e.text.Cap())
	}
	release(t, w)
}

func TestHold(t *testing.T) {
	e := newTree("hello")
	for range 2 {
		if err := e.owner.Hold(t.Context(), 1, &e.text); err != nil || e.reads != 1 {
			t.Errorf("%v after %d reads, want 1", err, e.reads)
		}
	}
	if e.owner.HoldAs(&e.text, []byte("other")); string(e.text.Bytes()) != "hello" {
		t.Errorf("it holds %q, want what it held", e.text.Bytes())
	}
}

// What can't be read as a whole can't be written to, but for what leaves nothing of it.
func TestHoldFails(t *testing.T) {
	e := newTree("hello")
	e.lacks = 1
	w := e.open(false)
	if _, err := w.WriteAt(t.Context(), []byte("J"), 0); !errors.Is(err, io.EOF) {
		t.Errorf("write: %v, want %v", err, io.EOF)
	}
	if err := w.Truncate(t.Context(), 1); !errors.Is(err, io.EOF) {
		t.Errorf("truncate: %v, want %v", err, io.EOF)
	}
	e.incomplete = true
	if _, err := w.WriteAt(t.Context(), []byte("J"), 0); !errors.Is(err, errBad) {
		t.Errorf("write: %v, want %v", err, errBad)
	}
	e.incomplete = false
	e.shows(t, "hello", "hello")
	truncate(t, w, 0)
	release(t, w)
	e.shows(t, "", "")
}

func TestReadAllocates(t *testing.T) {
	var text editing.Text
	text.Hold(make([]byte, 1000))
	p := make([]byte, 100)
	if n := testing.AllocsPerRun(100, func() { _, _ = text.ReadAt(p, 10) }); n != 0 {
		t.Errorf("a read allocates %v times", n)
	}
}

func TestParallel(t *testing.T) {
	e := newTree("hello")
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for range 100 {
				w := e.open(true)
				write(t, w, "hello", 0)
				flush(t, w)
				if got := e.read(t); got != "hello" {
					t.Errorf("read %q", got)
				}
				release(t, w)
			}
		})
	}
	group.Wait()
	if e.text.Open() || e.text.Held() {
		t.Error("the text is still there")
	}
}

// model is what a file that several write to has to show.
type model struct {
	shown, source []byte
	written, cut  bool
	writers       []*editing.Writer
	commits       int
}

func (m *model) write(p []byte, off int) {
	if end := off + len(p); len(p) > 0 {
		m.shown = append(m.shown, make([]byte, max(end-len(m.shown), 0))...)
		copy(m.shown[off:], p)
	}
	m.written, m.cut = true, false
}

func (m *model) truncate(size int) {
	m.shown = append(m.shown, make([]byte, max(size-len(m.shown), 0))...)[:size:size]
	m.written, m.cut = true, size == 0
}

func (m *model) commit() {
	m.source, m.written, m.cut = bytes.Clone(m.shown), false, false
	m.commits++
}

// step does something at random to the file and the model.
func (m *model) step(t *rapid.T, e *tree) {
	if len(m.writers) == 0 {
		m.writers = append(m.writers, e.open(rapid.Bool().Draw(t, "refuser")))
	}
	w := rapid.IntRange(0, len(m.writers)-1).Draw(t, "writer")
	switch rapid.IntRange(0, 4).Draw(t, "op") {
	case 0:
		m.writers = append(m.writers, e.open(false))
	case 1:
		p := rapid.SliceOfN(rapid.ByteRange('0', '9'), 0, 40).Draw(t, "p")
		off := rapid.IntRange(0, 60).Draw(t, "off")
		write(t, m.writers[w], string(p), int64(off))
		m.write(p, off)
	case 2:
		size := rapid.IntRange(0, 60).Draw(t, "size")
		truncate(t, m.writers[w], int64(size))
		m.truncate(size)
	case 3:
		flush(t, m.writers[w])
		if m.written && !m.cut {
			m.commit()
		}
	case 4:
		release(t, m.writers[w])
		m.writers = append(m.writers[:w], m.writers[w+1:]...)
		if len(m.writers) == 0 && m.written {
			m.commit()
		}
	}
}

func TestModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e, m := newTree("0123456789"), &model{shown: []byte("0123456789"), source: []byte("0123456789")}
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			m.step(t, e)
			e.shows(t, string(m.shown), string(m.source))
			if e.commits != m.commits || e.text.Open() != (len(m.writers) > 0) {
				t.Fatalf("%d commits, open: %v; want %d, %d writers", e.commits, e.text.Open(), m.commits, len(m.writers))
			}
		}
	})
}
