package sheets

import (
	"context"
	"fmt"
	"io"
)

// flushSize is the size of a write.
const flushSize = 256 << 10

// Restarter is a writer that can drop what was written to it.
type Restarter interface {
	io.Writer
	// Restart drops what was written so far.
	Restart() error
}

// WriteSheet writes a sheet to w, and returns its size. If w is a [Restarter], the sheets of the
// family need not be measured first.
func (s *Source) WriteSheet(ctx context.Context, w io.Writer, sheet Sheet) (int64, error) {
	if r, ok := w.(Restarter); ok && s.draft == nil {
		f := s.of(sheet)
		measured, err := f.Measured(ctx)
		if err != nil {
			return 0, err
		}
		if !measured {
			return f.writeUnmeasured(ctx, r, sheet)
		}
	}
	v, err := s.view(ctx, sheet)
	if err != nil {
		return 0, err
	}
	e, err := s.encoder(ctx)
	if err != nil {
		return 0, err
	}
	defer s.release(e)
	written, err := e.write(ctx, w, v, flushSize)
	if err == nil && written != v.size.bytes {
		err = v.sizeError(written)
	}
	return written, err
}

// write writes a sheet to w: once there are first bytes, then in larger and larger parts.
func (e *encoder) write(ctx context.Context, w io.Writer, v view, first int) (written int64, err error) {
	e.texts.use()
	buf, err := e.start(e.out[:0], v)
	from, next := 0, first
	for err == nil && !e.done() {
		if len(buf) < next {
			buf, err = e.step(buf)
			continue
		}
		if err = ctx.Err(); err == nil {
			_, err = w.Write(buf[from:])
		}
		from, next = len(buf), min(8*next, flushSize)
		if from >= flushSize {
			e.gone += int64(from)
			buf, from = buf[:0], 0
		}
	}
	e.out = buf[:0]
	if err == nil {
		_, err = w.Write(buf[from:])
	}
	return e.gone + int64(len(buf)), err
}

// sizeError returns the error for a sheet whose size differs from the one that was computed
// before.
func (v *view) sizeError(got int64) error {
	return fmt.Errorf("datacenter: sheet %s %d has %d bytes, not %d: %w", v.sheet.Name, v.sheet.Ordinal, got, v.size.bytes, errSchema)
}

// start begins a sheet, and appends its first tag.
func (e *encoder) start(dst []byte, v view) ([]byte, error) {
	e.prepare(v)
	n, err := e.load(v.sheet)
	if err != nil {
		return dst, err
	}
	return e.root(dst, n, v.elements.all[0])
}

// prepare sets what is the same for the whole sheet.
func (e *encoder) prepare(v view) {
	e.begin()
	e.tag.learner, e.tag.found, e.tag.extras = nil, v.size.found, v.size.found != 0
}

// ReadAt reads a part of a sheet's text, like [io.ReaderAt]. It encodes only from the
// nearest known place to the end of p.
func (s *Source) ReadAt(ctx context.Context, sheet Sheet, p []byte, off int64) (n int, err error) {
	err = s.steady(sheet.Number, func() error {
		v, err := s.view(ctx, sheet)
		if err == nil {
			n, err = s.readAt(ctx, v, p, off)
		}
		return err
	})
	return n, err
}

func (s *Source) readAt(ctx context.Context, v view, p []byte, off int64) (int, error) {
	switch {
	case off < 0:
		return 0, fmt.Errorf("negative offset %d", off)
	case off >= v.size.bytes:
		return 0, io.EOF
	}
	want := int(min(int64(len(p)), v.size.bytes-off))
	e, err := s.encoder(ctx)
	if err != nil {
		return 0, err
	}
	defer s.release(e)
	r := sheetReader{e: e, v: v, ctx: ctx}
	if err := r.resume(s.waypoints.nearest(v, off)); err != nil {
		return 0, err
	}
	if err := r.seek(off); err != nil {
		return 0, err
	}
	if err := r.read(p[:want]); err != nil {
		return 0, err
	}
	if !e.done() {
		s.waypoints.keep(r.waypoint())
	}
	if want < len(p) {
		return want, io.EOF
	}
	return want, nil
}

// sheetReader reads a sheet from any place on.
type sheetReader struct {
	e   *encoder
	v   view
	ctx context.Context
	// at is the offset after rest, which is text that was encoded already.
	at   int64
	rest []byte
}

// resume goes on at a waypoint, or begins if p is nil.
func (r *sheetReader) resume(p *waypoint) (err error) {
	if p == nil {
		r.rest, err = r.e.start(r.e.out[:0], r.v)
		r.e.out = r.rest
		return err
	}
	r.e.prepare(r.v)
	r.at = p.at
	r.rest = append(r.e.out[:0], p.rest...)
	r.e.out = r.rest
	return r.e.restore(p)
}

// seek skips the text before off.
func (r *sheetReader) seek(off int64) error {
	steps := 0
	for r.at+int64(len(r.rest)) <= off {
		if err := r.check(&steps); err != nil {
			return err
		}
		r.at += int64(len(r.rest))
		out, err := r.e.step(r.e.out[:0])
		if err != nil {
			return err
		}
		r.e.out, r.rest = out, out
	}
	r.rest = r.rest[off-r.at:]
	r.at = off
	return nil
}

// check ends long work if the context has ended.
func (r *sheetReader) check(steps *int) error {
	const some = 1 << 10
	if *steps++; *steps%some == 0 {
		if err := r.ctx.Err(); err != nil {
			return err
		}
	}
	if r.e.done() {
		return r.v.sizeError(r.at + int64(len(r.rest)))
	}
	return nil
}

// read fills p.
func (r *sheetReader) read(p []byte) error {
	steps := 0
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	for n < len(p) {
		if err := r.check(&steps); err != nil {
			return err
		}
		// Usually the text can go directly into p.
		out, err := r.e.step(p[n:n:len(p)])
		if err != nil {
			return err
		}
		if n+len(out) > len(p) {
			r.rest = out[copy(p[n:], out):]
			n = len(p)
			break
		}
		n += copy(p[n:], out)
	}
	r.at += int64(n)
	return nil
}
