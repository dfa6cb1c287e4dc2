package blte

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"sync"

	"lorefs/internal/adler"
	"lorefs/internal/inflate"
)

const (
	// inflateRatio is the most bytes that one byte of deflate can decode to.
	inflateRatio = 1032

	zlibHead = 2
	zlibSum  = 4
)

// inflaters keeps decoders, because each has 90 KB. Without them verify of a CASC storage takes 1.4
// times as long, and its export 1.3 times.
var inflaters = sync.Pool{New: func() any { return &inflater{Decoder: inflate.NewDecoder(nil, 0)} }}

type inflater struct {
	*inflate.Decoder
	src bytes.Reader
	// behind is where a byte more than stated would be decoded to. What lies before it does not
	// matter, because there must be none.
	behind [inflate.WindowSize + 1]byte
}

// decodeZlib reads a zlib stream that must have size bytes, or any number if size is -1.
func decodeZlib(data []byte, size int64) ([]byte, error) {
	if size < 0 {
		return inflateZlib(data, func(d *inflater) ([]byte, error) { return d.all(len(data)) })
	}
	if err := checkInflated(size, len(data)); err != nil {
		return nil, err
	}
	return decodeZlibInto(make([]byte, size), data)
}

// checkInflated checks a size that is stated before memory is taken for it.
func checkInflated(size int64, encoded int) error {
	if size > int64(encoded)*inflateRatio {
		return badChunk("mode Z: %d bytes can't become the stated %d", encoded, size)
	}
	return nil
}

// decodeZlibInto reads a zlib stream of at most len(content) bytes.
func decodeZlibInto(content, data []byte) ([]byte, error) {
	return inflateZlib(data, func(d *inflater) ([]byte, error) { return d.into(content) })
}

// inflateZlib reads a zlib stream by means of decode.
func inflateZlib(data []byte, decode func(*inflater) ([]byte, error)) ([]byte, error) {
	if err := checkZlibHead(data); err != nil {
		return nil, &errFormat{what: "mode Z", err: err}
	}
	d := inflaters.Get().(*inflater)
	d.src.Reset(data[zlibHead:])
	d.Open(&d.src, int64(len(data)-zlibHead))
	content, err := decode(d)
	if err != nil {
		return nil, err
	}
	sum := data[min(zlibHead+d.InputOffset(), int64(len(data))):]
	d.src.Reset(nil)
	inflaters.Put(d)
	if len(sum) < zlibSum {
		return nil, &errFormat{what: "mode Z", err: io.ErrUnexpectedEOF}
	}
	if have, want := adler.Checksum(content), binary.BigEndian.Uint32(sum); have != want {
		return nil, badChunk("mode Z: the checksum is %08x, the stream has %08x", have, want)
	}
	return content, nil
}

// into decodes at most len(content) bytes.
func (d *inflater) into(content []byte) ([]byte, error) {
	n, err := d.Decode(content, 0)
	if err == nil {
		var more int
		if more, err = d.Decode(d.behind[:], inflate.WindowSize); more > 0 {
			return nil, badChunk("mode Z: more than the stated %d bytes decoded", len(content))
		}
	}
	if !errors.Is(err, io.EOF) {
		return nil, &errFormat{what: "mode Z", err: err}
	}
	return content[:n], nil
}

// all decodes a stream whose size nobody states.
func (d *inflater) all(encoded int) ([]byte, error) {
	// One byte more than allowed, to see the end.
	limit := min(int64(encoded)*inflateRatio, MaxChunk) + 1
	content := make([]byte, min(int64(encoded)*4, limit))
	n := 0
	for {
		more, err := d.Decode(content, n)
		n += more
		switch {
		case errors.Is(err, io.EOF):
			return content[:n], nil
		case err != nil:
			return nil, &errFormat{what: "mode Z", err: err}
		case int64(len(content)) < limit:
			grown := make([]byte, min(2*int64(len(content)), limit))
			copy(grown, content)
			content = grown
		default:
			return nil, badChunk("mode Z: more than %d bytes decoded", limit-1)
		}
	}
}

// checkZlibHead looks at the two bytes before the deflate data.
func checkZlibHead(data []byte) error {
	const deflate, window, preset = 8, 7 << 4, 0x20
	switch {
	case len(data) < zlibHead:
		return io.ErrUnexpectedEOF
	case data[0]&0x0F != deflate || data[0]&0xF0 > window || binary.BigEndian.Uint16(data)%31 != 0:
		return errors.New("zlib: invalid header")
	case data[1]&preset != 0:
		return errors.New("zlib: a preset dictionary")
	}
	return nil
}
