package splice_test

import (
	"bytes"
	"compress/zlib"
	"context"
	"crypto/aes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"testing"

	"lorefs/datacenter"
	"lorefs/datacenter/dctest"
	"lorefs/datacenter/internal/streamedit"
	"lorefs/datacenter/splice"
	"lorefs/internal/cfb"
	"lorefs/internal/testneeds"
)

// plain decrypts a file and inflates it by the standard library, which checks the Adler-32.
func plain(tb testing.TB, file []byte) []byte {
	tb.Helper()
	key := datacenter.DefaultKeys()[0]
	block, err := aes.NewCipher(key.Key[:])
	if err != nil {
		tb.Fatal(err)
	}
	text := make([]byte, len(file))
	if _, err := cfb.NewReader(bytes.NewReader(file), block, key.IV).ReadAt(text, 0); err != nil && !errors.Is(err, io.EOF) {
		tb.Fatal(err)
	}
	in := bytes.NewReader(text[4:])
	z, err := zlib.NewReader(in)
	if err != nil {
		tb.Fatal(err)
	}
	data, err := io.ReadAll(z)
	if err != nil {
		tb.Fatal(err)
	}
	if stated := int(binary.LittleEndian.Uint32(text)); stated != len(data) || in.Len() != 0 {
		tb.Fatalf("%d bytes, and %d behind the stream; %d are stated", len(data), in.Len(), stated)
	}
	return data
}

// repacked returns the same data center as lorefs writes it.
func repacked(tb testing.TB, file []byte) []byte {
	tb.Helper()
	var out bytes.Buffer
	if err := writeAnew(context.Background(), mustOpen(tb, file, datacenter.Options{}), &out, datacenter.WriteOptions{}); err != nil {
		tb.Fatal(err)
	}
	return out.Bytes()
}

// edited returns data after edits.
func edited(data []byte, edits []streamedit.Edit) []byte {
	var out []byte
	at := int64(0)
	for _, e := range edits {
		out = append(append(out, data[at:e.Off]...), e.New...)
		at = e.Off + e.Len
	}
	return append(out, data[at:]...)
}

// places makes edits at n random places: of four bytes or, if lengths is set, of other lengths.
func places(rng *rand.Rand, data []byte, n int, lengths bool) (edits []streamedit.Edit) {
	step := int64(len(data) / n)
	for i := range int64(n) {
		e := streamedit.Edit{Off: i*step + rng.Int64N(step/2), Len: min(4, step/2), New: make([]byte, 4)}
		if lengths {
			e.Len, e.New = rng.Int64N(step/2), make([]byte, rng.IntN(2000))
		}
		for k := range e.New {
			e.New[k] = byte(rng.IntN(rng.IntN(250) + 1))
		}
		edits = append(edits, e)
	}
	return edits
}

// TestSplice edits bytes of data centers of several writers, again and again.
func TestSplice(t *testing.T) {
	doc := dctest.Generate(dctest.GenOptions{Seed: 3, Sheets: 12, Nodes: 9000})
	official := dctest.Build(doc, dctest.Options{FullCount: 4000})
	rounds := 12
	if testneeds.Quick() {
		rounds = 4
	}
	for _, tt := range []struct {
		name string
		file []byte
	}{
		{"official", official},
		{"stored", dctest.Build(doc, dctest.Options{Seal: dctest.SealOptions{Stored: true}})},
		{"lorefs", repacked(t, official)},
		{"without Adler-32", dctest.Build(doc, dctest.Options{Seal: dctest.SealOptions{NoAdler: true}})},
		{"with a tail", dctest.Build(doc, dctest.Options{Seal: dctest.SealOptions{Trailing: []byte("behind")}})},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(1, 2))
			file := mustOpen(t, tt.file, datacenter.Options{BlockSize: 64 << 10})
			data := make([]byte, file.Size())
			if err := splice.ReadData(file, 0, data); err != nil {
				t.Fatal(err)
			}
			for round := range rounds {
				edits := places(rng, data, 1+round%4, round%3 == 1)
				want := edited(data, edits)
				var out bytes.Buffer
				s, err := splice.SpliceData(t.Context(), file, &out, edits)
				if err != nil {
					t.Fatalf("round %d: %v", round, err)
				}
				if !bytes.Equal(plain(t, out.Bytes()), want) {
					t.Fatalf("round %d: wrong data", round)
				}
				r := bytes.NewReader(out.Bytes())
				if err := s.Check(t.Context(), r, sha256.Sum256(out.Bytes())); err != nil {
					t.Fatalf("round %d: Check: %v", round, err)
				}
				if file, err = s.Open(r, r.Size()); err != nil {
					t.Fatalf("round %d: %v", round, err)
				}
				got := make([]byte, len(want))
				if err := splice.ReadData(file, 0, got); err != nil || !bytes.Equal(got, want) {
					t.Fatalf("round %d: reading by the new checkpoints: %v", round, err)
				}
				data = want
			}
		})
	}
}

