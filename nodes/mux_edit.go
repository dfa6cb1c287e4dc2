package nodes

import (
	"context"
	"errors"
	"time"
)

// SetXattr implements [XattrSetter].
func (s muxSetter) SetXattr(ctx context.Context, id ID, name string, value []byte) error {
	t, own, err := splitAs[XattrSetter](s.m, id)
	if err != nil {
		return err
	}
	return t.SetXattr(ctx, own, name, value)
}

// RemoveXattr implements [XattrSetter].
func (s muxSetter) RemoveXattr(ctx context.Context, id ID, name string) error {
	t, own, err := splitAs[XattrSetter](s.m, id)
	if err != nil {
		return err
	}
	return t.RemoveXattr(ctx, own, name)
}

// splitAs is split for what only some of the trees can do.
func splitAs[T any](m *mux, id ID) (T, ID, error) {
	t, own, err := m.split(id)
	able, ok := t.(T)
	if err == nil && !ok {
		err = ErrReadOnly
	}
	return able, own, err
}

// Create implements [Mutable].
func (x muxEdits) Create(ctx context.Context, dir ID, name string) (Entry, error) {
	t, own, err := splitAs[Mutable](x.m, dir)
	if err != nil {
		return Entry{}, err
	}
	e, err := t.Create(ctx, own, name)
	if err != nil {
		return e, err
	}
	return x.m.export(dir>>viewShift, e)
}

// Mkdir implements [Mutable].
func (x muxEdits) Mkdir(ctx context.Context, dir ID, name string) (Entry, error) {
	t, own, err := splitAs[Mutable](x.m, dir)
	if err != nil {
		return Entry{}, err
	}
	e, err := t.Mkdir(ctx, own, name)
	if err != nil {
		return e, err
	}
	return x.m.export(dir>>viewShift, e)
}

// Remove implements [Mutable].
func (x muxEdits) Remove(ctx context.Context, dir ID, name string, kind Kind) error {
	t, own, err := splitAs[Mutable](x.m, dir)
	if err != nil {
		return err
	}
	return t.Remove(ctx, own, name, kind)
}

// Rename implements [Mutable].
func (x muxEdits) Rename(ctx context.Context, dir ID, name string, toDir ID, toName string, mode RenameMode) error {
	t, own, err := splitAs[Mutable](x.m, dir)
	if err != nil {
		return err
	}
	_, toOwn, err := splitAs[Mutable](x.m, toDir)
	if err != nil {
		return err
	}
	if dir>>viewShift != toDir>>viewShift {
		return ErrCross
	}
	return t.Rename(ctx, own, name, toOwn, toName, mode)
}

// OpenWrite implements [Mutable].
func (x muxEdits) OpenWrite(ctx context.Context, file ID) (Writer, error) {
	t, own, err := splitAs[Mutable](x.m, file)
	if err != nil {
		return nil, err
	}
	return t.OpenWrite(ctx, own)
}

// SetModTime implements [Mutable].
func (x muxEdits) SetModTime(ctx context.Context, id ID, mtime time.Time) error {
	t, own, err := splitAs[Mutable](x.m, id)
	if err != nil {
		return err
	}
	return t.SetModTime(ctx, own, mtime)
}

// Sync implements [Mutable].
func (x muxEdits) Sync(ctx context.Context) error {
	var errs []error
	for _, v := range x.m.views {
		if t, ok := v.tree.(Mutable); ok {
			errs = append(errs, t.Sync(ctx))
		}
	}
	return errors.Join(errs...)
}

// Forget implements [Mutable].
func (x muxEdits) Forget(id ID) {
	if t, own, err := splitAs[Mutable](x.m, id); err == nil {
		t.Forget(own)
	}
}

// Watch implements [Mutable].
func (x muxEdits) Watch(f func(Change)) {
	for i, v := range x.m.views {
		t, ok := v.tree.(Mutable)
		if !ok {
			continue
		}
		view := ID(i+1) << viewShift
		t.Watch(func(c Change) {
			if c.ID != 0 {
				c.ID |= view
			}
			if c.Dir != 0 {
				c.Dir |= view
			}
			f(c)
		})
	}
}
