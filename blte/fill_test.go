package blte_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"lorefs/blte"
	"lorefs/blte/bltetest"
)

// encoded returns a chunk as it stands at place index of a file.
func encoded(t testing.TB, index int, c blte.Chunk) []byte {
	t.Helper()
	chunks := make([]blte.Chunk, index+1)
	chunks[index] = c
	file := bltetest.Build(t, blte.WriteOptions{}, chunks...)
	h, err := blte.ReadHeader(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	return file[h.Chunks[index].Off:]
}

// partial is a file with chunks of unknown keys between others: of odd sizes, side by side,
// in a file inside, and below an encryption whose key is known.
func partial(t testing.TB) (file, content []byte, gaps []blte.Gap) {
	t.Helper()
	known := &blte.Encryption{Name: bltetest.KeyName, IV: []byte{1, 2, 3, 4}, Cipher: blte.CipherSalsa20}
	secret := &blte.Encryption{Name: bltetest.SecretName, IV: []byte{8, 7, 6, 5, 4, 3, 2, 1}, Cipher: blte.CipherSalsa20}
	var chunks [][]byte
	var sizes []int
	put := func(chunk, plain []byte, hidden bool) {
		if n := int64(len(plain)); hidden {
			last := len(gaps) - 1
			if off := int64(len(content)); last >= 0 && gaps[last].Off+gaps[last].Size == off {
				gaps[last].Size += n
			} else {
				gaps = append(gaps, blte.Gap{Off: off, Size: n, Key: bltetest.SecretName})
			}
			plain = make([]byte, n)
		}
		chunks, sizes, content = append(chunks, chunk), append(sizes, len(plain)), append(content, plain...)
	}
	add := func(size int, mode byte, e *blte.Encryption) {
		plain := bltetest.Noise(size, uint64(len(chunks)))
		put(encoded(t, len(chunks), blte.Chunk{Content: plain, Mode: mode, Encrypt: e, Key: bltetest.Key()}), plain, e == secret)
	}
	add(33, blte.ModePlain, nil)
	add(257, blte.ModeZlib, secret)
	add(1, blte.ModePlain, secret)
	add(1001, blte.ModeZlib, nil)
	add(77, blte.ModePlain, known)
	add(4099, blte.ModePlain, secret)
	add(0, blte.ModePlain, secret)
	add(63, blte.ModePlain, known)
	text := bltetest.Text(91)
	inside := bltetest.Build(t, blte.WriteOptions{}, blte.Chunk{Content: text[:50]}, blte.Chunk{Content: text[50:], Encrypt: secret, Key: bltetest.Key()})
	put(bltetest.Frame(inside), text, true)
	add(19, blte.ModePlain, nil)
	// A chunk that is encrypted twice: the header of the inner encryption lies in the outer.
	inner := encoded(t, 0, blte.Chunk{Content: text, Encrypt: secret, Key: bltetest.Key()})
	twice := encoded(t, len(chunks), blte.Chunk{Content: inner[1:], Encrypt: known, Key: bltetest.Key()})
	stream := encoded(t, len(chunks), blte.Chunk{Content: make([]byte, len(inner)), Encrypt: known, Key: bltetest.Key()})
	head := len(twice) - len(inner)
	twice[head] = stream[head] ^ blte.ModePlain ^ inner[0]
	put(twice, text, true)
	add(5, blte.ModeZlib, nil)
	return bltetest.Table(chunks, sizes), content, gaps
}

// TestFilled reads a file at many offsets: everything but the gaps is as it should be, and
// the cache serves a reader that does not fill.
func TestFilled(t *testing.T) {
	file, content, want := partial(t)
	for what, proof := range map[string]func(context.Context, *blte.Reader) error{
		"no proof": nil,
		"proof": func(ctx context.Context, r *blte.Reader) error {
			for i := range r.Header().Chunks {
				if err := r.CopyChunk(ctx, io.Discard, i); err != nil {
					return err
				}
			}
			return nil
		},
	} {
		cache := countingBlocks{}
		opts := blte.Options{Keys: bltetest.Keys(), Blocks: cache, FirstBlock: 1000, Decrypted: proof}
		open := func() *blte.Reader {
			r, err := blte.NewReader(t.Context(), bytes.NewReader(file), int64(len(file)), opts)
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
		r := open()
		got := make([]byte, len(content)+1)
		if n, err := r.ReadFilledAt(t.Context(), got, 0); n != len(content) || err != io.EOF || !bytes.Equal(got[:n], content) { //nolint:errorlint // io.ReaderAt
			t.Errorf("%s: %d bytes, %v", what, n, err)
		}
		random := rand.New(rand.NewPCG(1, 2))
		for off := range int64(len(content)) {
			p := got[:1+random.IntN(300)]
			n, err := r.ReadFilledAt(t.Context(), p, off)
			end := min(int(off)+len(p), len(content))
			if !bytes.Equal(p[:n], content[off:end]) || (err != nil) != (n < len(p)) {
				t.Fatalf("%s: offset %d: %d bytes, %v", what, off, n, err)
			}
		}
		gaps, err := open().Gaps(t.Context())
		if err != nil || !slices.Equal(gaps, want) {
			t.Errorf("%s: %v, %v, want %v", what, gaps, err, want)
		}
		// None of the zeros may be in the cache.
		strict := open()
		for _, g := range want {
			for off := g.Off; off < g.Off+g.Size; off++ {
				if n, err := strict.ReadAt(got[:1], off); n != 0 || !errors.Is(err, blte.ErrNoKey) {
					t.Fatalf("%s: without filling, offset %d: %d bytes, %v", what, off, n, err)
				}
			}
		}
	}
}

// TestFilledDamage damages what is encrypted: zeros are no excuse for that.
func TestFilledDamage(t *testing.T) {
	file, content, _ := partial(t)
	h, err := blte.ReadHeader(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range h.Chunks {
		bad := bytes.Clone(file)
		bad[c.Off+c.EncodedSize-1] ^= 1
		r, err := blte.NewReader(t.Context(), bytes.NewReader(bad), int64(len(bad)), blte.Options{Keys: bltetest.Keys()})
		if err != nil {
			t.Fatal(err)
		}
		got := make([]byte, len(content))
		n, err := r.ReadFilledAt(t.Context(), got, 0)
		if c.DecodedSize == 0 {
			continue // nothing of it is read
		}
		if _, ok := errors.AsType[*blte.FormatError](err); !ok || errors.Is(err, blte.ErrNoKey) || int64(n) != c.DecodedOff {
			t.Errorf("chunk %d: %d bytes, %v", i, n, err)
		}
	}
}

// TestFilledClaims has sizes that no chunk can decode to.
func TestFilledClaims(t *testing.T) {
	secret := &blte.Encryption{Name: bltetest.SecretName, IV: []byte{1, 2, 3, 4}, Cipher: blte.CipherSalsa20}
	chunk := encoded(t, 0, blte.Chunk{Content: []byte("abc"), Encrypt: secret, Key: bltetest.Key()})
	for _, c := range []struct {
		size int
		want string
	}{{3, ""}, {1032 * len(chunk), ""}, {1032*len(chunk) + 1, "can't become the stated"}, {1 << 30, "can't become the stated"}, {1<<32 - 1, "more than the"}} {
		file := bltetest.Table([][]byte{chunk}, []int{c.size})
		r, err := blte.NewReader(t.Context(), bytes.NewReader(file), int64(len(file)), blte.Options{})
		if err != nil {
			t.Fatal(err)
		}
		got := []byte{1, 2}
		n, err := r.ReadFilledAt(t.Context(), got, int64(c.size)-2)
		switch {
		case c.want == "" && (n != 2 || err != nil || got[0]|got[1] != 0):
			t.Errorf("%d: %d bytes, % x, %v", c.size, n, got, err)
		case c.want != "" && (n != 0 || err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%d: %d bytes, %v", c.size, n, err)
		}
	}
	// Without a table the size comes from elsewhere, and so may be wrong, too.
	file := bltetest.Build(t, blte.WriteOptions{NoTable: true}, blte.Chunk{Content: []byte("abc"), Encrypt: secret, Key: bltetest.Key()})
	for size, ok := range map[int64]bool{3: true, 1 << 20: false} {
		r, err := blte.NewReader(t.Context(), bytes.NewReader(file), int64(len(file)), blte.Options{Size: size})
		if err != nil {
			t.Fatal(err)
		}
		got := []byte{7, 7, 7}
		if n, err := r.ReadFilledAt(t.Context(), got, 0); (n == 3 && err == nil && bytes.Equal(got, make([]byte, 3))) != ok {
			t.Errorf("%d: %d bytes, % x, %v", size, n, got, err)
		}
	}
}
