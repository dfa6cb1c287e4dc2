package inflate

import (
	"errors"
	"fmt"
	"io"
)

// WindowSize is how far back a match may reach, and so how much history Decode needs.
const WindowSize = 32768

// maxSize bounds the size of a stream so that no offset, in bits or inflated,
// overflows an int64.
const maxSize = 1 << 50

// maxBytesPerBit is the highest compression: the longest match from a length
// and a distance symbol of one bit each.
const maxBytesPerBit = maxMatchLen / 2

// Point is a place in a stream at which decoding can resume. It may be at any output
// offset, not only at block boundaries. The zero Point is the start of a stream.
type Point struct {
	Out    int64 // offset in the inflated data of the next byte
	In     int64 // bit offset in the deflate stream of the next symbol (or, within a stored block, of the next byte)
	Header int64 // bit offset of the header of the deflate block that In lies in; == In when a block header comes next

	// The rest of a match that was cut: Len bytes at distance Dist are still to be copied
	// before In. Both are 0 if there is none.
	Len, Dist uint16
}

// Block is a place where a deflate block begins.
type Block struct {
	Header int64 // bit offset of its header in the deflate stream
	Out    int64 // offset in the inflated data of its first byte
	Stored bool  // the block is not compressed
}

// state says what comes next in the input.
type state uint8

const (
	atHeader  state = iota // a block header
	inStored               // bytes of a stored block
	inHuffman              // symbols of a compressed block
	atEnd                  // nothing: the final block has ended
)

// Decoder decodes one stream. It is not safe for parallel use. It takes about 90 KiB and
// allocates nothing more, so keep it for the next Reset.
type Decoder struct {
	// OnBlock, if it is set, is called for each block whose header Decode reads.
	OnBlock func(Block)

	src  io.ReaderAt
	size int64

	// Input: in[pos:end] lies at byte base+pos of the stream, and nbits bits
	// before it are in bits, the next one lowest.
	base     int64
	pos, end int
	readMax  int   // limits what one fill reads
	expected int64 // byte offset up to which input is probably needed, or 0
	readErr  error // of the read behind end
	bits     uint64
	nbits    uint

	err    error // sticky
	out    int64 // offset of the next inflated byte
	header int64 // bit offset of the current block's header
	last   int64 // atEnd: Point.In
	state  state
	final  bool // the current block is the last

	stored              int // bytes left of a stored block
	matchLen, matchDist int // rest of a cut match

	codes   *codes // of the current block
	dynamic codes
	codeLen codeLenTable
	huffman huffman
	lengths [maxHLIT + maxHDIST]uint8
	litLens int // number of lengths of the literal/length code, which come first
	dists   int // of the distance code
	in      [inputSize]byte
}

// NewDecoder returns a Decoder at the start of a stream. src holds the raw deflate stream,
// without zlib or gzip header; size is its length in bytes and may include what follows the
// final block. src must not change, because bytes that have been read may be used again
// after a Reset.
func NewDecoder(src io.ReaderAt, size int64) *Decoder {
	return &Decoder{src: src, size: min(max(size, 0), maxSize), readMax: inputSize}
}

// Open starts another stream in the memory of the one before. src and size are as for
// NewDecoder.
func (d *Decoder) Open(src io.ReaderAt, size int64) {
	d.src, d.size = src, min(max(size, 0), maxSize)
	d.base, d.pos, d.end, d.readMax, d.readErr, d.expected = 0, 0, 0, inputSize, nil, 0
	d.bits, d.nbits = 0, 0
	d.err, d.out, d.header, d.last = nil, 0, 0, 0
	d.state, d.final = atHeader, false
	d.stored, d.matchLen, d.matchDist = 0, 0, 0
}

// Reset goes to a Point of this stream. It reads the header of the block of the Point, and
// returns an error if the Point does not fit the stream. A wrong Point may fit by chance;
// then Decode returns wrong bytes or an error. After an error, Decode keeps returning it
// until the next Reset.
func (d *Decoder) Reset(p Point) error {
	if d.readErr != nil || d.err != nil && !errors.Is(d.err, io.EOF) {
		d.base, d.pos, d.end = 0, 0, 0 // read again, which may succeed this time
	}
	d.readErr = nil
	d.state = atHeader
	d.out, d.header = p.Out, p.Header
	d.matchLen, d.matchDist = 0, 0
	d.err = d.resume(p)
	return d.err
}

func (d *Decoder) resume(p Point) error {
	if err := d.check(p); err != nil {
		return err
	}
	if p.In == p.Header {
		return d.seek(p.In)
	}
	if p.In>>3-p.Header>>3 > inputSize-headerRead {
		d.readMax = headerRead // the read for the header will not reach In
	}
	err := d.resumeInBlock(p)
	d.readMax = inputSize
	return err
}

