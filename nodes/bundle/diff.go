package bundle

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"

	"lorefs/nodes"
)

// Diff yields the files that two folders, trees of this package, do not both have as they are: as
// an edit of a would be that made b of it. They are sorted by their names.
func Diff(ctx context.Context, a, b nodes.Tree) iter.Seq2[Edit, error] {
	return func(yield func(Edit, error) bool) {
		was, err := listed(ctx, a)
		if err != nil {
			yield(Edit{}, err)
			return
		}
		is, err := listed(ctx, b)
		if err != nil {
			yield(Edit{}, err)
			return
		}
		for len(was)+len(is) > 0 {
			var d Edit
			switch order := compareFirst(was, is); {
			case order < 0:
				d, was = Edit{Kind: FileRemoved, Path: was[0].Name, OldSize: was[0].Size}, was[1:]
			case order > 0:
				d, is = Edit{Kind: FileAdded, Path: is[0].Name, Size: is[0].Size}, is[1:]
			default:
				same, err := equalFiles(ctx, a, b, was[0], is[0])
				if err != nil {
					yield(Edit{}, err)
					return
				}
				d = Edit{Kind: FileChanged, Path: is[0].Name, OldSize: was[0].Size, Size: is[0].Size}
				if was, is = was[1:], is[1:]; same {
					continue
				}
			}
			if !yield(d, nil) {
				return
			}
		}
	}
}

// compareFirst compares the names of the first entries. What is empty comes last.
func compareFirst(was, is []nodes.Entry) int {
	switch {
	case len(was) == 0:
		return 1
	case len(is) == 0:
		return -1
	}
	return cmp.Compare(was[0].Name, is[0].Name)
}

// listed returns the files of a tree, with their sizes, by their names.
func listed(ctx context.Context, t nodes.Tree) (list []nodes.Entry, err error) {
	for e, err := range t.ReadDir(ctx, nodes.Root, 0) {
		if err == nil {
			e, err = nodes.WithSize(ctx, t, e)
		}
		if err != nil {
			return nil, err
		}
		list = append(list, e)
	}
	slices.SortFunc(list, func(x, y nodes.Entry) int { return cmp.Compare(x.Name, y.Name) })
	return list, nil
}

// equalFiles reports whether two files have the same content.
func equalFiles(ctx context.Context, a, b nodes.Tree, x, y nodes.Entry) (bool, error) {
	if x.Size != y.Size {
		return false, nil
	}
	p, q := make([]byte, min(x.Size, 1<<20)), make([]byte, min(x.Size, 1<<20))
	for off := int64(0); off < x.Size; off += int64(len(p)) {
		n := min(int64(len(p)), x.Size-off)
		if err := readFull(ctx, a, x, p[:n], off); err != nil {
			return false, err
		}
		if err := readFull(ctx, b, y, q[:n], off); err != nil {
			return false, err
		}
		if !bytes.Equal(p[:n], q[:n]) {
			return false, nil
		}
	}
	return true, nil
}

// readFull reads a part of a file that it has.
func readFull(ctx context.Context, t nodes.Tree, e nodes.Entry, p []byte, off int64) error {
	n, err := t.ReadAt(ctx, e.ID, p, off)
	if n == len(p) {
		return nil
	}
	if err == nil || errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("%s: %w", e.Name, err)
}
