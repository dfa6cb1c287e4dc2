package blte_test

import (
	"bytes"
	"context"
	"crypto/md5"
	"encoding/hex"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"lorefs/blte"
	"lorefs/blte/bltetest"
	"lorefs/internal/testneeds"
)

func read(file []byte, opts blte.Options) ([]byte, error) {
	r, err := blte.NewReader(context.Background(), bytes.NewReader(file), int64(len(file)), opts)
	if err != nil {
		return nil, err
	}
	content := make([]byte, r.Size())
	if n, err := r.ReadAt(content, 0); err != nil {
		return content[:n], err
	}
	return content, nil
}

func TestSamples(t *testing.T) {
	for _, s := range bltetest.Samples(t) {
		t.Run(s.Name, func(t *testing.T) {
			key, err := blte.FileKey(s.File)
			if err != nil {
				t.Fatal(err)
			}
			for _, opts := range []blte.Options{
				{}, {Key: key[:]}, {Key: key[:9]}, {Size: int64(len(s.Content))}, {Key: key[:], Size: int64(len(s.Content))},
			} {
				opts.Keys = bltetest.Keys()
				got, err := read(s.File, opts)
				if err != nil || !bytes.Equal(got, s.Content) {
					t.Errorf("with %v: %v, %d bytes, equal: %v", opts, err, len(got), bytes.Equal(got, s.Content))
				}
			}
			if _, err := read(s.File, blte.Options{Keys: bltetest.Keys(), Size: int64(len(s.Content)) + 1}); err == nil {
				t.Error("no error for a file of another size than it is known to have")
			}
			key[3]++
			if _, err := read(s.File, blte.Options{Keys: bltetest.Keys(), Key: key[:9]}); err == nil {
				t.Error("no error for a file of another key than it is known to have")
			}
		})
	}
}

func TestReadAt(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for _, s := range bltetest.Samples(t) {
		r, err := blte.NewReader(t.Context(), bytes.NewReader(s.File), int64(len(s.File)), blte.Options{Keys: bltetest.Keys()})
		if err != nil {
			t.Fatal(err)
		}
		if err := iotest.TestReader(io.NewSectionReader(r, 0, r.Size()), s.Content); err != nil {
			t.Errorf("%s: %v", s.Name, err)
		}
		for range 50 {
			off := rnd.IntN(len(s.Content) + 2)
			p := make([]byte, rnd.IntN(2000))
			n, err := r.ReadAt(p, int64(off))
			want := s.Content[min(off, len(s.Content)):min(off+len(p), len(s.Content))]
			if !bytes.Equal(p[:n], want) || (n < len(p)) != errors.Is(err, io.EOF) {
				t.Fatalf("%s: %d bytes at %d: %d, %v", s.Name, len(p), off, n, err)
			}
		}
	}
}

// counter is a cache that counts the loads of each block.
type counter struct {
	mu    sync.Mutex
	loads map[uint64]int
}

func (c *counter) Block(ctx context.Context, n uint64, load func(context.Context, uint64) ([]byte, error)) ([]byte, error) {
	c.mu.Lock()
	c.loads[n]++
	c.mu.Unlock()
	return load(ctx, n)
}

