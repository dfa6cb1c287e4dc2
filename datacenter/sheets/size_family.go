package sheets

import (
	"context"
	"fmt"
	"sync"

	"lorefs/datacenter/edit"
)

// familyInfo describes the stored sheets of a family.
type familyInfo struct {
	elements *elements
	sizes    []sheetSize // in the order of the sheets
}

// view has all that writing a sheet needs.
type view struct {
	sheet    Sheet
	edit     int64 // the last edit of the sheet
	size     sheetSize
	elements *elements
}

// view returns what is needed to write a sheet.
func (s *Source) view(ctx context.Context, sheet Sheet) (view, error) {
	f := s.of(sheet)
	if err := f.find(ctx); err != nil {
		return view{}, err
	}
	s.poll()
	// This comes first: the sheet may show a part of an edit that comes later.
	change, _ := s.edit(sheet.Number)
	if err := f.catchUp(ctx); err != nil {
		return view{}, err
	}
	v := view{sheet: sheet, edit: change}
	f.flight.mu.Lock()
	defer f.flight.mu.Unlock()
	v.elements = f.current()
	size, ok := f.draft.sizes[sheet.Number]
	if ok {
		v.size = size
		return v, nil
	}
	if int(sheet.Ordinal) < len(f.base) && f.base[sheet.Ordinal].Number == sheet.Number {
		v.size = f.info.sizes[sheet.Ordinal]
		return v, nil
	}
	return v, fmt.Errorf("datacenter: sheet %s %d: %w", sheet.Name, sheet.Ordinal, edit.ErrGone)
}

// Measured reports whether the sizes of the stored sheets are known, perhaps from an earlier run.
func (f *Family) Measured(ctx context.Context) (bool, error) {
	err := f.flight.do(ctx, func() bool { return f.info != nil || f.restored }, func() error {
		info, ok := f.src.store.load(f)
		f.flight.mu.Lock()
		defer f.flight.mu.Unlock()
		if f.restored = true; ok {
			f.info = info
		}
		return nil
	})
	return f.known() != nil, err
}

// find computes info unless it is known.
func (f *Family) find(ctx context.Context) error {
	return f.flight.do(ctx, func() bool { return f.info != nil }, func() error {
		info, ok := f.src.store.load(f)
		if !ok {
			var err error
			if info, err = f.measure(ctx); err != nil {
				return fmt.Errorf("sheets %s: %w", f.Name, err)
			}
		}
		f.flight.mu.Lock()
		f.info = info
		f.flight.mu.Unlock()
		if !ok {
			f.src.store.measured()
		}
		return nil
	})
}

// measure measures the stored sheets.
func (f *Family) measure(ctx context.Context) (*familyInfo, error) {
	s := f.src
	e, err := s.encoder(ctx)
	if err != nil {
		return nil, err
	}
	defer s.release(e)
	e.measures()
	m := &measurer{
		ctx: ctx, e: e, memo: map[runKey]runSize{},
		learn: &learner{es: newElements(s.opts.Strategy, f.name)},
	}
	sizes, err := m.family(f.base)
	if err != nil {
		return nil, err
	}
	return &familyInfo{elements: m.learn.es, sizes: sizes}, nil
}

// Size returns the exact size of a sheet in bytes. The first call for a family visits all
// its stored nodes.
func (s *Source) Size(ctx context.Context, sheet Sheet) (size int64, err error) {
	err = s.steady(sheet.Number, func() error {
		v, err := s.view(ctx, sheet)
		size = v.size.bytes
		return err
	})
	return size, err
}

// flight lets one of several goroutines do work that all need, while the others wait.
type flight struct {
	mu      sync.Mutex // not held during work
	running chan struct{}
}

// do returns once ready returns true; it is called with mu held. If it returns false, one
// goroutine does the work. If the work fails, that goroutine gets the error, and another
// tries again.
func (f *flight) do(ctx context.Context, ready func() bool, work func() error) error {
	for {
		f.mu.Lock()
		if ready() {
			f.mu.Unlock()
			return nil
		}
		if f.running == nil {
			break
		}
		done := f.running
		f.mu.Unlock()
		select {
		case <-done:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	done := make(chan struct{})
	f.running = done
	f.mu.Unlock()
	defer func() {
		f.mu.Lock()
		f.running = nil
		f.mu.Unlock()
		close(done)
	}()
	return work()
}
