package geometry

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"

	"github.com/andybalholm/brotli"
)

// What files may decompress to by default, and JSON texts be packed to. Known zones
// have 5 MB and hardly can have more than 10; the largest known areas have 15 MB, and
// each zone more of their rectangle is 72 kB. A few kilobytes of file can ask for all
// of it.
const (
	MaxZone = 64 << 20
	MaxArea = 64 << 20
)

// DecodeOptions are what decoders may be told.
type DecodeOptions struct {
	// Max is the most that the file may decompress to, in bytes, below 4 GiB.
	// Default: MaxZone, MaxArea.
	Max int64
}

// maxImage keeps offsets within 32 bits.
const maxImage = 1<<32 - 1

func (o DecodeOptions) limit(def int64) int64 {
	if o.Max <= 0 {
		return def
	}
	return min(o.Max, maxImage)
}

// EncodeOptions are what encoders may be told.
type EncodeOptions struct {
	// Quality is that of Brotli, 1 to 11: lower is faster, and larger. Default:
	// 11, as in known files.
	Quality int
}

const (
	// bestQuality and window are what known files are compressed with.
	bestQuality = 11
	window      = 22
	// minGuess and guessRatio are how much room decompressing begins with.
	minGuess   = 64 << 10
	guessRatio = 4
)

var readers = sync.Pool{New: func() any { return brotli.NewReader(nil) }}

// decompress appends to buf, which is empty, what a file decompresses to, limit
// bytes at most. what is "zone" or "area", ext the file's extension.
func decompress(buf, file []byte, limit int64, what, ext string) ([]byte, error) {
	r := readers.Get().(*brotli.Reader)
	defer readers.Put(r)
	if err := r.Reset(bytes.NewReader(file)); err != nil {
		return nil, err
	}
	if guess := min(int64(len(file))*guessRatio+minGuess, limit+1); int64(cap(buf)) < guess {
		buf = make([]byte, 0, guess)
	}
	for {
		if len(buf) == cap(buf) {
			buf = grow(buf, limit+1)
		}
		n, err := r.Read(buf[len(buf):min(int64(cap(buf)), limit+1)])
		buf = buf[:len(buf)+n]
		switch {
		case int64(len(buf)) > limit:
			return buf, &FormatError{In: what, Off: limit, What: fmt.Sprintf("it goes on beyond %d bytes", limit), Err: ErrTooLarge}
		case errors.Is(err, io.EOF):
			return buf, nil
		case errors.Is(err, io.ErrUnexpectedEOF):
			return buf, &FormatError{In: ext + " file", Off: int64(len(file)), What: "the Brotli stream is cut off", Err: err}
		case err != nil:
			return buf, &FormatError{In: what, Off: int64(len(buf)), What: "the Brotli stream is damaged from here on", Err: err}
		}
	}
}

// grow doubles the room in buf, up to limit.
func grow(buf []byte, limit int64) []byte {
	bigger := make([]byte, len(buf), min(2*int64(cap(buf)), limit))
	copy(bigger, buf)
	return bigger
}

// maxParallel bounds what encoding takes at once: six zones of 15 MB of JSON each took
// 720 MB in all, larger ones take more.
const maxParallel = 6

// Parallel returns how many zones and areas to encode at once: one a core, and 6 at most,
// as each takes some 120 MB at Quality 11. A single one can't be shared out: what
// Brotli finds depends on all that comes before.
func Parallel() int { return min(runtime.GOMAXPROCS(0), maxParallel) }

// compress writes data as a Brotli stream. Quality 11 takes about five seconds for
// each megabyte, nearly all of it in the search for the cheapest matches, so ctx is
// asked now and then.
func compress(ctx context.Context, w io.Writer, data []byte, opts EncodeOptions) error {
	quality := opts.Quality
	switch {
	case quality == 0:
		quality = bestQuality
	case quality < 0 || quality > bestQuality:
		return fmt.Errorf("geometry: Brotli has no quality %d: want 1 to %d", quality, bestQuality)
	}
	bw := brotli.NewWriterOptions(w, brotli.WriterOptions{Quality: quality, LGWin: window})
	const piece = 256 << 10
	for len(data) > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		n := min(piece, len(data))
		if _, err := bw.Write(data[:n]); err != nil {
			return fmt.Errorf("geometry: compress: %w", err)
		}
		data = data[n:]
	}
	if err := bw.Close(); err != nil {
		return fmt.Errorf("geometry: compress: %w", err)
	}
	return nil
}