func TestOnlyTheChunksThatAReadNeeds(t *testing.T) {
	chunks := make([]blte.Chunk, 10)
	for i := range chunks {
		chunks[i] = blte.Chunk{Content: bltetest.Noise(100, uint64(i)), Mode: blte.ModeZlib}
	}
	file := bltetest.Build(t, blte.WriteOptions{}, chunks...)
	for _, c := range []struct {
		off, n int64
		want   []uint64
	}{
		{0, 1, []uint64{70}},
		{99, 1, []uint64{70}},
		{100, 1, []uint64{71}},
		{99, 2, []uint64{70, 71}},
		{250, 200, []uint64{72, 73, 74}},
		{999, 5, []uint64{79}},
		{1000, 5, nil},
		{5000, 1, nil},
		{0, 0, nil},
	} {
		cache := &counter{loads: map[uint64]int{}}
		r, err := blte.NewReader(t.Context(), bytes.NewReader(file), int64(len(file)), blte.Options{Blocks: cache, FirstBlock: 70})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.ReadAt(make([]byte, c.n), c.off); err != nil && !errors.Is(err, io.EOF) {
			t.Fatal(err)
		}
		if len(cache.loads) != len(c.want) {
			t.Errorf("%d bytes at %d: loads %v, want %v", c.n, c.off, cache.loads, c.want)
		}
		for _, n := range c.want {
			if cache.loads[n] != 1 {
				t.Errorf("%d bytes at %d: block %d was loaded %d times", c.n, c.off, n, cache.loads[n])
			}
		}
	}
}

func TestReadPlainAt(t *testing.T) {
	text, noise := bltetest.Text(1000), bltetest.Noise(500, 1)
	file := bltetest.Build(t, blte.WriteOptions{}, blte.Chunk{Content: noise, Mode: blte.ModeZlib}, blte.Chunk{Content: text}, blte.Chunk{Content: noise})
	content := slices.Concat(noise, text, noise)
	r, err := blte.NewReader(t.Context(), bytes.NewReader(file), int64(len(file)), blte.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		off, n int
		ok     bool
	}{
		{500, 1000, true},
		{500, 1, true},
		{1499, 1, true},
		{700, 300, true},
		{1500, 500, true},
		{1999, 1, true},
		{0, 10, false},
		{499, 2, false},
		{1499, 2, false},
		{1999, 2, false},
		{2000, 1, false},
		{-1, 1, false},
	} {
		p := make([]byte, c.n)
		if ok := r.ReadPlainAt(t.Context(), p, int64(c.off)); ok != c.ok || ok && !bytes.Equal(p, content[c.off:c.off+c.n]) {
			t.Errorf("%d bytes at %d: %v", c.n, c.off, ok)
		}
	}
}

