package overlay_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"lorefs/nodes"
	"lorefs/nodes/nodetest"
	"lorefs/nodes/overlay"
)

// slip is a tree of one file. It accepts any text but one that begins with "bad", and refuses
// "no" as soon as it is written.
type slip struct {
	*nodetest.Mutable
	t    rapid.TB
	file nodes.ID
	// mu guards the text that the source accepted last, and the number of puts.
	mu   sync.Mutex
	took string
	puts int
}

const most = 1 << 24 // of a nodetest.Mutable

var errBad = fmt.Errorf("%w: it is bad", nodes.ErrInvalid)

func newSlip(t rapid.TB, text string) *slip {
	s := &slip{Mutable: nodetest.NewMutable(map[string]string{"file": text}), t: t, file: nodes.Root + 1, took: text}
	s.Valid = func(_ string, content []byte) error {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.puts++
		if bytes.HasPrefix(content, []byte("bad")) {
			return errBad
		}
		s.took = string(content)
		return nil
	}
	s.Hopeless = func(begin []byte) error {
		if bytes.HasSuffix(begin, []byte("no")) {
			return errBad
		}
		return nil
	}
	return s
}

func (s *slip) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *slip) open() nodes.Writer {
	s.t.Helper()
	w, err := s.OpenWrite(context.Background(), s.file)
	s.must(err)
	return w
}

func (s *slip) write(w nodes.Writer, p string, off int64) {
	s.t.Helper()
	if n, err := w.WriteAt(context.Background(), []byte(p), off); n != len(p) || err != nil {
		s.t.Fatalf("write %q at %d: %d, %v", p, off, n, err)
	}
}

func (s *slip) truncate(w nodes.Writer, size int64) {
	s.t.Helper()
	s.must(w.Truncate(context.Background(), size))
}

func (s *slip) flush(w nodes.Writer) {
	s.t.Helper()
	s.must(w.Flush(context.Background()))
}

// refused fails the test unless a write fails at once.
func (s *slip) refused(w nodes.Writer, p string, off int64) {
	s.t.Helper()
	if _, err := w.WriteAt(context.Background(), []byte(p), off); !errors.Is(err, errBad) {
		s.t.Errorf("write: %v, want %v", err, errBad)
	}
}

func (s *slip) wantInvalid(what string, err error) {
	s.t.Helper()
	if !errors.Is(err, nodes.ErrInvalid) {
		s.t.Errorf("%s: %v, want %v", what, err, nodes.ErrInvalid)
	}
}

// shows fails the test unless the file shows one text and the source accepted the other last.
func (s *slip) shows(text, took string) {
	s.t.Helper()
	got, err := nodetest.ReadFile(context.Background(), s, s.file)
	if string(got) != text || err != nil {
		s.t.Errorf("the file shows %q, %v; want %q", got, err, text)
	}
	if s.took != took {
		s.t.Errorf("the source has %q, want %q", s.took, took)
	}
}

// counts fails the test unless there were so many puts and syncs.
func (s *slip) counts(puts, syncs int) {
	s.t.Helper()
	if s.puts != puts || s.Syncs() != syncs {
		s.t.Errorf("%d puts and %d syncs, want %d and %d", s.puts, s.Syncs(), puts, syncs)
	}
}

func TestFlush(t *testing.T) {
	s := newSlip(t, "hello")
	w := s.open()
	s.flush(w)
	s.counts(0, 0)
	s.write(w, "J", 0)
	s.shows("Jello", "hello")
	s.flush(w)
	s.shows("Jello", "Jello")
	s.counts(1, 1)
	s.Put(s.file, "Other") // visible, since no text is held any more
	s.shows("Other", "Jello")
	s.write(w, "y", 4)
	s.must(w.Release())
	s.shows("Othey", "Othey")
}

func TestFlushFails(t *testing.T) {
	s := newSlip(t, "good")
	w := s.open()
	s.write(w, "bad ", 0)
	s.wantInvalid("flush", w.Flush(t.Context()))
	s.counts(1, 0)
	s.shows("good", "good")
	s.write(w, "bad ", 0)
	s.wantInvalid("sync", w.Sync(t.Context()))
	s.counts(2, 1)
	s.write(w, "bad ", 0)
	s.wantInvalid("release", w.Release())
	s.shows("good", "good")
}

