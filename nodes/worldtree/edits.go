package worldtree

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"strconv"

	"lorefs/geometry"
	"lorefs/internal/shown"
	"lorefs/nodes"
)

// EditKind says what is edited.
type EditKind string

// The kinds of edits.
const (
	SquareChanged EditKind = "square_changed"
	AreaChanged   EditKind = "area_changed"
	// ZoneReplaced is an edit of a zone whose file in the folder can't be decoded.
	ZoneReplaced EditKind = "zone_replaced"
	// FileAdded and FileRemoved are told by Diff: only one world has the file of a zone or an area.
	FileAdded   EditKind = "file_added"
	FileRemoved EditKind = "file_removed"
)

// Edit is a difference between what a tree shows and the file that was last saved: a square, or
// an area as a whole. It is encoded as a JSON object, and scripts rely on the names of its
// members.
type Edit struct {
	Kind EditKind `json:"kind"`
	// Path is the path of the file in the tree.
	Path string `json:"path"`
	// Changed is how many of the Of cells of a square, or nodes of an area, differ. Nodes are
	// compared by their numbers; Of is the larger number of nodes. Changed is 0 if only the
	// zones of an area differ.
	Changed int `json:"changed"`
	Of      int `json:"of"`
	// Old and New are these cells or nodes as they were and are, spelled as in the file. Both
	// are left out if one takes more than MaxContent bytes.
	Old json.RawMessage `json:"old,omitempty"`
	New json.RawMessage `json:"new,omitempty"`
	// Problem is why Changed, Old and New are not known, or empty.
	Problem string `json:"problem,omitempty"`

	// first tells what the first of them was and is.
	first string
}

// difference is a cell or a node that differs.
type difference interface {
	// String names it, and content returns what it has as JSON.
	fmt.Stringer
	content() string
	// appendJSON appends all of it.
	appendJSON(dst []byte) []byte
}

// MaxContent is the most bytes of the content of an Edit.
const MaxContent = 4 << 10

// Append appends the edit as a line, such as
//
//	~ squares/x1002y1006/017-093.json: 3 of 64 cells, 2,7: [[540,32767]] -> [[541,32767]]
//
// It has what the first of them was and is, or the beginning of that.
func (d Edit) Append(dst []byte) []byte {
	what := "cells"
	switch d.Kind {
	case FileAdded:
		return fmt.Appendf(dst, "+ %s\n", shown.Text(d.Path))
	case FileRemoved:
		return fmt.Appendf(dst, "- %s\n", shown.Text(d.Path))
	case AreaChanged:
		what = "nodes"
	}
	dst = fmt.Appendf(dst, "~ %s: ", shown.Text(d.Path))
	switch {
	case d.Problem != "":
		dst = append(dst, shown.Text(d.Problem)...)
	case d.Changed == 0:
		dst = append(dst, "its zones"...)
	default:
		dst = fmt.Appendf(dst, "%d of %d %s, %s", d.Changed, d.Of, what, d.first)
	}
	return append(dst, '\n')
}

// At returns the edit with its path below a directory, which is empty or ends in a slash.
func (d Edit) At(dir string) Edit {
	d.Path = dir + d.Path
	return d
}

// firstOf tells what the first of some differences was and is.
func firstOf(was, is []difference) string {
	switch {
	case len(was)+len(is) == 0:
		return ""
	case len(was) == 0:
		return fmt.Sprintf("%v is new: %s", is[0], contentOf(is[0]))
	case len(is) == 0:
		return fmt.Sprintf("%v is gone: %s", was[0], contentOf(was[0]))
	}
	return fmt.Sprintf("%v: %s -> %s", was[0], contentOf(was[0]), contentOf(is[0]))
}

// maxShown is how many bytes a line has of what something was, and of what it is.
const maxShown = 120

// contentOf returns the content of a cell or a node, or the beginning of it.
func contentOf(d difference) string {
	text := d.content()
	if len(text) > maxShown {
		return text[:maxShown] + "…"
	}
	return text
}

// Edits yields the edits of files, and of everything below directories, or all if no node is
// given. They are sorted by their paths, areas last.
func (e *Editable) Edits(ctx context.Context, ids ...nodes.ID) iter.Seq2[Edit, error] {
	return func(yield func(Edit, error) bool) {
		in, err := e.chosen(ctx, ids)
		if err != nil {
			yield(Edit{}, err)
			return
		}
		for _, n := range in {
			list, err := e.edits.describe(ctx, n.source.now(), n.square)
			if err != nil {
				yield(Edit{}, err)
				return
			}
			for _, d := range list {
				if !yield(d, nil) {
					return
				}
			}
		}
	}
}