// check checks a Point as far as that is possible without the stream.
func (d *Decoder) check(p Point) error {
	cut := p.Len != 0 || p.Dist != 0
	switch {
	case p.Out < 0 || p.Header < 0 || p.In < p.Header || p.In > d.size<<3:
		return fmt.Errorf("%w: offset out of range", errPoint)
	case p.Out > p.In*maxBytesPerBit:
		return fmt.Errorf("%w: too much output for the input", errPoint)
	case cut && (p.Len == 0 || p.Len > maxMatchLen || p.Dist == 0 || p.Dist > WindowSize):
		return fmt.Errorf("%w: impossible match", errPoint)
	case cut && int64(p.Dist) > p.Out:
		return fmt.Errorf("%w: match before the start of the data", errPoint)
	case cut && p.In == p.Header:
		return fmt.Errorf("%w: match outside a block", errPoint)
	}
	return nil
}

func (d *Decoder) resumeInBlock(p Point) error {
	if err := d.seek(p.Header); err != nil {
		return err
	}
	if err := d.readHeader(); err != nil {
		return err
	}
	skip := p.In - d.bitOffset()
	if skip < 0 {
		return fmt.Errorf("%w: inside a block header", errPoint)
	}
	if d.state == inStored {
		if skip&7 != 0 || skip>>3 > int64(d.stored) {
			return fmt.Errorf("%w: outside its stored block", errPoint)
		}
		if p.Len != 0 {
			return fmt.Errorf("%w: match in a stored block", errPoint)
		}
		d.stored -= int(skip >> 3)
	}
	d.matchLen, d.matchDist = int(p.Len), int(p.Dist)
	d.readMax = inputSize
	return d.seek(p.In)
}

// Decode fills buf[w:]. buf[:w] is the history, that is the output directly before it: at
// least the last WindowSize bytes of it, or all there are.
//
// It returns the number of bytes written at buf[w:], which is less than len(buf)-w only
// with an error. io.EOF says that the final block has ended behind those bytes. Decode
// stops as soon as buf is full, so only a call with room for at least one more byte finds
// the end. Bytes of buf behind those written may have been used as scratch space.
func (d *Decoder) Decode(buf []byte, w int) (n int, err error) {
	if d.err != nil {
		return 0, d.err
	}
	if w < 0 || w > len(buf) || int64(w) < min(d.out, WindowSize) {
		return 0, fmt.Errorf("inflate: %d bytes of history in a buffer of %d, at offset %d", w, len(buf), d.out)
	}
	// Bytes of buf before the start of the stream are no history.
	floor := int(max(int64(w)-d.out, 0))
	p := w
	for p < len(buf) && d.err == nil {
		switch d.state {
		case atHeader:
			d.err = d.readBlockHeader(d.out + int64(p-w))
		case inStored:
			p, d.err = d.decodeStored(buf, p)
		case inHuffman:
			p, d.err = d.decodeHuffman(buf, p, floor)
		case atEnd:
			d.err = io.EOF
		}
	}
	d.out += int64(p - w)
	return p - w, d.err
}

// readBlockHeader reads the header of the block that begins at the offset out.
func (d *Decoder) readBlockHeader(out int64) error {
	err := d.readHeader()
	if err == nil && d.OnBlock != nil {
		d.OnBlock(Block{Header: d.header, Out: out, Stored: d.state == inStored})
	}
	return err
}

// Point returns where the next Decode continues. It is valid after a Reset or Decode that
// returned nil, and after io.EOF.
func (d *Decoder) Point() Point {
	p := Point{Out: d.out, In: d.bitOffset(), Header: d.header, Len: uint16(d.matchLen), Dist: uint16(d.matchDist)}
	switch d.state {
	case atHeader:
		p.Header = p.In
	case atEnd:
		p.In = d.last
	}
	return p
}

// InputOffset returns, after io.EOF, the byte offset directly behind the final
// block. What follows the deflate data, such as a checksum, starts there.
func (d *Decoder) InputOffset() int64 { return (d.InputEnd() + 7) >> 3 }

// InputEnd returns, after io.EOF, the bit offset directly behind the final block.
func (d *Decoder) InputEnd() int64 { return d.bitOffset() }

// endBlock leaves a block. last is the Point.In at which resuming would end the
// block again.
func (d *Decoder) endBlock(last int64) {
	d.state = atHeader
	if d.final {
		d.state = atEnd
		d.last = last
	}
}

// decodeStored copies bytes of a stored block into buf[p:] and returns the new p.
func (d *Decoder) decodeStored(buf []byte, p int) (int, error) {
	for d.stored > 0 && d.nbits > 0 && p < len(buf) {
		// The header was read through the bit buffer, which has bytes behind it too.
		buf[p] = byte(d.bits)
		d.drop(8)
		p++
		d.stored--
	}
	for d.stored > 0 && p < len(buf) {
		if d.pos == d.end {
			if d.fill(); d.pos == d.end {
				return p, d.inputErr()
			}
		}
		n := copy(buf[p:], d.in[d.pos:min(d.end, d.pos+d.stored)])
		d.pos += n
		p += n
		d.stored -= n
	}
	if d.stored == 0 {
		d.endBlock(d.bitOffset())
	}
	return p, nil
}
