package worldtree

import (
	"context"
	"fmt"

	"lorefs/geometry"
	"lorefs/nodes"
)

// folder is a directory that does not belong to a source.
type folder struct {
	id   nodes.ID
	name string
	// subs are indexes of the tree's folders.
	subs []int
	// sources and views are the other entries: all views of the first source, then those of
	// the second.
	sources []*source
	views   []view
	// files are the last entries.
	files []rootFile
}

// makeFolders returns all folders, the root first.
func (t *Tree) makeFolders() []folder {
	zones := t.sources[:len(t.byName[zone])]
	areas := t.sources[len(zones):]
	all := [folderCount]folder{
		{subs: []int{1, 2, 3, 4, 5, 7}, files: t.rootFiles()},
		{name: "zones", sources: zones, views: []view{zoneJSON}},
		{name: "squares", sources: zones, views: []view{zoneSquares}},
		{name: "heightmaps", sources: zones, views: []view{zoneLowest, zonePreview, zoneHighest}},
		{name: "areas", sources: areas, views: []view{areaGeoJSON, areaJSON}},
		{name: "meshes", subs: []int{6}, sources: areas, views: []view{areaPaths}},
		{name: "zones", sources: zones, views: []view{zoneFloors}},
		{name: "statistics", subs: []int{8, 9}},
		{name: "zones", sources: zones, views: []view{zoneStatistics}},
		{name: "areas", sources: areas, views: []view{areaStatistics}},
	}
	for i := range all {
		all[i].id = nodes.Root + nodes.ID(i)
	}
	return all[:]
}

// count counts all nodes.
func (t *Tree) count() int64 {
	n := int64(1)
	for i := range t.folders {
		f := node{folder: &t.folders[i], square: -1}
		n += int64(f.entries())
	}
	return n + int64(len(t.byName[zone]))*geometry.ZoneSquares
}

// The ID of a folder is nodes.Root plus its index, and the files in the root follow the last
// folder. All others have the bits
//
//	view+1:5 key:40 square+1:14
//
// where square is -1 unless the file is that of a square. The additional files of an Editable
// have the numbers from madeID on.
const (
	folderCount = 10

	squareBits = 14
	viewShift  = keyBits + squareBits

	madeID nodes.ID = 31<<viewShift | 1
)

// node is one node of the tree: a folder, a view of a source, a square, or a file in the root,
// for which only root is set.
type node struct {
	folder *folder
	source *source
	view   view
	root   rootFile
	// square is the number of a square in its zone, else -1.
	square int
}

// node finds the node with an ID.
func (t *Tree) node(ctx context.Context, id nodes.ID) (node, error) {
	if err := ctx.Err(); err != nil {
		return node{}, err
	}
	if id >= nodes.Root && id < nodes.Root+nodes.ID(len(t.folders)) {
		return node{folder: &t.folders[id-nodes.Root], square: -1}, nil
	}
	for _, file := range t.folders[0].files {
		if id == file.id() {
			return node{root: file, square: -1}, nil
		}
	}
	v := id >> viewShift
	s, ok := t.byKey[uint64(id)>>squareBits&(1<<keyBits-1)]
	square := int(id&(1<<squareBits-1)) - 1
	if !ok || v == 0 || v > nodes.ID(viewCount) || forms[v-1].of != s.kind ||
		square >= geometry.ZoneSquares || (square >= 0 && view(v-1) != zoneSquares) {
		return node{}, nodes.NotExist(id)
	}
	return node{source: s, view: view(v - 1), square: square}, nil
}

func (n node) id() nodes.ID {
	switch {
	case n.root != notRoot:
		return n.root.id()
	case n.source == nil:
		return n.folder.id
	}
	return nodes.ID(n.view+1)<<viewShift | nodes.ID(n.source.key)<<squareBits | nodes.ID(n.square+1)
}

func (n node) kind() nodes.Kind {
	switch {
	case n.root != notRoot, n.square >= 0:
		return nodes.File
	case n.source == nil:
		return nodes.Dir
	}
	return n.view.kindOf()
}

func (n node) name() string {
	switch {
	case n.root != notRoot:
		return n.root.name()
	case n.source == nil:
		return n.folder.name
	case n.square >= 0:
		return squareName(n.square)
	}
	return n.source.name + forms[n.view].ext
}

// entries returns the number of entries of a directory.
func (n node) entries() int {
	if n.source != nil {
		return geometry.ZoneSquares
	}
	return len(n.folder.subs) + len(n.folder.sources)*len(n.folder.views) + len(n.folder.files)
}

// child returns entry i of a directory.
func (t *Tree) child(dir node, i int) node {
	if dir.source != nil {
		return node{source: dir.source, view: zoneSquares, square: i}
	}
	f := dir.folder
	if i < len(f.subs) {
		return node{folder: &t.folders[f.subs[i]], square: -1}
	}
	i -= len(f.subs)
	if files := i - len(f.sources)*len(f.views); files >= 0 {
		return node{root: f.files[files], square: -1}
	}
	return node{source: f.sources[i/len(f.views)], view: f.views[i%len(f.views)], square: -1}
}

// squareName returns the name of a square's file: sx-sy, with 3 digits each.
func squareName(square int) string {
	name := []byte("000-000.json")
	for i, at := range [...]int{square / geometry.ZoneSide, square % geometry.ZoneSide} {
		digits := name[len("000-")*i:]
		digits[0] += byte(at / 100)
		digits[1] += byte(at / 10 % 10)
		digits[2] += byte(at % 10)
	}
	return string(name)
}

// squareNamed is the inverse of squareName. It returns -1 for other names.
func squareNamed(name string) int {
	var sx, sy int
	if n, err := fmt.Sscanf(name, "%3d-%3d", &sx, &sy); n != 2 || err != nil {
		return -1
	}
	if sx < 0 || sx >= geometry.ZoneSide || sy < 0 || sy >= geometry.ZoneSide {
		return -1
	}
	if square := geometry.SquareIndex(sx, sy); squareName(square) == name {
		return square
	}
	return -1
}