// describe describes the edits of a version, or only that of a square.
func (t *Tree) describe(ctx context.Context, s *version, square int) (list []Edit, err error) {
	if s.net == nil {
		return nil, nil
	}
	after, err := t.image(ctx, s)
	if err != nil {
		return nil, err
	}
	before, err := t.image(ctx, s.base)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	problem := ""
	if err != nil { // it is damaged, or another program's
		problem = "was " + err.Error()
	}
	switch {
	case s.net.whole && s.kind == zone:
		return []Edit{{Kind: ZoneReplaced, Path: s.path(-1), Problem: problem}}, nil
	case s.kind == area:
		d := Edit{Kind: AreaChanged, Path: s.path(-1), Problem: problem}
		if problem == "" {
			err = d.compareAreas(before, after)
		} else {
			err = nil
		}
		return []Edit{d}, err
	}
	for i := range geometry.ZoneSquares {
		if !s.net.has(i) || square >= 0 && i != square {
			continue
		}
		d := Edit{Kind: SquareChanged, Path: s.path(i), Problem: problem}
		if problem == "" {
			if err := d.compareSquares(before, after, i); err != nil {
				return nil, err
			}
		}
		list = append(list, d)
	}
	return list, nil
}

// path returns the path of a source's file, or that of a square of it.
func (s *source) path(square int) string {
	switch {
	case s.kind == area:
		return "areas/" + s.name + forms[areaJSON].ext
	case square < 0:
		return "zones/" + s.name + forms[zoneJSON].ext
	}
	return "squares/" + s.name + "/" + squareName(square)
}

// cell is a cell of a square.
type cell struct {
	number  int
	volumes geometry.Volumes
}

func (c cell) String() string { return string(c.appendPlace(nil)) }

func (c cell) appendPlace(dst []byte) []byte {
	dst = append(strconv.AppendInt(dst, int64(c.number/geometry.SquareSide), 10), ',')
	return strconv.AppendInt(dst, int64(c.number%geometry.SquareSide), 10)
}

func (c cell) content() string { return string(c.appendVolumes(nil)) }

func (c cell) appendVolumes(dst []byte) []byte {
	dst = append(dst, '[')
	for i := range c.volumes.Len() {
		if i > 0 {
			dst = append(dst, ',')
		}
		v := c.volumes.At(i)
		dst = append(strconv.AppendInt(append(dst, '['), int64(v.Z), 10), ',')
		dst = append(strconv.AppendInt(dst, int64(v.Height), 10), ']')
	}
	return append(dst, ']')
}

func (c cell) appendJSON(dst []byte) []byte {
	dst = append(c.appendPlace(append(dst, `{"cell":[`...)), `],"volumes":`...)
	return append(c.appendVolumes(dst), '}')
}

func (d *Edit) compareSquares(before, after []byte, square int) error {
	a, err := geometry.ZoneOfImage(before)
	if err != nil {
		return err
	}
	b, err := geometry.ZoneOfImage(after)
	if err != nil {
		return err
	}
	var was, is []difference
	for i, old := range a.Square(square).Cells {
		if now := b.Square(square).Cell(i); !old.Equal(now) {
			was, is = append(was, cell{i, old}), append(is, cell{i, now})
		}
	}
	d.Of = geometry.SquareCells
	d.tell(was, is, len(was))
	return nil
}

// areaNode is the JSON of a node of an area.
type areaNode struct {
	Node  int         `json:"node"`
	At    [3]float32  `json:"at"`
	Edges [][2]uint32 `json:"edges"`
}

func (d *Edit) compareAreas(before, after []byte) error {
	a, err := geometry.AreaOfImage(before)
	if err != nil {
		return err
	}
	b, err := geometry.AreaOfImage(after)
	if err != nil {
		return err
	}
	var was, is []difference
	changed := 0
	d.Of = max(a.Nodes(), b.Nodes())
	for i := range d.Of {
		in, still := i < a.Nodes(), i < b.Nodes()
		if in && still && a.Node(i).Equal(b.Node(i)) {
			continue
		}
		if changed++; changed > MaxContent/minNode {
			continue
		}
		if in {
			was = append(was, areaNodeOf(a, i))
		}
		if still {
			is = append(is, areaNodeOf(b, i))
		}
	}
	d.tell(was, is, changed)
	return nil
}

// minNode is less than the JSON of a node takes.
const minNode = 32

func areaNodeOf(a *geometry.Area, i int) areaNode {
	n := areaNode{Node: i, At: a.Node(i).Position(), Edges: [][2]uint32{}}
	for e := range a.Node(i).Edges() {
		n.Edges = append(n.Edges, [2]uint32{uint32(e.Bit), e.Target})
	}
	return n
}

func (n areaNode) String() string { return strconv.Itoa(n.Node) }

func (n areaNode) content() string { return string(mustJSON([]any{n.At, n.Edges})) }

func (n areaNode) appendJSON(dst []byte) []byte { return append(dst, mustJSON(n)...) }

// mustJSON returns numbers as JSON.
func mustJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("BUG: finite numbers are no JSON: %v", err))
	}
	return b
}

// tell sets what was and what is. If more has changed than may be listed, that is only the
// first part of it.
func (d *Edit) tell(was, is []difference, changed int) {
	d.Changed, d.first = changed, firstOf(was, is)
	if changed == 0 || changed > MaxContent/minNode {
		return
	}
	if d.Old, d.New = listOf(was), listOf(is); len(d.Old) > MaxContent || len(d.New) > MaxContent {
		d.Old, d.New = nil, nil
	}
}

// listOf returns a JSON list.
func listOf(all []difference) json.RawMessage {
	list := []byte{'['}
	for i, d := range all {
		if i > 0 {
			list = append(list, ',')
		}
		list = d.appendJSON(list)
	}
	return append(list, ']')
}