// Shells truncate a file, flush it, and only then write.
func TestCut(t *testing.T) {
	s := newSlip(t, "hello")
	w := s.open()
	s.truncate(w, 0)
	s.flush(w)
	s.shows("", "")
	s.counts(1, 1)
	s.write(w, "new", 0)
	s.flush(w)
	s.shows("new", "new")
	s.truncate(w, 0)
	s.must(w.Sync(t.Context()))
	s.shows("", "")
	s.counts(3, 3)
	s.must(w.Release())
	s.counts(3, 3)
}

// A source that has no empty texts refuses what a shell leaves between emptying and writing. Only
// fsync(2) and the last close say so, and what is written begins with nothing.
func TestCutRefused(t *testing.T) {
	s := newSlip(t, "hello")
	s.Valid = func(_ string, content []byte) error {
		if len(content) == 0 {
			return errBad
		}
		s.took = string(content)
		return nil
	}
	w := s.open()
	s.truncate(w, 0)
	s.flush(w)
	s.shows("", "hello")
	s.wantInvalid("sync", w.Sync(t.Context()))
	s.shows("", "hello")
	s.write(w, "new", 0)
	s.flush(w)
	s.shows("new", "new")
	s.truncate(w, 0)
	s.wantInvalid("release", w.Release())
	s.shows("new", "new")
}

// A text that can't be put for another reason than itself is reported by each close, emptied or
// not.
func TestCutFails(t *testing.T) {
	s := newSlip(t, "hello")
	s.Valid = func(string, []byte) error { return nodes.ErrNoSpace }
	w := s.open()
	s.truncate(w, 0)
	if err := w.Flush(t.Context()); !errors.Is(err, nodes.ErrNoSpace) {
		t.Errorf("flush: %v, want %v", err, nodes.ErrNoSpace)
	}
	s.shows("", "hello")
	if err := w.Release(); !errors.Is(err, nodes.ErrNoSpace) {
		t.Errorf("release: %v, want %v", err, nodes.ErrNoSpace)
	}
}

// What nobody has flushed is put, and synced, when the last writer is released.
func TestReleaseSyncs(t *testing.T) {
	s := newSlip(t, "hello")
	w := s.open()
	s.write(w, "J", 0)
	s.must(w.Release())
	s.shows("Jello", "Jello")
	s.counts(1, 1)
}

// A text that is cut to a length is put when it is flushed, as nothing more has to follow.
func TestCutToLength(t *testing.T) {
	s := newSlip(t, "bad hello")
	w := s.open()
	s.truncate(w, 4)
	s.wantInvalid("flush", w.Flush(t.Context()))
	s.shows("bad hello", "bad hello")
	s.truncate(w, 0)
	s.truncate(w, 2)
	s.flush(w)
	s.shows("\x00\x00", "\x00\x00")
	s.must(w.Release())
}

// An empty write counts as a write, so that truncate(2) gets the result of the put.
func TestEmptyWrite(t *testing.T) {
	s := newSlip(t, "hello")
	w := s.open()
	s.truncate(w, 2)
	s.write(w, "", 0)
	s.flush(w)
	s.shows("he", "he")
	s.write(w, "", 9)
	s.shows("he", "he")
	s.must(w.Release())
}

// A new file without writes becomes one of the source when a handle is closed.
func TestNewAndEmpty(t *testing.T) {
	s := newSlip(t, "")
	entry, err := s.Create(t.Context(), nodes.Root, "new")
	s.must(err)
	s.file = entry.ID
	a, b := s.open(), s.open()
	s.must(a.Release())
	if loose := s.Loose(); len(loose.Strays) != 1 {
		t.Errorf("while it is open: %+v", loose)
	}
	s.flush(b)
	if loose := s.Loose(); len(loose.Strays) != 0 {
		t.Errorf("when it is closed: %+v", loose)
	}
	s.must(b.Release())
	if s.Syncs() != 1 {
		t.Errorf("%d syncs, want 1", s.Syncs())
	}
}

