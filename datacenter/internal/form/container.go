package form

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"lorefs/internal/aes128"
	"lorefs/internal/cfb"
	"lorefs/internal/inflate"
)

// Key is the key with which one build of the client decrypts its data center.
type Key struct {
	// Name says where the key comes from. Only people use it.
	Name    string
	Key, IV [16]byte
}

// ParseKey parses a key and an IV of 32 hex digits each.
func ParseKey(name, key, iv string) (Key, error) {
	k := Key{Name: name}
	for _, p := range []struct {
		what, text string
		to         []byte
	}{{"key", key, k.Key[:]}, {"IV", iv, k.IV[:]}} {
		b, err := hex.DecodeString(strings.TrimSpace(p.text))
		if err != nil || len(b) != len(p.to) {
			return Key{}, fmt.Errorf("datacenter: the %s %q is not %d hex digits", p.what, p.text, 2*len(p.to))
		}
		copy(p.to, b)
	}
	return k, nil
}

// DefaultKeys returns the published keys, in the order in which they are tried.
func DefaultKeys() []Key {
	published := [][3]string{
		{"latest", "3347a174f9040d4768a0b05558dc866b", "e490562821af3e1176c98d3cb9ec4601"},
		{"100.02", "1C01C904FF76FF06C211187E197B5716", "396C342C52A0C12D511DD0209F90CA7D"},
		{"92.04", "7533835567F31B7C8BF9321CF7C67A07", "1A2DE14F51A8AD426FEAEB4AC3CB705C"},
	}
	keys := make([]Key, len(published))
	for i, p := range published {
		k, err := ParseKey(p[0], p[1], p[2])
		if err != nil {
			panic(fmt.Sprintf("BUG: %v", err))
		}
		keys[i] = k
	}
	return keys
}

const (
	// CompressionHeaderSize is uncompressed_size and zlib_header.
	CompressionHeaderSize = 6
	// LeastSize is the number of bytes that the smallest data center has.
	LeastSize = CompressionHeaderSize
	// AdlerSize is the number of bytes of the Adler-32 behind the stream.
	AdlerSize = 4

	// MaxSize is the largest value of uncompressed_size.
	MaxSize = 1<<32 - 1

	// MaxFree and MaxRatio bound the stated size: more than MaxFree bytes plus MaxRatio times the file's
	// size is refused before anything is inflated, since the memory and time for inflating grow with it.
	// Deflate reaches 1032:1 and data centers 6:1. Only tiny ones, with segments padded to
	// 65,535 elements, reach much more.
	MaxFree = 32 << 20
	// MaxRatio is how often the file's size may be stated in addition.
	MaxRatio = 24
)

// Container is the outer shell: AES-CFB over a size and a zlib stream.
type Container struct {
	Src   io.ReaderAt
	Size  int64
	Plain *cfb.Reader
	Key   Key

	Stated      int64 // uncompressed_size
	Zlib        [2]byte
	fileVersion uint32
}

// openContainer finds the key that opens r. It inflates only the start of the first deflate
// block, so a wrong key fails at once.
func openContainer(r io.ReaderAt, size int64, keys []Key) (*Container, error) {
	if size < LeastSize {
		return nil, BadFile(0, "%d bytes are too few for a data center", size)
	}
	var failed error
	for _, key := range keys {
		c, err := Unlock(r, size, key)
		if err == nil {
			return c, nil
		}
		if _, bad := errors.AsType[*FormatError](err); !bad && !errors.Is(err, ErrKey) {
			return nil, err // a read error: another key would not help
		}
		if failed == nil && !errors.Is(err, ErrKey) {
			failed = err // the key seems right, but the file is damaged
		}
	}
	if failed == nil {
		failed = notEncrypted(r, size)
	}
	if failed == nil {
		failed = badKey(len(keys))
	}
	return nil, failed
}

// CheckKey returns an error unless one of some keys opens r. It reads only the start.
func CheckKey(r io.ReaderAt, size int64, keys []Key) error {
	_, err := openContainer(r, size, keys)
	return err
}

