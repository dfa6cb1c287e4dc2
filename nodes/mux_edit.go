package nodes

import (
	"context"
	"errors"
	"time"
)

func (m *mux) SetXattr(ctx context.Context, id ID, name string, value []byte) error {
	t, own, err := m.splitSetter(id)
	if err != nil {
		return err
	}
	return t.SetXattr(ctx, own, name, value)
}

func (m *mux) RemoveXattr(ctx context.Context, id ID, name string) error {
	t, own, err := m.splitSetter(id)
	if err != nil {
		return err
	}
	return t.RemoveXattr(ctx, own, name)
}

// splitEdit is split for calls that change the tree.
func (m *mux) splitEdit(id ID) (Mutable, ID, error) {
	t, own, err := m.split(id)
	if err != nil {
		return nil, 0, err
	}
	e, ok := Edits(t)
	if !ok {
		return nil, 0, ErrReadOnly
	}
	return e, own, nil
}

func (m *mux) splitSetter(id ID) (XattrSetter, ID, error) {
	t, own, err := m.split(id)
	if err != nil {
		return nil, 0, err
	}
	s, ok := XattrSets(t)
	if !ok {
		return nil, 0, ErrReadOnly
	}
	return s, own, nil
}

func (m *mux) Create(ctx context.Context, dir ID, name string) (Entry, error) {
	t, own, err := m.splitEdit(dir)
	if err != nil {
		return Entry{}, err
	}
	e, err := t.Create(ctx, own, name)
	if err != nil {
		return e, err
	}
	return m.export(dir>>viewShift, e)
}

func (m *mux) Mkdir(ctx context.Context, dir ID, name string) (Entry, error) {
	t, own, err := m.splitEdit(dir)
	if err != nil {
		return Entry{}, err
	}
	e, err := t.Mkdir(ctx, own, name)
	if err != nil {
		return e, err
	}
	return m.export(dir>>viewShift, e)
}

func (m *mux) Remove(ctx context.Context, dir ID, name string, kind Kind) error {
	t, own, err := m.splitEdit(dir)
	if err != nil {
		return err
	}
	return t.Remove(ctx, own, name, kind)
}

func (m *mux) Rename(ctx context.Context, dir ID, name string, toDir ID, toName string, mode RenameMode) error {
	t, own, err := m.splitEdit(dir)
	if err != nil {
		return err
	}
	_, toOwn, err := m.splitEdit(toDir)
	if err != nil {
		return err
	}
	if dir>>viewShift != toDir>>viewShift {
		return ErrCross
	}
	return t.Rename(ctx, own, name, toOwn, toName, mode)
}

func (m *mux) OpenWrite(ctx context.Context, file ID) (Writer, error) {
	t, own, err := m.splitEdit(file)
	if err != nil {
		return nil, err
	}
	return t.OpenWrite(ctx, own)
}

func (m *mux) SetModTime(ctx context.Context, id ID, mtime time.Time) error {
	t, own, err := m.splitEdit(id)
	if err != nil {
		return err
	}
	return t.SetModTime(ctx, own, mtime)
}

func (m *mux) Sync(ctx context.Context) error {
	var errs []error
	for _, v := range m.views {
		if t, ok := Edits(v.tree); ok {
			errs = append(errs, t.Sync(ctx))
		}
	}
	return errors.Join(errs...)
}

func (m *mux) Forget(id ID) {
	if t, own, err := m.splitEdit(id); err == nil {
		t.Forget(own)
	}
}

func (m *mux) Watch(f func(Change)) {
	for i, v := range m.views {
		t, ok := Changes(v.tree)
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