// TestSpliceCheck damages what was written. What is read back differs then from what was written,
// or from what should have been.
func TestSpliceCheck(t *testing.T) {
	doc := dctest.Generate(dctest.GenOptions{Seed: 3, Sheets: 12, Nodes: 3000})
	file := mustOpen(t, dctest.Build(doc, dctest.Options{}), datacenter.Options{BlockSize: 64 << 10})
	var out bytes.Buffer
	at := file.Size() / 2
	s, err := splice.SpliceData(t.Context(), file, &out, []streamedit.Edit{{Off: at, Len: 4, New: []byte{9, 8, 7}}})
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(out.Bytes())
	if err := s.Check(t.Context(), bytes.NewReader(out.Bytes()), sum); err != nil {
		t.Fatal(err)
	}
	for _, i := range []int{0, 5, out.Len() / 2, out.Len() - 1} {
		bad := bytes.Clone(out.Bytes())
		bad[i] ^= 4
		if s.Check(t.Context(), bytes.NewReader(bad), sum) == nil {
			t.Errorf("the changed byte %d goes unnoticed", i)
		}
		if s.Check(t.Context(), bytes.NewReader(bad), sha256.Sum256(bad)) == nil {
			t.Errorf("the byte %d that was written wrongly goes unnoticed", i)
		}
	}
	for _, bad := range [][]byte{out.Bytes()[:out.Len()-1], append(bytes.Clone(out.Bytes()), 0)} {
		if s.Check(t.Context(), bytes.NewReader(bad), sum) == nil {
			t.Errorf("%d instead of %d bytes go unnoticed", len(bad), out.Len())
		}
	}
	// What was written may be wrong, too: another edit of the same length.
	var other bytes.Buffer
	if _, err := splice.SpliceData(t.Context(), file, &other, []streamedit.Edit{{Off: at, Len: 4, New: []byte{9, 8, 6}}}); err != nil {
		t.Fatal(err)
	}
	if s.Check(t.Context(), bytes.NewReader(other.Bytes()), sha256.Sum256(other.Bytes())) == nil {
		t.Error("other data than was wanted goes unnoticed")
	}
}

// TestSpliceCheckOfKept damages what an edit that changes no length keeps of the old file, and what
// follows it. What is kept has only the SHA-256 against which it can be compared.
func TestSpliceCheckOfKept(t *testing.T) {
	doc := dctest.Generate(dctest.GenOptions{Seed: 3, Sheets: 12, Nodes: 3000})
	old := dctest.Build(doc, dctest.Options{})
	file := mustOpen(t, old, datacenter.Options{BlockSize: 64 << 10})
	var out bytes.Buffer
	s, err := splice.SpliceData(t.Context(), file, &out, []streamedit.Edit{{Off: file.Size() / 2, Len: 4, New: []byte{9, 8, 7, 6}}})
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(out.Bytes())
	if err := s.Check(t.Context(), bytes.NewReader(out.Bytes()), sum); err != nil {
		t.Fatal(err)
	}
	kept := 0
	for kept < len(old) && old[kept] == out.Bytes()[kept] {
		kept++
	}
	if kept < 1000 {
		t.Fatalf("only %d bytes are kept", kept)
	}
	for _, i := range []int{500, kept - 100, kept, kept + 1} {
		bad := bytes.Clone(out.Bytes())
		bad[i] ^= 4
		if s.Check(t.Context(), bytes.NewReader(bad), sum) == nil {
			t.Errorf("the changed byte %d goes unnoticed, with %d kept", i, kept)
		}
	}
}