// A gap behind the end is filled with zeros, even if there were other bytes before.
func TestGap(t *testing.T) {
	s := newSlip(t, "hello")
	w := s.open()
	s.truncate(w, 1)
	s.write(w, "!", 3)
	s.shows("h\x00\x00!", "hello")
	s.truncate(w, 2)
	s.truncate(w, 5)
	s.shows("h\x00\x00\x00\x00", "hello")
	s.must(w.Release())
}

func TestLimits(t *testing.T) {
	s := newSlip(t, "hello")
	w := s.open()
	for _, off := range []int64{-1, most, most - 1, 1<<63 - 1} {
		if n, err := w.WriteAt(t.Context(), []byte("12"), off); n != 0 || !errors.Is(err, nodes.ErrTooLarge) {
			t.Errorf("write at %d: %d, %v; want %v", off, n, err, nodes.ErrTooLarge)
		}
	}
	if err := w.Truncate(t.Context(), most+1); !errors.Is(err, nodes.ErrTooLarge) {
		t.Errorf("truncate: %v, want %v", err, nodes.ErrTooLarge)
	}
	s.wantInvalid("truncate to -1", w.Truncate(t.Context(), -1))
	s.shows("hello", "hello")
	s.must(w.Release())
	s.counts(0, 0)
	w = s.open()
	s.write(w, "12", most-2)
	s.truncate(w, most)
	s.must(w.Release())
}

func TestRefusedAtOnce(t *testing.T) {
	s := newSlip(t, "hello")
	w := s.open()
	s.refused(w, "---no", 0)
	s.flush(w) // nothing was accepted before the refusal
	s.write(w, "so far", 0)
	s.refused(w, "no", 6)
	s.write(w, "more", 6)
	s.wantInvalid("flush", w.Flush(t.Context()))
	s.shows("hello", "hello")
	s.write(w, "so far", 0)
	s.refused(w, "no", 6)
	s.truncate(w, 3)
	s.wantInvalid("release", w.Release())
	s.shows("hello", "hello")
	s.counts(0, 0)
}

// A new file of which a part was refused becomes new again, and so is put as an empty one.
func TestRefusedAtOnceNew(t *testing.T) {
	s := newSlip(t, "")
	entry, err := s.Create(t.Context(), nodes.Root, "new")
	s.must(err)
	s.file = entry.ID
	w := s.open()
	s.write(w, "so far", 0)
	s.refused(w, "no", 6)
	s.wantInvalid("flush", w.Flush(t.Context()))
	s.shows("", "")
	s.must(w.Release())
	if loose := s.Loose(); len(loose.Strays) != 0 {
		t.Errorf("when it is closed: %+v", loose)
	}
}

// A writer that starts over after a refusal has no refused text.
func TestRefusedBegunAnew(t *testing.T) {
	for name, begin := range map[string]func(*slip, nodes.Writer){
		"write":    func(s *slip, w nodes.Writer) { s.write(w, "other", 0) },
		"truncate": func(s *slip, w nodes.Writer) { s.truncate(w, 0); s.write(w, "other", 0) },
	} {
		t.Run(name, func(t *testing.T) {
			s := newSlip(t, "hello")
			w := s.open()
			s.write(w, "five.", 0)
			s.refused(w, "no", 5)
			begin(s, w)
			s.flush(w)
			s.shows("other", "other")
			s.must(w.Release())
		})
	}
}

// short is a source whose files are shorter than their size. Its Attr fails if fails is set.
type short struct {
	*shelf
	fails error
	reads int
}

func (s *short) Attr(ctx context.Context, id nodes.ID) (nodes.Attr, error) {
	attr, err := s.shelf.Attr(ctx, id)
	attr.Size++
	return attr, errors.Join(err, s.fails)
}

func (s *short) ReadAt(ctx context.Context, id nodes.ID, p []byte, off int64) (int, error) {
	s.reads++
	return s.shelf.ReadAt(ctx, id, p, off)
}

