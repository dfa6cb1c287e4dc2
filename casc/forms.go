package casc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"lorefs/blte"
	"lorefs/internal/flight"
)

// forms is a content that is stored in several encoded forms. It reads from any form that
// is local and whole. It is safe for parallel use.
type forms struct {
	all  []*form
	size int64
	// now is the number of the form that was read last.
	now atomic.Int32
}

// form is one encoded form of a content.
type form struct {
	open  func(context.Context) (decoded, error)
	opens flight.Group[struct{}, decoded]

	mu  sync.Mutex // guards now; never held while the form is opened
	now decoded
}

// get opens the form when it is first needed. An error is not remembered.
func (f *form) get(ctx context.Context) (decoded, error) {
	if d := f.opened(); d != nil {
		return d, nil
	}
	return f.opens.Do(ctx, struct{}{}, func(ctx context.Context) (decoded, error) {
		// Another caller may have opened it between our look and our turn.
		if d := f.opened(); d != nil {
			return d, nil
		}
		d, err := f.open(ctx)
		if err != nil {
			return nil, err
		}
		f.mu.Lock()
		defer f.mu.Unlock()
		f.now = d
		return d, nil
	})
}

// opened returns the form if it is open, else nil.
func (f *form) opened() decoded {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.now
}

// openFirst opens the first form that can be opened.
func (f *forms) openFirst(ctx context.Context) error {
	var errs []error
	for i := range f.all {
		d, err := f.all[i].get(ctx)
		if err == nil {
			f.size = d.Size()
			f.now.Store(int32(i))
			return nil
		}
		errs = append(errs, err)
	}
	return whyNoForm(errs)
}

// fullest returns the forms with all bytes or, if every form lacks some for want of a key,
// the one that lacks the fewest, and what that lacks.
func (f *forms) fullest(ctx context.Context) (kept []*form, gaps []blte.Gap, err error) {
	least := int64(math.MaxInt64)
	var errs []error
	for _, open := range f.all {
		d, err := open.get(ctx)
		var lacks []blte.Gap
		if err == nil {
			lacks, err = d.Gaps(ctx)
		}
		if err != nil && ctx.Err() != nil {
			return nil, nil, err // that says nothing of the form
		}
		if err != nil {
			errs = append(errs, err)
			continue
		}
		n := int64(0)
		for _, g := range lacks {
			n += g.Size
		}
		switch {
		case n < least:
			least, kept, gaps = n, append(kept[:0], open), lacks
		case n == 0:
			kept = append(kept, open)
		}
	}
	if kept == nil {
		return nil, nil, whyNoForm(errs)
	}
	return kept, gaps, nil
}

// whyNoForm joins the errors of all forms. It leaves out those that are not local if others
// failed otherwise.
func whyNoForm(errs []error) error {
	here := slices.DeleteFunc(slices.Clone(errs), func(err error) bool { return errors.Is(err, ErrNotLocal) })
	if len(here) > 0 {
		errs = here
	}
	return errors.Join(errs...)
}

func (f *forms) Size() int64 { return f.size }

// each calls try with the forms until it succeeds, first with the form that was read last.
func (f *forms) each(ctx context.Context, try func(decoded) error) error {
	var errs []error
	first := int(f.now.Load())
	for i := range f.all {
		n := (first + i) % len(f.all)
		d, err := f.all[n].get(ctx)
		if err == nil && d.Size() != f.size {
			err = fmt.Errorf("it has %d bytes, another form of it %d", d.Size(), f.size)
		}
		if err == nil {
			err = try(d)
		}
		if err == nil {
			f.now.Store(int32(n))
			return nil
		}
		if ctx.Err() != nil {
			return err // another form would have to be waited for as well
		}
		errs = append(errs, err)
	}
	return whyNoForm(errs)
}

func (f *forms) ReadAtContext(ctx context.Context, p []byte, off int64) (n int, err error) {
	var end error
	err = f.each(ctx, func(d decoded) error {
		n, end = d.ReadAtContext(ctx, p, off)
		if errors.Is(end, io.EOF) {
			return nil
		}
		return end
	})
	if err == nil {
		err = end
	}
	return n, err
}

// MissingKey reports a missing key only if every form needs one.
func (f *forms) MissingKey(ctx context.Context) (name blte.KeyName, missing bool, err error) {
	err = f.each(ctx, func(d decoded) error {
		n, m, err := d.MissingKey(ctx)
		if err == nil && m {
			name, missing = n, true
			return errMissingKey
		}
		return err
	})
	switch {
	case err == nil:
		return 0, false, nil
	case missing:
		return name, true, nil
	}
	return 0, false, err
}

var errMissingKey = errors.New("a key is missing")

// Gaps returns what the form lacks that lacks the fewest bytes.
func (f *forms) Gaps(ctx context.Context) ([]blte.Gap, error) {
	_, gaps, err := f.fullest(ctx)
	return gaps, err
}

func (f *forms) Filled() bool {
	d := f.all[f.now.Load()].opened()
	return d != nil && d.Filled()
}

func (f *forms) Preload(ctx context.Context, from, to int64) {
	if d := f.all[f.now.Load()].opened(); d != nil {
		d.Preload(ctx, from, to)
	}
}

func (f *forms) ReadPlainAt(ctx context.Context, p []byte, off int64) bool {
	d := f.all[f.now.Load()].opened()
	return d != nil && d.ReadPlainAt(ctx, p, off)
}
