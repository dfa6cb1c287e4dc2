package worldtree

import (
	"context"
	"errors"
	"fmt"

	"lorefs/nodes"
	"lorefs/nodes/overlay"
)

// Revert takes back the edits of files, and of everything below directories, and returns them as
// they were. If no node is given, it takes back all. It logs what it makes as an edit like any
// other, so an earlier version of this package can replay it. Texts that were refused are left
// alone, see [Editable.TakeBack].
//
// If some edits can't be taken back, the others are nevertheless.
func (e *Editable) Revert(ctx context.Context, ids ...nodes.ID) (taken []Edit, err error) {
	in, err := e.chosen(ctx, ids)
	if err != nil {
		return nil, err
	}
	var errs []error
	for _, n := range in {
		err := e.Alone(func() error {
			edits, err := e.edits.revert(ctx, n)
			taken = append(taken, edits...)
			return err
		})
		if err != nil {
			errs = append(errs, err)
		}
	}
	return taken, errors.Join(errs...)
}

// chosen returns the sources that nodes belong to, as the nodes of their own files, and squares.
// Without nodes it returns all sources.
func (e *Editable) chosen(ctx context.Context, ids []nodes.ID) (in []node, err error) {
	if len(ids) == 0 {
		ids = []nodes.ID{nodes.Root}
	}
	for _, id := range ids {
		n, err := e.edits.node(ctx, e.Of(id))
		switch {
		case errors.Is(err, nodes.ErrNotExist): // only the overlay has it
		case err != nil:
			return nil, err
		case n.square >= 0:
			in = append(in, n)
		case n.source != nil && (n.editable() || n.view == zoneSquares):
			in = append(in, ownFile(n.source))
		case n.folder != nil && (n.id() == nodes.Root || n.hasEditable() || n.id() == e.edits.folders[squaresFolder].id):
			for _, s := range e.edits.sourcesIn(n.folder) {
				in = append(in, ownFile(s))
			}
		default:
			return nil, fmt.Errorf("%w: it is made of zones or areas, which can be reverted", nodes.ErrReadOnly)
		}
	}
	return in, nil
}

// ownFile returns the node of a source's JSON.
func ownFile(s *source) node {
	v := zoneJSON
	if s.kind == area {
		v = areaJSON
	}
	return node{source: s, view: v, square: -1}
}

// sourcesIn returns the sources with files in a folder, or all for the root.
func (t *Tree) sourcesIn(f *folder) []*source {
	if f.id == nodes.Root {
		return t.sources
	}
	return f.sources
}

// TakeBack implements it for [overlay.Tree]. The files of a zone belong together: its own file, or the
// directory of its squares, stands for both.
func (e *Editable) TakeBack(ids ...nodes.ID) (paths []string) {
	return e.Tree.TakeBack(e.both(ids)...)
}

// Refused and Unflushed are those of [overlay.Tree], for the files that TakeBack takes back.
func (e *Editable) Refused(ids ...nodes.ID) []overlay.Refused {
	return e.Tree.Refused(e.both(ids)...)
}

// Unflushed is like Refused.
func (e *Editable) Unflushed(ids ...nodes.ID) []string { return e.Tree.Unflushed(e.both(ids)...) }

// both adds to the file of a zone the directory of its squares, and the other way round.
func (e *Editable) both(ids []nodes.ID) []nodes.ID {
	for _, id := range ids {
		n, err := e.edits.node(context.Background(), e.Of(id))
		switch {
		case err != nil || n.square >= 0:
		case n.source != nil && n.source.kind == zone:
			ids = append(ids, node{source: n.source, view: zoneJSON, square: -1}.id(), node{source: n.source, view: zoneSquares, square: -1}.id())
		case n.folder != nil && (n.id() == e.edits.folders[zonesFolder].id || n.id() == e.edits.folders[squaresFolder].id):
			ids = append(ids, e.edits.folders[zonesFolder].id, e.edits.folders[squaresFolder].id)
		}
	}
	return ids
}

// revert takes back the edit of a square, or all edits of a source, and returns them.
func (e *edits) revert(ctx context.Context, n node) ([]Edit, error) {
	s := n.source.now()
	if s.net == nil || n.square >= 0 && !s.net.has(n.square) {
		return nil, nil
	}
	if err := e.begin(s); err != nil {
		return nil, fmt.Errorf("%s: %w", s.file, err)
	}
	taken, err := e.describe(ctx, s, n.square)
	if err != nil {
		return nil, err
	}
	c, err := e.reverted(ctx, s, n.square)
	if err == nil {
		err = e.make(ctx, n, c)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.file, err)
	}
	return taken, nil
}

// reverted makes a change that takes back the edit of a square of a version, or of all of it if
// square is -1.
func (e *edits) reverted(ctx context.Context, s *version, square int) (c *change, err error) {
	if square < 0 {
		return e.asSaved(ctx, s.base)
	}
	text, err := e.square(ctx, s.base, square)
	if err != nil {
		return nil, err
	}
	image, err := e.image(ctx, s)
	if err != nil {
		return nil, err
	}
	if c, err = e.parseSquare(ctx, s, image, square, text, asBefore); err == nil {
		c.net, err = e.netOf(ctx, s, c.image)
	}
	return c, err
}

// asSaved makes the change to what the file in the folder holds.
func (e *edits) asSaved(ctx context.Context, base *version) (*change, error) {
	data, err := base.read(e.fsys)
	if err != nil {
		return nil, err
	}
	image, err := e.image(ctx, base)
	if err != nil && !isBad(err) {
		return nil, err
	}
	return &change{image: image, record: append([]byte{recordWhole}, data...)}, nil
}
