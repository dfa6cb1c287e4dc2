package worldtree

import (
	"context"
	"fmt"
	"strings"

	"lorefs/nodes"
	"lorefs/nodes/overlay"
)

// Indexes of the folders in which files can be edited, see makeFolders.
const (
	zonesFolder   = 1
	squaresFolder = 2
	areasFolder   = 4
)

// editable reports whether a node is a file that can be edited.
func (n node) editable() bool {
	return n.source != nil && (n.view == zoneJSON || n.view == areaJSON || n.square >= 0)
}

// hasEditable reports whether a node is a directory that may have scratch files.
func (n node) hasEditable() bool {
	if n.source != nil {
		return n.view == zoneSquares && n.square < 0
	}
	return n.folder != nil && len(n.folder.views) > 0 && (n.folder.views[0] == zoneJSON || n.folder.views[0] == areaGeoJSON)
}

// Where implements [overlay.Source] for files that can be edited, and where those lie.
func (e *edits) Where(id nodes.ID) (dir nodes.ID, name string) {
	n, err := e.node(context.Background(), id)
	switch {
	case err != nil, id == nodes.Root:
		return 0, ""
	case n.source == nil:
		return nodes.Root, n.name()
	case n.square >= 0:
		dir = node{source: n.source, view: zoneSquares, square: -1}.id()
	case n.view == zoneSquares:
		dir = e.folders[squaresFolder].id
	case n.view == zoneJSON:
		dir = e.folders[zonesFolder].id
	default:
		dir = e.folders[areasFolder].id
	}
	return dir, n.name()
}

// Name implements [overlay.Source]. It finds the files of the Tree in any case of their
// letters.
func (e *edits) Name(ctx context.Context, dir nodes.ID, name string) (overlay.Name, error) {
	at := overlay.Name{Text: name}
	if dir != 0 {
		of, ok, err := e.nodeNamed(ctx, dir, name)
		if err != nil {
			return at, err
		}
		if ok {
			return overlay.Name{Text: of.name(), ID: of.id(), Kind: of.kind(), Writable: of.editable()}, nil
		}
	}
	// A user who makes a file that looks like a zone, a square or an area expects it to be
	// saved, so it is refused.
	if strings.HasSuffix(name, ".json") && !strings.HasPrefix(name, ".") {
		err := fmt.Errorf("%w: no file of the folder is called %s, and none can be added", nodes.ErrNotPermitted, name)
		at.File.Err, at.Dir.Err = err, err
	}
	return at, ctx.Err()
}

// nodeNamed finds the file with a name in a directory in which files can be edited.
func (e *edits) nodeNamed(ctx context.Context, dir nodes.ID, name string) (of node, ok bool, err error) {
	in, err := e.node(ctx, dir)
	switch {
	case err != nil:
		return of, false, err
	case in.kind() != nodes.Dir:
		return of, false, fmt.Errorf("%v: %w", dir, nodes.ErrNotDir)
	case !in.hasEditable():
		return of, false, nodes.ErrReadOnly
	case in.source != nil:
		square := squareNamed(name)
		return node{source: in.source, view: zoneSquares, square: square}, square >= 0, nil
	}
	i := e.placeIn(in.folder, name)
	if i < 0 {
		return of, false, nil
	}
	return e.child(in, i), true, nil
}
