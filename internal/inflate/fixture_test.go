package inflate

import (
	"bytes"
	"compress/flate"
	"crypto/aes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"hash/adler32"
	"io"
	"os"
	"path/filepath"
	"testing"

	"lorefs/internal/testneeds"
)

// fixtureDir is outside of the repository.
const fixtureDir = "../../../shared/fixtures/datacenter"

const (
	fixtureKey = "3347a174f9040d4768a0b05558dc866b"
	fixtureIV  = "e490562821af3e1176c98d3cb9ec4601"
)

// decryptCFB undoes AES in CFB mode with segments of one block.
func decryptCFB(tb testing.TB, data []byte) {
	tb.Helper()
	key, err := hex.DecodeString(fixtureKey)
	if err != nil {
		tb.Fatal(err)
	}
	previous, err := hex.DecodeString(fixtureIV)
	if err != nil {
		tb.Fatal(err)
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		tb.Fatal(err)
	}
	var stream, ciphertext [aes.BlockSize]byte
	for len(data) > 0 {
		block.Encrypt(stream[:], previous)
		n := copy(ciphertext[:], data)
		for i := range n {
			data[i] ^= stream[i]
		}
		copy(previous, ciphertext[:])
		data = data[n:]
	}
}

// readFixture returns the raw deflate stream of a file with the Adler-32 behind
// it, and the size that the file says it inflates to.
func readFixture(tb testing.TB, path string) (stream []byte, size int) {
	tb.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	decryptCFB(tb, data)
	return data[6:], int(binary.LittleEndian.Uint32(data))
}

func fixturePaths(tb testing.TB) []string {
	tb.Helper()
	paths, err := filepath.Glob(filepath.Join(fixtureDir, "*.dat"))
	if err != nil {
		tb.Fatal(err)
	}
	if len(paths) == 0 {
		tb.Skipf("no real data: there is no *.dat in %s", fixtureDir)
	}
	return paths
}

// TestFixtures inflates real data a mebibyte at a time, takes a Point at each one, and
// compares with the standard library. Then it resumes at some Points.
func TestFixtures(t *testing.T) {
	for _, path := range fixturePaths(t) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			stream, size := readFixture(t, path)
			if testneeds.Quick() && size > 100<<20 {
				t.Skip("inflates 260 MB")
			}
			d := NewDecoder(bytes.NewReader(stream), int64(len(stream)))
			std := flate.NewReader(bytes.NewReader(stream))
			const step = 1 << 20
			got := make([]byte, size+1)
			want := make([]byte, step)
			var points []Point
			sum := adler32.New()
			for at := 0; ; {
				points = append(points, d.Point())
				n, err := d.Decode(got[:min(at+step, len(got))], at)
				if err != nil && !errors.Is(err, io.EOF) {
					t.Fatalf("at %d: %v", at+n, err)
				}
				if _, err := io.ReadFull(std, want[:n]); err != nil {
					t.Fatalf("standard library at %d: %v", at, err)
				}
				if !bytes.Equal(got[at:at+n], want[:n]) {
					t.Fatalf("wrong bytes in [%d, %d)", at, at+n)
				}
				sum.Write(want[:n])
				at += n
				if err != nil {
					if at != size {
						t.Fatalf("%d bytes, want %d", at, size)
					}
					break
				}
			}
			trailer := stream[d.InputOffset():]
			if len(trailer) < 4 || binary.BigEndian.Uint32(trailer) != sum.Sum32() {
				t.Errorf("trailer % x, Adler-32 %08x", trailer[:min(len(trailer), 4)], sum.Sum32())
			}
			for i := 0; i < len(points); i += 7 {
				p := points[i]
				resumeAt(t, d, p, got[:size], min(int(p.Out)+step, size))
			}
		})
	}
}
