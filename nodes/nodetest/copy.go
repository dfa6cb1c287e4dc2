package nodetest

import (
	"context"
	"fmt"

	"lorefs/nodes"
)

// Copy returns a tree in memory with the names, contents, times and attributes of another, in
// the same order. Its numbers differ. Benchmarks mount the copy to measure what a source costs
// beyond its shape.
func Copy(ctx context.Context, tree nodes.Tree) (*Mem, error) {
	root, err := tree.Attr(ctx, nodes.Root)
	if err != nil {
		return nil, err
	}
	c := copier{tree: tree, root: root}
	if x, ok := nodes.Xattrs(tree); ok {
		c.xattrs = x
	}
	if err := c.node(ctx, nodes.Root, nodes.Root); err != nil {
		return nil, err
	}
	if err := c.dir(ctx, nodes.Root, nodes.Root); err != nil {
		return nil, err
	}
	return c.b.Build(root.ModTime)
}

type copier struct {
	tree   nodes.Tree
	xattrs nodes.Xattrer
	root   nodes.Attr
	b      Builder
}

func (c *copier) dir(ctx context.Context, from, to nodes.ID) error {
	for e, err := range c.tree.ReadDir(ctx, from, 0) {
		if err != nil {
			return err
		}
		var id nodes.ID
		switch e.Kind {
		case nodes.Dir:
			id = c.b.Dir(to, e.Name)
			err = c.dir(ctx, e.ID, id)
		case nodes.Link:
			target := ""
			target, err = nodes.Readlink(ctx, c.tree, e.ID)
			id = c.b.Link(to, e.Name, target)
		default:
			id, err = c.file(ctx, e, to)
		}
		if err == nil {
			err = c.node(ctx, e.ID, id)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", e.Name, err)
		}
	}
	return nil
}

func (c *copier) file(ctx context.Context, e nodes.Entry, to nodes.ID) (nodes.ID, error) {
	e, err := nodes.WithSize(ctx, c.tree, e)
	if err != nil {
		return 0, err
	}
	p := make([]byte, e.Size)
	n, err := c.tree.ReadAt(ctx, e.ID, p, 0)
	if n < len(p) {
		return 0, fmt.Errorf("a read of %d bytes = %d, %w", len(p), n, err)
	}
	return c.b.File(to, e.Name, string(p)), nil
}

// node copies everything of a node but its name and content.
func (c *copier) node(ctx context.Context, from, to nodes.ID) error {
	attr, err := c.tree.Attr(ctx, from)
	if err != nil {
		return err
	}
	if !attr.ModTime.Equal(c.root.ModTime) {
		c.b.SetModTime(to, attr.ModTime)
	}
	if c.xattrs == nil {
		return nil
	}
	names, err := c.xattrs.Xattrs(ctx, from)
	if err != nil {
		return err
	}
	for _, name := range names {
		value, err := c.xattrs.Xattr(ctx, from, name)
		if err != nil {
			return err
		}
		c.b.SetXattr(to, name, value)
	}
	return nil
}