// A file that can't be read as a whole can't be written to. A write that leaves nothing of it
// succeeds, because then the file isn't read.
func TestHoldFails(t *testing.T) {
	_, shelf := newShelf(roomy)
	src := &short{shelf: shelf}
	tree := overlay.New(src, overlay.Options{FirstID: firstID, EditOptions: overlay.EditOptions{Limits: roomy}})
	w, err := tree.OpenWrite(t.Context(), one)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.WriteAt(t.Context(), []byte("J"), 0); !errors.Is(err, io.EOF) {
		t.Errorf("write: %v, want %v", err, io.EOF)
	}
	if err := w.Truncate(t.Context(), 1); !errors.Is(err, io.EOF) {
		t.Errorf("truncate: %v, want %v", err, io.EOF)
	}
	src.fails = errBad
	if _, err := w.WriteAt(t.Context(), []byte("J"), 0); !errors.Is(err, errBad) {
		t.Errorf("write: %v, want %v", err, errBad)
	}
	src.fails, src.reads = nil, 0
	if err := errors.Join(w.Truncate(t.Context(), 0), w.Release()); err != nil || src.reads != 0 || shelf.texts[one] != "" {
		t.Errorf("%v, %d reads, the source has %q", err, src.reads, shelf.texts[one])
	}
}

func TestParallel(t *testing.T) {
	s := newSlip(t, "hello")
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for range 100 {
				w := s.open()
				s.write(w, "hello", 0)
				s.flush(w)
				if got, err := nodetest.ReadFile(t.Context(), s, s.file); string(got) != "hello" || err != nil {
					t.Errorf("read %q, %v", got, err)
				}
				s.must(w.Release())
			}
		})
	}
	group.Wait()
	s.Put(s.file, "other")
	s.shows("other", "hello")
}

// paper is what a file with several writers has to show.
type paper struct {
	shown, took []byte
	written     bool
	writers     []nodes.Writer
	puts        int
}

func (p *paper) write(b []byte, off int) {
	if end := off + len(b); len(b) > 0 {
		p.shown = append(p.shown, make([]byte, max(end-len(p.shown), 0))...)
		copy(p.shown[off:], b)
	}
	p.written = true
}

func (p *paper) truncate(size int) {
	p.shown = append(p.shown, make([]byte, max(size-len(p.shown), 0))...)[:size:size]
	p.written = true
}

func (p *paper) put() {
	p.took, p.written = bytes.Clone(p.shown), false
	p.puts++
}

// step edits the file and the model at random.
func (p *paper) step(t *rapid.T, s *slip) {
	if len(p.writers) == 0 {
		p.writers = append(p.writers, s.open())
	}
	w := rapid.IntRange(0, len(p.writers)-1).Draw(t, "writer")
	switch rapid.IntRange(0, 4).Draw(t, "op") {
	case 0:
		p.writers = append(p.writers, s.open())
	case 1:
		b := rapid.SliceOfN(rapid.ByteRange('0', '9'), 0, 40).Draw(t, "b")
		off := rapid.IntRange(0, 60).Draw(t, "off")
		s.write(p.writers[w], string(b), int64(off))
		p.write(b, off)
	case 2:
		size := rapid.IntRange(0, 60).Draw(t, "size")
		s.truncate(p.writers[w], int64(size))
		p.truncate(size)
	case 3:
		s.flush(p.writers[w])
		if p.written {
			p.put()
		}
	case 4:
		s.must(p.writers[w].Release())
		p.writers = append(p.writers[:w], p.writers[w+1:]...)
		if len(p.writers) == 0 && p.written {
			p.put()
		}
	}
}

func TestWritersModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, p := newSlip(t, "0123456789"), &paper{shown: []byte("0123456789"), took: []byte("0123456789")}
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			p.step(t, s)
			s.shows(string(p.shown), string(p.took))
			if s.puts != p.puts {
				t.Fatalf("%d puts, want %d", s.puts, p.puts)
			}
		}
	})
}