// TestLargeChunks reads plain chunks that are not held as a whole, and damages them.
func TestLargeChunks(t *testing.T) {
	testneeds.Seconds(t)
	testneeds.Alone(t)
	large, small := bltetest.Text(9<<20), bltetest.Noise(1000, 2)
	content := slices.Concat(small, large, small)
	for name, file := range map[string][]byte{
		"table":        bltetest.Build(t, blte.WriteOptions{}, blte.Chunk{Content: small}, blte.Chunk{Content: large}, blte.Chunk{Content: small}),
		"long entries": bltetest.Build(t, blte.WriteOptions{Long: true}, blte.Chunk{Content: small}, blte.Chunk{Content: large}, blte.Chunk{Content: small}),
		"packed":       bltetest.Build(t, blte.WriteOptions{}, blte.Chunk{Content: small}, blte.Chunk{Content: content[1000:], Mode: blte.ModeLZ4}),
		"no table":     bltetest.Build(t, blte.WriteOptions{NoTable: true}, blte.Chunk{Content: content}),
	} {
		key, err := blte.FileKey(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, size := range []int64{0, int64(len(content))} {
			opts := blte.Options{Key: key[:], Size: size}
			if got, err := read(file, opts); err != nil || !bytes.Equal(got, content) {
				t.Errorf("%s: %v", name, err)
			}
			r, err := blte.NewReader(t.Context(), bytes.NewReader(file), int64(len(file)), opts)
			if err != nil {
				t.Fatal(err)
			}
			for _, off := range []int{0, 990, 1000, 5 << 20, 9<<20 + 990, len(content) - 10} {
				p := make([]byte, 20)
				if n, err := r.ReadAt(p, int64(off)); err != nil && !errors.Is(err, io.EOF) || !bytes.Equal(p[:n], content[off:min(off+20, len(content))]) {
					t.Errorf("%s: at %d: %v", name, off, err)
				}
			}
			bad := bytes.Clone(file)
			bad[len(bad)/2] ^= 1
			got, err := read(bad, opts)
			if _, ok := errors.AsType[*blte.FormatError](err); !ok || len(got) > len(small) || !bytes.HasPrefix(content, got) {
				t.Errorf("%s, damaged: %d bytes, %v", name, len(got), err)
			}
			if got, err := read(file[:len(file)-1], opts); err == nil || len(got) > 0 {
				t.Errorf("%s, cut: %d bytes, %v", name, len(got), err)
			}
		}
	}
	wrong := bltetest.Table([][]byte{append([]byte{'N'}, large...)}, []int{len(large) - 1})
	want := "blte: offset 0x24: chunk 0: mode N: 9437184 bytes decoded, 9437183 stated"
	if _, err := read(wrong, blte.Options{}); err == nil || err.Error() != want {
		t.Errorf("another size: %v, want %s", err, want)
	}
}

// TestLargeChunkChanges writes to a plain chunk after its MD5 was checked. No reader, open
// or new, returns a wrong byte, and the rest of the file can still be read.
func TestLargeChunkChanges(t *testing.T) {
	large := bltetest.Text(9 << 20)
	for name, opts := range map[string]blte.WriteOptions{"table": {}, "long entries": {Long: true}, "no table": {NoTable: true}} {
		file := bltetest.Build(t, opts, blte.Chunk{Content: large})
		key, err := blte.FileKey(file)
		if err != nil {
			t.Fatal(err)
		}
		r, err := blte.NewReader(t.Context(), bytes.NewReader(file), int64(len(file)), blte.Options{Key: key[:]})
		if err != nil {
			t.Fatal(err)
		}
		p := make([]byte, 100)
		if n, err := r.ReadAt(p, 5<<20); n != len(p) || err != nil {
			t.Fatalf("%s: %d, %v", name, n, err)
		}
		file[len(file)-1000] ^= 1
		got := make([]byte, len(large))
		n, err := r.ReadAt(got, 0)
		if fault, ok := errors.AsType[*blte.FormatError](err); !ok || fault.Chunk != 0 || n < 8<<20 || !bytes.HasPrefix(large, got[:n]) {
			t.Errorf("%s: %d bytes, %v", name, n, err)
		}
		if n, err := r.ReadAt(p[:1], int64(len(large)-2)); n > 0 || err == nil {
			t.Errorf("%s: a byte of the piece: %d, %v", name, n, err)
		}
		file[len(file)-1000] ^= 1
		if n, err := r.ReadAt(got, 0); n != len(large) || err != nil || !bytes.Equal(got, large) {
			t.Errorf("%s: when it is put back: %d bytes, %v", name, n, err)
		}
	}
}

func TestParallelReads(t *testing.T) {
	for _, s := range bltetest.Samples(t) {
		r, err := blte.NewReader(t.Context(), bytes.NewReader(s.File), int64(len(s.File)), blte.Options{Keys: bltetest.Keys()})
		if err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		for g := range 4 {
			wg.Go(func() {
				for i := range 20 {
					off := (g*997 + i*131) % (len(s.Content) + 1)
					p := make([]byte, min(300, len(s.Content)-off))
					if n, err := r.ReadAt(p, int64(off)); err != nil && !errors.Is(err, io.EOF) || !bytes.Equal(p[:n], s.Content[off:off+len(p)]) {
						t.Errorf("%s: at %d: %v", s.Name, off, err)
					}
				}
			})
		}
		wg.Wait()
	}
}

func TestBroken(t *testing.T) {
	testneeds.Seconds(t)
	for _, b := range bltetest.BrokenFiles(t) {
		got, err := read(b.File, blte.Options{Keys: bltetest.Keys()})
		if err == nil || err.Error() != b.Want {
			t.Errorf("%s:\n got %v\nwant %s", b.Name, err, b.Want)
		}
		if _, ok := errors.AsType[*blte.FormatError](err); !ok {
			t.Errorf("%s: the error is a %T", b.Name, err)
		}
		if len(got) > 0 && b.Name != "sum" {
			t.Errorf("%s: %d bytes were handed out", b.Name, len(got))
		}
	}
}

// TestEveryFlip flips each byte of each sample. The file's key must catch every flip, and
// the table too if there is one.
func TestEveryFlip(t *testing.T) {
	testneeds.Alone(t)
	for _, s := range bltetest.Samples(t) {
		key, err := blte.FileKey(s.File)
		if err != nil {
			t.Fatal(err)
		}
		step := 1 + len(s.File)/2000
		if testneeds.Quick() {
			step *= 7
		}
		table := !strings.HasPrefix(s.Name, "no table")
		if strings.HasPrefix(s.Name, "empty") {
			continue // chunks without content are not read
		}
		for i := 0; i < len(s.File); i += step {
			bad := bytes.Clone(s.File)
			bad[i] ^= 1 << (i % 8)
			got, err := read(bad, blte.Options{Keys: bltetest.Keys(), Key: key[:]})
			if err == nil || !bytes.HasPrefix(s.Content, got) {
				t.Fatalf("%s: byte %d flipped: %v, %d bytes", s.Name, i, err, len(got))
			}
			if !table {
				continue
			}
			if got, err := read(bad, blte.Options{Keys: bltetest.Keys()}); err == nil || !bytes.HasPrefix(s.Content, got) {
				t.Fatalf("%s: byte %d flipped, without key: %v, %d bytes", s.Name, i, err, len(got))
			}
		}
	}
}

func TestEveryCut(t *testing.T) {
	testneeds.Alone(t)
	for _, s := range bltetest.Samples(t) {
		key, err := blte.FileKey(s.File)
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; i < len(s.File); i += 1 + i/200 {
			if _, err := read(s.File[:i], blte.Options{Keys: bltetest.Keys(), Key: key[:]}); err == nil {
				t.Fatalf("%s: cut at %d it is still whole", s.Name, i)
			}
		}
	}
}

func TestMissingKey(t *testing.T) {
	secret := &blte.Encryption{Name: bltetest.SecretName, IV: []byte{1, 2, 3, 4}, Cipher: blte.CipherSalsa20}
	file := bltetest.Build(
		t, blte.WriteOptions{}, blte.Chunk{Content: bltetest.Text(50)},
		blte.Chunk{Content: bltetest.Text(60), Encrypt: secret, Key: bltetest.Key()}, blte.Chunk{Content: bltetest.Text(70)},
	)
	r, err := blte.NewReader(t.Context(), bytes.NewReader(file), int64(len(file)), blte.Options{Keys: bltetest.Keys()})
	if err != nil {
		t.Fatal(err)
	}
	p := make([]byte, 180)
	n, err := r.ReadAt(p, 0)
	if n != 50 || !errors.Is(err, blte.ErrNoKey) || !bytes.Equal(p[:50], bltetest.Text(50)) {
		t.Errorf("read %d bytes, %v", n, err)
	}
	if k, ok := errors.AsType[*blte.KeyError](err); !ok || k.Name != bltetest.SecretName {
		t.Errorf("the error names no key: %v", err)
	}
	if n, err := r.ReadAt(p[:70], 110); n != 70 || err != nil {
		t.Errorf("behind the chunk: %d bytes, %v", n, err)
	}
	if name, missing, err := r.MissingKey(t.Context()); name != bltetest.SecretName || !missing || err != nil {
		t.Errorf("MissingKey: %v, %v, %v", name, missing, err)
	}
	keys := bltetest.Keys()
	keys[bltetest.SecretName] = bltetest.Key()
	r, err = blte.NewReader(t.Context(), bytes.NewReader(file), int64(len(file)), blte.Options{Keys: keys})
	if err != nil {
		t.Fatal(err)
	}
	if name, missing, err := r.MissingKey(t.Context()); missing || err != nil {
		t.Errorf("MissingKey with the key: %v, %v, %v", name, missing, err)
	}
}

// countingBlocks is a cache that keeps everything, and shows what was put into it.
type countingBlocks map[uint64][]byte

func (c countingBlocks) Block(ctx context.Context, n uint64, load func(context.Context, uint64) ([]byte, error)) ([]byte, error) {
	if b, ok := c[n]; ok {
		return b, nil
	}
	b, err := load(ctx, n)
	if err == nil {
		c[n] = b
	}
	return b, err
}

// TestDecrypted checks that Decrypted is called before decrypted content is returned, and
// that nothing is kept until it succeeds.
func TestDecrypted(t *testing.T) {
	for _, s := range bltetest.Samples(t) {
		errRefused := errors.New("refused")
		asked, refuse := 0, true
		blocks := countingBlocks{}
		var whole bytes.Buffer
		r, err := blte.NewReader(t.Context(), bytes.NewReader(s.File), int64(len(s.File)), blte.Options{
			Keys: bltetest.Keys(), Blocks: blocks, Size: int64(len(s.Content)),
			Decrypted: func(ctx context.Context, r *blte.Reader) error {
				if asked++; refuse {
					return errRefused
				}
				for i := range r.Header().Chunks {
					if err := r.CopyChunk(ctx, &whole, i); err != nil {
						return err
					}
				}
				return nil
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		secret := strings.Contains(s.Name, "encrypted") || strings.HasPrefix(s.Name, "frame")
		p := make([]byte, len(s.Content))
		for range 2 {
			n, err := r.ReadAt(p, 0)
			if errors.Is(err, errRefused) != secret || secret && (n > 0 || len(blocks) > 0) {
				t.Errorf("%s: %d bytes, %v, %d chunks are kept", s.Name, n, err, len(blocks))
			}
		}
		if secret != (asked == 2) {
			t.Errorf("%s: asked %d times", s.Name, asked)
		}
		refuse = false
		for range 2 {
			if n, err := r.ReadAt(p, 0); n != len(p) || err != nil || !bytes.Equal(p, s.Content) {
				t.Errorf("%s: %d bytes, %v", s.Name, n, err)
			}
		}
		if secret && (asked != 3 || !bytes.Equal(whole.Bytes(), s.Content)) {
			t.Errorf("%s: asked %d times, and copied %d bytes", s.Name, asked, whole.Len())
		}
	}
}

// TestPreload preloads all of files with encrypted chunks. What is read later is there, but a large
// file is not read through to prove it for somebody who may not come.
func TestPreload(t *testing.T) {
	secret := &blte.Encryption{Name: bltetest.KeyName, IV: []byte{1, 2, 3, 4}, Cipher: blte.CipherSalsa20}
	for _, size := range []int{1 << 10, 3 << 20} {
		content := bltetest.Noise(size, 1)
		plain := blte.Chunk{Content: content}
		file, err := blte.Append(nil, []blte.Chunk{plain, {Content: content, Key: bltetest.Key(), Encrypt: secret}}, blte.WriteOptions{})
		if err != nil {
			t.Fatal(err)
		}
		asked, blocks := 0, countingBlocks{}
		r, err := blte.NewReader(t.Context(), bytes.NewReader(file), int64(len(file)), blte.Options{
			Keys: bltetest.Keys(), Blocks: blocks,
			Decrypted: func(context.Context, *blte.Reader) error { asked++; return nil },
		})
		if err != nil {
			t.Fatal(err)
		}
		r.Preload(t.Context(), 0, r.Size())
		want := 2
		if size > 1<<20 {
			want = 1
		}
		if len(blocks) != want || asked != want-1 {
			t.Errorf("of 2 chunks of %d bytes %d are there, asked %d times", size, len(blocks), asked)
		}
		got := make([]byte, r.Size())
		if _, err := r.ReadAt(got, 0); err != nil || !bytes.Equal(got, append(bytes.Clone(content), content...)) || asked != 1 {
			t.Errorf("%v, asked %d times", err, asked)
		}
		delete(blocks, 1)
		r.Preload(t.Context(), 0, r.Size()) // it is proven by now
		if len(blocks) != 2 {
			t.Errorf("%d of 2 chunks of %d bytes are there at last", len(blocks), size)
		}
	}
}

// TestPreloadTogether preloads a file of many chunks, and then with one of them damaged: that one is
// not kept, and reading it fails.
func TestPreloadTogether(t *testing.T) {
	var chunks []blte.Chunk
	for i := range 12 {
		mode := []byte{blte.ModePlain, blte.ModeZlib, blte.ModeLZ4}[i%3]
		chunks = append(chunks, blte.Chunk{Content: bltetest.Noise(200<<10+i, uint64(i)), Mode: mode})
	}
	file := bltetest.Build(t, blte.WriteOptions{}, chunks...)
	for bad := range len(chunks) + 1 {
		file, blocks := bytes.Clone(file), countingBlocks{}
		r, err := blte.NewReader(t.Context(), bytes.NewReader(file), int64(len(file)), blte.Options{Blocks: blocks})
		if err != nil {
			t.Fatal(err)
		}
		if bad < len(chunks) {
			file[r.Header().Chunks[bad].Off+100] ^= 1
		}
		r.Preload(t.Context(), 0, r.Size())
		_, kept := blocks[uint64(bad)]
		if kept || len(blocks) < bad {
			t.Errorf("chunk %d is damaged: %d chunks are kept, it too: %v", bad, len(blocks), kept)
		}
		for i, c := range chunks {
			got := make([]byte, len(c.Content))
			_, err := r.ReadAt(got, r.Header().Chunks[i].DecodedOff)
			if (err != nil) != (i == bad) || err == nil && !bytes.Equal(got, c.Content) {
				t.Errorf("chunk %d is damaged, chunk %d: %v", bad, i, err)
			}
		}
	}
}

// failing is a source that can't be read from some offset on.
type failing struct {
	io.ReaderAt
	from int64
}

var errDisk = errors.New("the disk is gone")

func (f failing) ReadAt(p []byte, off int64) (int, error) {
	if off+int64(len(p)) > f.from {
		return 0, errDisk
	}
	return f.ReaderAt.ReadAt(p, off)
}

func TestErrorsOfReadingAreNotTheFiles(t *testing.T) {
	file := bltetest.Samples(t)[0].File
	for _, from := range []int64{0, 20, 100} {
		var err error
		r, err := blte.NewReader(t.Context(), failing{bytes.NewReader(file), from}, int64(len(file)), blte.Options{})
		if err == nil {
			_, err = r.ReadAt(make([]byte, 10), 0)
		}
		if _, damaged := errors.AsType[*blte.FormatError](err); damaged || !errors.Is(err, errDisk) {
			t.Errorf("from %d: %v", from, err)
		}
	}
}

func TestRealFiles(t *testing.T) {
	for _, f := range []struct{ file, content, key string }{
		{"cascette-rs/tvfs/wow_classic_era_04ca19154f0c48b1.blte", "cascette-rs/tvfs/wow_classic_era_04ca19154f0c48b1.bin", "2a6f1a538227094c04a4c364b1dda995"},
		{"cascette-rs/tvfs/wow_classic_cbd15a9f67c4d28d.blte", "cascette-rs/tvfs/wow_classic_cbd15a9f67c4d28d.bin", ""},
		{"cascette-rs/tvfs/wow_dbd6a1911a9dd025.blte", "cascette-rs/tvfs/wow_dbd6a1911a9dd025.bin", ""},
		{"cascette-py/314436cc1adeed58d203bf32402cc1bc.install", "cascette-py/314436cc1adeed58d203bf32402cc1bc.install.dec", "314436cc1adeed58d203bf32402cc1bc"},
	} {
		file := fixture(t, f.file)
		key, err := hex.DecodeString(f.key)
		if err != nil {
			t.Fatal(err)
		}
		got, err := read(file, blte.Options{Key: key})
		if err != nil || !bytes.Equal(got, fixture(t, f.content)) {
			t.Errorf("%s: %v, %d bytes", f.file, err, len(got))
		}
	}
}

func fixture(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(testneeds.Fixture(t, "casc/"+name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestWriterRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		opts   blte.WriteOptions
		chunks []blte.Chunk
	}{
		"no chunks":          {},
		"two without table":  {opts: blte.WriteOptions{NoTable: true}, chunks: make([]blte.Chunk, 2)},
		"mode F":             {chunks: []blte.Chunk{{Mode: blte.ModeFrame}}},
		"unknown cipher":     {chunks: []blte.Chunk{{Encrypt: &blte.Encryption{IV: make([]byte, 4)}}}},
		"IV of another size": {chunks: []blte.Chunk{{Encrypt: &blte.Encryption{IV: make([]byte, 5), Cipher: blte.CipherSalsa20}}}},
	} {
		if _, err := blte.Append(nil, c.chunks, c.opts); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestAppendKeepsWhatIsThere(t *testing.T) {
	file, err := blte.Append([]byte("before"), []blte.Chunk{{Content: []byte("x")}}, blte.WriteOptions{})
	if err != nil || !bytes.HasPrefix(file, []byte("beforeBLTE")) {
		t.Errorf("%q, %v", file, err)
	}
	sum := md5.Sum(file[6 : 6+36])
	if key, err := blte.FileKey(file[6:]); err != nil || key != sum {
		t.Errorf("the key is %x, %v; want %x", key, err, sum)
	}
}

func FuzzReader(f *testing.F) {
	for _, s := range bltetest.Samples(f) {
		if len(s.File) < 1<<14 {
			f.Add(s.File)
		}
	}
	for _, b := range bltetest.BrokenFiles(f) {
		f.Add(b.File)
	}
	part, _, _ := partial(f)
	f.Add(part)
	f.Fuzz(func(t *testing.T, file []byte) {
		r, err := blte.NewReader(t.Context(), bytes.NewReader(file), int64(len(file)), blte.Options{Keys: bltetest.Keys()})
		if err != nil || r.Size() > 1<<24 {
			return
		}
		whole := make([]byte, r.Size())
		n, err := r.ReadAt(whole, 0)
		if err == nil && n < len(whole) {
			t.Fatalf("%d of %d bytes without an error", n, len(whole))
		}
		part := make([]byte, min(n, 100))
		if got, _ := r.ReadAt(part, int64(n-len(part))); !bytes.Equal(part[:got], whole[n-len(part):][:got]) {
			t.Fatal("read again it is something else")
		}
		for _, content := range wholes([]blte.Whole{{Encoded: file, Size: r.Size()}}) {
			if content != nil && (err != nil || !bytes.Equal(content, whole)) {
				t.Fatalf("%d bytes as a whole, %d by a reader, %v", len(content), n, err)
			}
		}
		filled := make([]byte, len(whole))
		m, filledErr := r.ReadFilledAt(t.Context(), filled, 0)
		gaps, gapsErr := r.Gaps(t.Context())
		switch {
		case m < n || !bytes.Equal(filled[:n], whole[:n]):
			t.Fatal("with zeros for what lacks a key it is something else before that")
		case filledErr == nil && gapsErr == nil && r.Filled() != (len(gaps) > 0):
			t.Fatalf("filled: %v, gaps %v", r.Filled(), gaps)
		}
		for _, g := range gaps {
			if g.Off < 0 || g.Size < 0 || g.Off+g.Size > r.Size() {
				t.Fatalf("a gap of %d bytes at %d of %d", g.Size, g.Off, r.Size())
			}
		}
	})
}