// TestSpliceCheckOfStarts notes wrong starts of deflate blocks, of those without data at the end of the
// stream too. Nobody could splice the file again.
func TestSpliceCheckOfStarts(t *testing.T) {
	doc := dctest.Generate(dctest.GenOptions{Seed: 3, Sheets: 12, Nodes: 3000})
	file := mustOpen(t, dctest.Build(doc, dctest.Options{}), datacenter.Options{BlockSize: 64 << 10})
	for _, at := range []int64{file.Size() / 2, file.Size() - 2} {
		var out bytes.Buffer
		s, err := splice.SpliceData(t.Context(), file, &out, []streamedit.Edit{{Off: at, Len: 1, New: []byte{9}}})
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(out.Bytes())
		check := func() error { return s.Check(t.Context(), bytes.NewReader(out.Bytes()), sum) }
		if err := check(); err != nil {
			t.Fatal(err)
		}
		starts := s.Starts()
		if last := starts[len(starts)-1]; last != s.Blocks() {
			t.Errorf("an edit at %d: the last start that is looked at is %d of %d", at, last, s.Blocks())
		}
		for _, block := range starts {
			for _, by := range []int64{-1, 1, 8} {
				s.MoveStart(block, by)
				if check() == nil {
					t.Errorf("an edit at %d: the start of block %d of %d is off by %d bits, and that goes unnoticed", at, block, s.Blocks(), by)
				}
				s.MoveStart(block, -by)
			}
		}
	}
}

// TestSpliceTooMany edits every deflate block. Nothing may be written then.
func TestSpliceTooMany(t *testing.T) {
	testneeds.Slow(t, "the file must be large")
	doc := dctest.Generate(dctest.GenOptions{Seed: 3, Sheets: 20, Nodes: 6000})
	file := mustOpen(t, dctest.Build(doc, dctest.Options{FullCount: 20_000, SegmentSize: 300, Garbage: 1}), datacenter.Options{})
	const each = 8 << 10
	var edits []streamedit.Edit
	for at := int64(0); at < file.Size(); at += each {
		edits = append(edits, streamedit.Edit{Off: at, New: []byte{1}})
	}
	var out bytes.Buffer
	if _, err := splice.SpliceData(t.Context(), file, &out, edits); !errors.Is(err, splice.ErrTooMany) || out.Len() > 0 {
		t.Errorf("%d bytes for %d edits, %v", out.Len(), len(edits), err)
	}
	if _, err := splice.SpliceData(t.Context(), file, &out, edits[:9]); err != nil {
		t.Errorf("nine edits: %v", err)
	}
}

// TestSpliceFixtures edits bytes of real files.
func TestSpliceFixtures(t *testing.T) {
	testneeds.Slow(t, "generated files are enough")
	file := mustOpen(t, readFixture(t, "p115_small_x64.dat"), datacenter.Options{})
	data := make([]byte, file.Size())
	if err := splice.ReadData(file, 0, data); err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for _, lengths := range []bool{false, true} {
		edits := places(rng, data, 2, lengths)
		var out bytes.Buffer
		s, err := splice.SpliceData(t.Context(), file, &out, edits)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(plain(t, out.Bytes()), edited(data, edits)) {
			t.Fatal("wrong data")
		}
		if !lengths && s.Touched() > 6 {
			t.Errorf("%d deflate blocks are encoded anew", s.Touched())
		}
		if err := s.Check(t.Context(), bytes.NewReader(out.Bytes()), sha256.Sum256(out.Bytes())); err != nil {
			t.Error(err)
		}
	}
}