// notEncrypted returns an error if r is what other programs keep of a data center: what it is
// when it is decrypted, or inflated as well, with or without the size in front.
func notEncrypted(r io.ReaderAt, size int64) error {
	const (
		wanted  = ": want the game's own file, which is encrypted"
		sizeLen = 4
	)
	var head [sizeLen + startSize]byte
	n, err := r.ReadAt(head[:], 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("datacenter: reading the start: %w", err)
	}
	if n < len(head) {
		return nil
	}
	if isInflated(head[:]) || isInflated(head[sizeLen:]) {
		return BadFile(0, "a data center that is decrypted and inflated"+wanted)
	}
	if !validZlibHeader([2]byte(head[sizeLen:])) {
		return nil
	}
	stream := io.NewSectionReader(r, CompressionHeaderSize, size-CompressionHeaderSize)
	if n, _ := inflate.NewDecoder(stream, stream.Size()).Decode(head[:startSize], 0); n == startSize && isInflated(head[:]) {
		return BadFile(0, "a data center that is decrypted"+wanted)
	}
	return nil
}

// startSize is how much of the header shows what it is: the version and the timestamp.
const startSize = 4 + 8

// isInflated reports whether inflated data of a data center begins with b, by the timestamp that
// all known ones have.
func isInflated(b []byte) bool {
	version := binary.LittleEndian.Uint32(b)
	return (version == LayoutV3.Version() || version == LayoutV6X64.Version()) &&
		math.Float64frombits(binary.LittleEndian.Uint64(b[4:])) == -1
}

func badKey(tried int) error {
	return &FormatError{InFile: true, What: fmt.Sprintf("%d tried", tried), Err: ErrKey}
}

// Unlock tries one key. It fails with ErrKey if the decrypted data is no zlib stream, and
// with another error if the stream holds no data center.
func Unlock(r io.ReaderAt, size int64, key Key) (*Container, error) {
	block, err := aes128.New(key.Key)
	if err != nil {
		return nil, err
	}
	c := &Container{Src: r, Size: size, Plain: cfb.NewReader(r, block, key.IV), Key: key}
	var head [CompressionHeaderSize]byte
	if _, err := io.ReadFull(io.NewSectionReader(c.Plain, 0, size), head[:]); err != nil {
		return nil, fmt.Errorf("datacenter: reading the compression header: %w", err)
	}
	c.Stated = int64(binary.LittleEndian.Uint32(head[:]))
	c.Zlib = [2]byte(head[4:])
	if !validZlibHeader(c.Zlib) {
		return nil, ErrKey
	}
	if c.fileVersion, err = c.version(); err != nil {
		return nil, err
	}
	if c.fileVersion != LayoutV3.Version() && c.fileVersion != LayoutV6X64.Version() {
		return nil, Badf(0, "version %d: want 3 or 6", c.fileVersion)
	}
	if c.Stated > MaxFree+MaxRatio*size {
		return nil, BadFile(0, "states %d inflated bytes, which %d bytes can't hold", c.Stated, size)
	}
	return c, nil
}

// validZlibHeader checks a header by RFC 1950, 2.2: deflate, a window of at most 32 KiB, a
// check value, and no preset dictionary. Of 2,000 random pairs of bytes about one passes.
func validZlibHeader(b [2]byte) bool {
	const method, maxInfo, dictionary = 8, 7, 0x20
	return b[0]&0xf == method && b[0]>>4 <= maxInfo && b[1]&dictionary == 0 &&
		binary.BigEndian.Uint16(b[:])%31 == 0
}

// version inflates only the first field of the header.
func (c *Container) version() (uint32, error) {
	var b [4]byte
	if n, err := c.Decoder().Decode(b[:], 0); n < len(b) {
		return 0, inflateError(CompressionHeaderSize, "inflating the header", err)
	}
	return binary.LittleEndian.Uint32(b[:]), nil
}

// Decoder returns a decoder at the start of the deflate stream.
func (c *Container) Decoder() *inflate.Decoder {
	stream := c.DeflateStream()
	return inflate.NewDecoder(stream, stream.Size())
}

// DeflateStream returns the deflate stream and what follows it.
func (c *Container) DeflateStream() *io.SectionReader {
	return io.NewSectionReader(c.Plain, CompressionHeaderSize, c.Size-CompressionHeaderSize)
}

// aheadDecoder returns a decoder at the start of the deflate stream, for one that goes to its
// end. It reads ahead until stop is called.
func (c *Container) aheadDecoder() (dec *inflate.Decoder, stop func()) {
	n := c.Size - CompressionHeaderSize
	src, stop := readForward(io.NewSectionReader(c.Plain, CompressionHeaderSize, n), n)
	return inflate.NewDecoder(src, n), stop
}
