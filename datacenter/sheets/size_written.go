package sheets

import (
	"context"
	"errors"
	"fmt"
	"io"

	"lorefs/internal/cores"
)

// learned describes a family whose sheets are written before they are measured: writing measures them.
type learned struct {
	elements *elements
	// base is as in the encoders, see tagWriter.
	base int

	// The flight.mu of the family guards the fields below, which nobody needs once it is measured.
	// sizes has 0 bytes for sheets that were not written yet, whose number is missing.
	sizes   []sheetSize
	missing int
}

// learnOnce learns the schema of the stored sheets, unless that is done.
func (f *Family) learnOnce(ctx context.Context) (l *learned, err error) {
	err = f.flight.do(ctx, func() bool { l = f.learned; return l != nil }, func() error {
		es, err := f.learn(ctx, cores.Count(), schemaPart)
		if err != nil {
			return fmt.Errorf("sheets %s: %w", f.Name, err)
		}
		count := int64(len(es.all))
		f.flight.mu.Lock()
		defer f.flight.mu.Unlock()
		l = &learned{
			elements: es, base: int(f.src.outlined.Add(count) - count + 1),
			sizes: make([]sheetSize, len(f.base)), missing: len(f.base),
		}
		f.learned = l
		return nil
	})
	return l, err
}

// writeUnmeasured writes a sheet as [Source.WriteSheet] does, although nobody knows yet whether it
// needs the extra namespace. Nearly none does, so it is written as if it did not, and anew if that
// was wrong.
func (f *Family) writeUnmeasured(ctx context.Context, w Restarter, sheet Sheet) (int64, error) {
	l, err := f.learnOnce(ctx)
	if err != nil {
		return 0, err
	}
	e, err := f.src.encoder(ctx)
	if err != nil {
		return 0, err
	}
	defer f.src.release(e)
	v := view{sheet: sheet, elements: l.elements}
	e.tag.plain, e.tag.base = true, l.base
	written, err := e.write(ctx, w, v, flushSize)
	if errors.Is(err, ErrNotPlain) {
		e.tag.plain = false
		written, err = e.writeAnew(ctx, w, &v)
	}
	if err == nil {
		v.size.bytes = written
		f.wrote(l, sheet, v.size)
	}
	return written, err
}

// writeAnew writes a sheet of which a part was written that lacks the extra namespace. It sets what
// was found in it.
func (e *encoder) writeAnew(ctx context.Context, w Restarter, v *view) (int64, error) {
	v.size.found = foundExtras
	if _, err := e.write(ctx, io.Discard, *v, flushSize); err != nil {
		return 0, err
	}
	v.size.found = e.tag.found
	if err := w.Restart(); err != nil {
		return 0, err
	}
	return e.write(ctx, w, *v, flushSize)
}

// wrote notes that a sheet was written. After the last one, the family is measured.
func (f *Family) wrote(l *learned, sheet Sheet, size sheetSize) {
	if f.measuredBy(l, sheet, size) {
		f.src.store.measured()
	}
}

func (f *Family) measuredBy(l *learned, sheet Sheet, size sheetSize) bool {
	f.flight.mu.Lock()
	defer f.flight.mu.Unlock()
	if f.info != nil {
		return false
	}
	if l.sizes[sheet.Ordinal].bytes == 0 {
		l.missing--
	}
	l.sizes[sheet.Ordinal] = size
	if l.missing > 0 {
		return false
	}
	f.info = &familyInfo{elements: l.elements, sizes: l.sizes}
	l.sizes = nil
	return true
}
