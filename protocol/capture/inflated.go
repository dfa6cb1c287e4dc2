package capture

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"lorefs/internal/inflate"
)

// stepSize is the distance of the places at which inflating can resume.
const stepSize = 1 << 20

// inflated is a deflate stream that can be read anywhere. For each MiB of output it keeps a
// place to resume at and the 32 KiB of output before it.
type inflated struct {
	src   io.ReaderAt
	off   int64 // of the stream in the file
	limit int64 // of the output
	size  int64 // of the output
	steps []step
	// cut says how the stream ends if it ends early with the file; else nil.
	cut error

	mu sync.Mutex
	// Guarded by mu: the decoder, and the steps that were read last, the newest first.
	dec    *inflate.Decoder
	loaded []*output
}

// keptSteps is how many steps are kept inflated, each somewhat more than a MiB: that many
// readers can go through a log side by side without evicting each other's step.
const keptSteps = 4

// output is the output of one step with the window before it.
type output struct {
	step   int // -1 for none
	buf    []byte
	hist   int // how much of buf is the window
	filled int // how much of buf is valid
}

// step is a place to resume at.
type step struct {
	point  inflate.Point
	window []byte
}

// newInflated inflates the size bytes at off of src once, to find the places to resume at
// and the size of the output. A stream that is cut off is good up to there. wanted returns
// an error when newInflated should stop.
func newInflated(wanted func() error, src io.ReaderAt, off, size, limit int64) (*inflated, error) {
	in := &inflated{off: off, limit: limit}
	return in.inflate(wanted, src, size, nil)
}

// grown returns the stream with what was appended to it; its input is size bytes now.
func (in *inflated) grown(wanted func() error, src io.ReaderAt, size int64) (*inflated, error) {
	last := len(in.steps) - 1
	g := &inflated{off: in.off, limit: in.limit, steps: slices.Clip(in.steps[:last]), size: int64(last) * stepSize}
	return g.inflate(wanted, src, size, &in.steps[last])
}

// inflate inflates the rest of the input: all of it, or from a place to resume at.
func (in *inflated) inflate(wanted func() error, src io.ReaderAt, size int64, from *step) (*inflated, error) {
	off, limit := in.off, in.limit
	part := io.NewSectionReader(src, off, size)
	in.src, in.dec = part, inflate.NewDecoder(part, size)
	buf := make([]byte, inflate.WindowSize+stepSize)
	in.loaded = []*output{{step: -1, buf: buf}}
	hist := 0
	if from != nil {
		if err := in.dec.Reset(from.point); err != nil {
			return nil, fmt.Errorf("capture: inflating: %w", err)
		}
		hist = copy(buf, from.window)
	}
	for {
		if err := wanted(); err != nil {
			return nil, err
		}
		in.steps = append(in.steps, step{in.dec.Point(), append([]byte(nil), buf[:hist]...)})
		n, err := in.dec.Decode(buf[:hist+stepSize], hist)
		in.size += int64(n)
		if in.size > limit {
			return nil, &FormatError{Off: in.size, Inflated: true, What: fmt.Sprintf("more than %d bytes", limit)}
		}
		if errors.Is(err, io.EOF) {
			if rest := size - in.dec.InputOffset(); rest > 0 {
				in.cut = badf(off+size-rest, "%d bytes follow the deflate stream", rest)
			}
			return in, nil
		}
		if err != nil {
			return in, in.cutOff(err)
		}
		keep := min(inflate.WindowSize, hist+n)
		copy(buf, buf[hist+n-keep:hist+n])
		hist = keep
	}
}

// cutOff accepts a stream that ends too early. Damage is an error.
func (in *inflated) cutOff(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		in.cut = &FormatError{Off: in.size, Inflated: true, What: "the deflate stream is cut off here"}
		return nil
	}
	if _, corrupt := errors.AsType[*inflate.CorruptError](err); corrupt {
		return &FormatError{Off: in.size, Inflated: true, What: "the deflate stream is damaged", Err: err}
	}
	return fmt.Errorf("capture: inflating: %w", err)
}

// ReadAt implements [io.ReaderAt].
func (in *inflated) ReadAt(p []byte, off int64) (int, error) {
	if off < 0 {
		return 0, fmt.Errorf("capture: negative offset %d", off)
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	done := 0
	for done < len(p) {
		at := off + int64(done)
		if at >= in.size {
			return done, io.EOF
		}
		out, err := in.load(int(at / stepSize))
		if err != nil {
			return done, err
		}
		n := copy(p[done:], out.buf[out.hist+int(at%stepSize):out.filled])
		if n == 0 {
			return done, fmt.Errorf("capture: the deflate stream changed since it was opened")
		}
		done += n
	}
	return done, nil
}

// load returns the output of a step, and inflates it if needed.
func (in *inflated) load(k int) (*output, error) {
	out := in.take(k)
	if out.step == k {
		return out, nil
	}
	out.step = -1
	s := in.steps[k]
	if err := in.dec.Reset(s.point); err != nil {
		return nil, fmt.Errorf("capture: inflating: %w", err)
	}
	out.hist = copy(out.buf, s.window)
	want := out.hist + int(min(stepSize, in.size-int64(k)*stepSize))
	n, err := in.dec.Decode(out.buf[:want], out.hist)
	if out.filled = out.hist + n; out.filled < want {
		return nil, fmt.Errorf("capture: inflating: %w", err)
	}
	out.step = k
	return out, nil
}

// take returns the output that holds a step, or the one to replace, and moves it to the
// front.
func (in *inflated) take(k int) *output {
	i := slices.IndexFunc(in.loaded, func(o *output) bool { return o.step == k })
	if i < 0 {
		i = slices.IndexFunc(in.loaded, func(o *output) bool { return o.step < 0 })
	}
	switch {
	case i >= 0:
	case len(in.loaded) < keptSteps:
		i = len(in.loaded)
		in.loaded = append(in.loaded, &output{step: -1, buf: make([]byte, inflate.WindowSize+stepSize)})
	default:
		i = keptSteps - 1
	}
	out := in.loaded[i]
	copy(in.loaded[1:i+1], in.loaded[:i])
	in.loaded[0] = out
	return out
}
