package dctree

import (
	"context"
	"fmt"
	"strconv"

	"lorefs/nodes"
)

// These are the extended attributes: the type of an attribute; for a node, the names of its key
// attributes, separated by spaces, and its flags as a number.
const (
	xattrType  = "user.lorefs.type"
	xattrKeys  = "user.lorefs.keys"
	xattrFlags = "user.lorefs.flags"
)

// Xattrs implements [nodes.Xattrer].
func (t *Tree) Xattrs(ctx context.Context, id nodes.ID) ([]string, error) {
	if err := t.check(ctx); err != nil {
		return nil, err
	}
	if _, _, attribute, ok := split(id); ok && attribute {
		_, err := t.attribute(id)
		return []string{xattrType}, err
	}
	_, _, err := t.dir(id)
	return []string{xattrKeys, xattrFlags}, err
}

// Xattr implements [nodes.Xattrer].
func (t *Tree) Xattr(ctx context.Context, id nodes.ID, name string) ([]byte, error) {
	if err := t.check(ctx); err != nil {
		return nil, err
	}
	if _, _, attribute, ok := split(id); ok && attribute {
		a, err := t.attribute(id)
		if err == nil && name != xattrType {
			err = fmt.Errorf("%s: %w", name, nodes.ErrNoXattr)
		}
		if err != nil {
			return nil, err
		}
		return []byte(a.Type().String()), nil
	}
	_, n, err := t.dir(id)
	if err != nil {
		return nil, err
	}
	switch name {
	case xattrKeys:
		return []byte(n.Keys().String()), nil
	case xattrFlags:
		return strconv.AppendUint(nil, uint64(n.Flags()), 10), nil
	}
	return nil, fmt.Errorf("%s: %w", name, nodes.ErrNoXattr)
}
