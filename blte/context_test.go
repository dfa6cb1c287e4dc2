package blte_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"lorefs/blte"
	"lorefs/blte/bltetest"
	"lorefs/internal/cache"
)

// stalled is a source that has the first bytes of a file, and never answers for others.
type stalled struct {
	*bytes.Reader
	have int64
}

func (s stalled) ReadAtContext(ctx context.Context, p []byte, off int64) (int, error) {
	if off+int64(len(p)) <= s.have {
		return s.ReadAt(p, off)
	}
	<-ctx.Done()
	return 0, ctx.Err()
}

// TestContext checks that every read ends when its context ends, in chunks of all sizes.
func TestContext(t *testing.T) {
	small, large := bltetest.Text(1000), bltetest.Text(9<<20)
	for name, content := range map[string][]byte{"small": small, "large": large} {
		file := bltetest.Build(t, blte.WriteOptions{}, blte.Chunk{Content: small, Mode: blte.ModeZlib}, blte.Chunk{Content: content})
		h, err := blte.ReadHeader(bytes.NewReader(file), int64(len(file)))
		if err != nil {
			t.Fatal(err)
		}
		off := h.Chunks[1].DecodedOff
		for what, read := range map[string]func(context.Context, *blte.Reader) error{
			"ReadAtContext": func(ctx context.Context, r *blte.Reader) error {
				_, err := r.ReadAtContext(ctx, make([]byte, 10), off)
				return err
			},
			"ReadFilledAt": func(ctx context.Context, r *blte.Reader) error {
				_, err := r.ReadFilledAt(ctx, make([]byte, 10), off)
				return err
			},
			"ReadPlainAt": func(ctx context.Context, r *blte.Reader) error {
				if r.ReadPlainAt(ctx, make([]byte, 10), off) {
					t.Errorf("%s chunk: ReadPlainAt has read what never came", name)
				}
				return ctx.Err()
			},
			"CopyChunk":  func(ctx context.Context, r *blte.Reader) error { return r.CopyChunk(ctx, io.Discard, 1) },
			"MissingKey": func(ctx context.Context, r *blte.Reader) error { _, _, err := r.MissingKey(ctx); return err },
			"Gaps":       func(ctx context.Context, r *blte.Reader) error { _, err := r.Gaps(ctx); return err },
		} {
			synctest.Test(t, func(t *testing.T) {
				src := stalled{bytes.NewReader(file), h.Chunks[1].Off}
				r, err := blte.NewReader(t.Context(), src, int64(len(file)), blte.Options{})
				if err != nil {
					t.Fatal(err)
				}
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				if err := read(ctx, r); !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("%s chunk, %s: %v", name, what, err)
				}
				if n, err := r.ReadAtContext(t.Context(), make([]byte, len(small)), 0); n != len(small) || err != nil {
					t.Errorf("%s chunk, after %s: %d bytes, %v", name, what, n, err)
				}
			})
		}
	}
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		file := bltetest.Build(t, blte.WriteOptions{}, blte.Chunk{Content: small})
		_, err := blte.NewReader(ctx, stalled{Reader: bytes.NewReader(file)}, int64(len(file)), blte.Options{})
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("NewReader: %v", err)
		}
	})
}

// TestGapsEnd checks that the chunks of a file that has to be decoded to find its gaps are not
// read to the end if nobody waits for that any more, also if the source always answers.
func TestGapsEnd(t *testing.T) {
	secret := &blte.Encryption{Name: bltetest.SecretName, IV: []byte{1, 2, 3, 4}, Cipher: blte.CipherSalsa20}
	chunks := make([]blte.Chunk, 8)
	for i := range chunks {
		chunks[i] = blte.Chunk{Content: bltetest.Text(1000), Encrypt: secret, Key: bltetest.Key()}
	}
	file := bltetest.Build(t, blte.WriteOptions{}, chunks...)
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	src := &ready{Reader: bytes.NewReader(file)}
	r, err := blte.NewReader(t.Context(), src, int64(len(file)), blte.Options{})
	if err != nil {
		t.Fatal(err)
	}
	src.leave, src.reads = leave, 0
	if _, err := r.Gaps(ctx); !errors.Is(err, context.Canceled) || src.reads >= len(chunks) {
		t.Errorf("%d reads, %v", src.reads, err)
	}
}

// ready is a source that counts reads, at the first of which the reader leaves.
type ready struct {
	*bytes.Reader
	leave context.CancelFunc
	reads int
}

func (r *ready) ReadAt(p []byte, off int64) (int, error) {
	if r.reads++; r.leave != nil {
		r.leave()
	}
	return r.Reader.ReadAt(p, off)
}

// late is a source that answers for a chunk when it is told to.
type late struct {
	stalled
	answer chan struct{}
}

func (l late) ReadAtContext(ctx context.Context, p []byte, off int64) (int, error) {
	if off+int64(len(p)) > l.have {
		select {
		case <-l.answer:
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
	return l.ReadAt(p, off)
}

// TestReaderLeaves checks that the load of a chunk goes on for others if the reader that asked
// for it first leaves.
func TestReaderLeaves(t *testing.T) {
	content := bltetest.Text(1000)
	file := bltetest.Build(t, blte.WriteOptions{}, blte.Chunk{Content: content})
	h, err := blte.ReadHeader(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	for name, blocks := range map[string]blte.BlockCache{"one block": nil, "all blocks": &cache.All{}} {
		synctest.Test(t, func(t *testing.T) {
			src := late{stalled{bytes.NewReader(file), h.Size}, make(chan struct{})}
			r, err := blte.NewReader(t.Context(), src, int64(len(file)), blte.Options{Blocks: blocks})
			if err != nil {
				t.Fatal(err)
			}
			impatient, leave := context.WithCancel(t.Context())
			var first, second sync.WaitGroup
			first.Go(func() {
				if _, err := r.ReadAtContext(impatient, make([]byte, 10), 0); !errors.Is(err, context.Canceled) {
					t.Errorf("%s: who left got %v", name, err)
				}
			})
			synctest.Wait()
			second.Go(func() {
				got := make([]byte, len(content))
				if _, err := r.ReadAtContext(t.Context(), got, 0); !bytes.Equal(got, content) || err != nil {
					t.Errorf("%s: who stayed got %q, %v", name, got, err)
				}
			})
			synctest.Wait()
			leave()
			first.Wait()
			close(src.answer)
			second.Wait()
		})
	}
}
