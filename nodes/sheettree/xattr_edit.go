package sheettree

import (
	"context"
	"fmt"

	"lorefs/nodes"
)

// xattrError is what is wrong with the text of a file.
const xattrError = "user.lorefs.error"

// Xattrs is the tree's.
func (e *Editable) Xattrs(ctx context.Context, id nodes.ID) ([]string, error) {
	if _, err := e.Attr(ctx, id); err != nil {
		return nil, err
	}
	if e.problem(id) == nil {
		return nil, nil
	}
	return []string{xattrError}, nil
}

// Xattr is the tree's.
func (e *Editable) Xattr(ctx context.Context, id nodes.ID, name string) ([]byte, error) {
	if _, err := e.Attr(ctx, id); err != nil {
		return nil, err
	}
	if problem := e.problem(id); problem != nil && name == xattrError {
		return []byte(problem.Error()), nil
	}
	return nil, fmt.Errorf("%s: %w", name, nodes.ErrNoXattr)
}

func (e *Editable) problem(id nodes.ID) error {
	e.mu.RLock()
	defer e.mu.RUnlock()
	if c := e.files[id]; c != nil {
		return c.problem
	}
	return nil
}
