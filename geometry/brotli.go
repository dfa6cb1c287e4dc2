package geometry

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/andybalholm/brotli"

	"lorefs/internal/cores"
)

// Default limits for the decompressed size of files and packed JSON texts. Known zones have
// 5 MB and can hardly have more than 10. The largest known areas have 15 MB, and grow by 72
// kB with each zone. A few kilobytes of file can claim all of it.
const (
	MaxZone = 64 << 20
	MaxArea = 64 << 20
)

// DecodeOptions are the options of decoders.
type DecodeOptions struct {
	// Max is the largest decompressed size of the file in bytes, below 4 GiB. Default:
	// MaxZone, MaxArea.
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

// EncodeOptions are the options of encoders.
type EncodeOptions struct {
	// Quality is Brotli's quality, 1 to 11: lower is faster and makes larger files.
	// Default: 11, as in known files.
	Quality int
}

const (
	// bestQuality and window are the settings of known files.
	bestQuality = 11
	window      = 22
	// zoneGuess, or areaGuess and guessRatio, set the capacity that decompressing begins with, so
	// that it hardly ever has to grow. Known zones differ less in size than their files do.
	zoneGuess  = 6 << 20
	areaGuess  = 64 << 10
	guessRatio = 4
)

// decompress returns the decompressed file, of at most limit bytes, and probably about as many as guess.
// what is "zone" or "area", ext the file's extension.
func decompress(file []byte, guess, limit int64, what, ext string) ([]byte, error) {
	r := brotli.NewReader(bytes.NewReader(file))
	buf := make([]byte, 0, min(guess, limit+1))
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

// grow doubles the capacity of buf, up to limit.
func grow(buf []byte, limit int64) []byte {
	bigger := make([]byte, len(buf), min(2*int64(cap(buf)), limit))
	copy(bigger, buf)
	return bigger
}

// maxParallel bounds the memory of encoding: six zones of 15 MB of JSON each took 720 MB,
// and larger ones take more.
const maxParallel = 6

// Parallel returns how many zones and areas to encode at once: one for each core, and at
// most 6, because each takes some 120 MB at Quality 11. A single one can't be split, since
// Brotli refers to all bytes before.
func Parallel() int { return min(cores.Count(), maxParallel) }

// compress writes data as a Brotli stream. Quality 11 takes about five seconds for each
// megabyte, so it checks ctx now and then.
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
