package dctree

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"lorefs/datacenter"
	"lorefs/datacenter/edit"
	"lorefs/nodes"
)

// Xattrs implements [nodes.Xattrer].
func (e *Editable) Xattrs(ctx context.Context, id nodes.ID) ([]string, error) {
	attr, err := e.Attr(ctx, id)
	switch {
	case err != nil:
		return nil, err
	case attr.Kind == nodes.Dir:
		return []string{xattrKeys, xattrFlags}, nil
	}
	if _, err = e.xattrOfFile(ctx, id); errors.Is(err, nodes.ErrNoXattr) {
		return nil, nil // a scratch file has none
	}
	return []string{xattrType}, err
}

// Xattr implements [nodes.Xattrer].
func (e *Editable) Xattr(ctx context.Context, id nodes.ID, name string) ([]byte, error) {
	attr, err := e.Attr(ctx, id)
	if err != nil {
		return nil, err
	}
	n, _, _ := number(id)
	of, touched := e.edits.draft.Node(n)
	switch {
	case attr.Kind == nodes.File && name == xattrType:
		return e.xattrOfFile(ctx, id)
	case attr.Kind == nodes.Dir && name == xattrKeys && touched:
		return []byte(of.Keys.String()), nil
	case attr.Kind == nodes.Dir && name == xattrFlags && touched:
		return strconv.AppendUint(nil, uint64(of.Flags), 10), nil
	case attr.Kind == nodes.Dir && !touched:
		return e.edits.Xattr(ctx, id, name)
	}
	return nil, fmt.Errorf("%s: %w", name, nodes.ErrNoXattr)
}

// xattrOfFile returns the type of an attribute, or the type that a file shall have.
func (e *Editable) xattrOfFile(ctx context.Context, id nodes.ID) ([]byte, error) {
	extra, apart := e.Extra(id)
	switch t := typeInExtra(extra); {
	case t != 0:
		return []byte(t.String()), nil
	case apart:
		return nil, fmt.Errorf("%s: %w", xattrType, nodes.ErrNoXattr)
	}
	n, _, _ := number(id)
	if v, ok := e.edits.draft.Value(n); ok {
		return []byte(v.Type().String()), nil
	}
	return e.edits.Xattr(ctx, id, xattrType)
}

// SetXattr implements [nodes.Mutable]. It sets the type of an attribute, whose text has to be a
// value of it, or the keys or the flags of a node.
func (e *Editable) SetXattr(ctx context.Context, id nodes.ID, name string, value []byte) error {
	attr, err := e.Attr(ctx, id)
	if err != nil {
		return err
	}
	n, _, _ := number(id)
	text := strings.TrimSpace(string(value))
	switch {
	case name == xattrType && attr.Kind == nodes.File:
		return e.setType(ctx, id, text)
	case name == xattrKeys && attr.Kind == nodes.Dir:
		return e.setNode(ctx, id, edit.Edit{Op: edit.SetKeys, Node: n, Keys: strings.FieldsFunc(text, betweenKeys)})
	case name == xattrFlags && attr.Kind == nodes.Dir:
		flags, err := strconv.ParseUint(text, 10, 8)
		if err != nil || flags > 1 {
			return fmt.Errorf("%w: flags are 0 or 1: %q", nodes.ErrInvalid, text)
		}
		return e.setNode(ctx, id, edit.Edit{Op: edit.SetFlags, Node: n, Flags: datacenter.KeyFlags(flags)})
	}
	return fmt.Errorf("%s: %w", name, nodes.ErrNotPermitted)
}

func (e *Editable) setNode(ctx context.Context, id nodes.ID, change edit.Edit) error {
	return e.Alone(func() error {
		if err := e.edits.apply(ctx, change); err != nil {
			return err
		}
		return e.SetModTime(ctx, id, e.edits.opts.Now())
	})
}

// setType changes the type of an attribute, or sets the type that a file shall have when it gets
// a value.
func (e *Editable) setType(ctx context.Context, id nodes.ID, text string) error {
	t, err := datacenter.ParseType(text)
	if err != nil {
		return refusal(err)
	}
	return e.SetExtra(ctx, id, t) // the string 256.0 becomes the float 256
}

// RemoveXattr implements [nodes.Mutable]. These attributes always exist, so it changes nothing.
// It still succeeds, because rsync -X removes what a copy doesn't have and would fail forever.
func (e *Editable) RemoveXattr(ctx context.Context, id nodes.ID, name string) error {
	_, err := e.Xattr(ctx, id, name)
	return err
}

// betweenKeys reports whether r separates the names of keys.
func betweenKeys(r rune) bool { return r == ' ' || r == ',' }
