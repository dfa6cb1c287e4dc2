package sheets

import (
	"errors"
	"fmt"
	"slices"

	"lorefs/datacenter"
	"lorefs/datacenter/edit"
	"lorefs/datacenter/internal/form"
	"lorefs/datacenter/sheets/internal/vocab"
)

// indentation is the indentation of each level.
const indentation = "    "

// encoder writes a sheet step by step. A step is a start tag, with the whole element if it
// has no children, or an end tag. The encoder holds only the nodes on the path to where it
// is. It can stop between two steps, and another encoder can go on.
type encoder struct {
	voc   *vocab.Vocabulary
	draft *edit.Draft // or nil
	file  *datacenter.Private
	tag   tagWriter

	// texts caches the texts of children by their depth, and tags those of attributes.
	texts, tags textCache
	forms       tagForms
	strings     []formString
	tagSizes    tagSizes
	// gone is how many bytes of the sheet have left the buffer.
	gone int64

	stack  []frame
	groups []group
	// batch has batchSize children for each frame.
	batch []datacenter.Node
	names []uint16
	// attrs are the attributes of the current tag.
	attrs []datacenter.Attribute
	words []form.AttributeWord
	// out is a buffer for the encoder's user, and scratch for texts that need escapes.
	out     []byte
	scratch []byte
}

// item is a node of a sheet.
type item struct {
	node  datacenter.Node // of the file; only set if draft is nil
	draft *draftItem
	name  vocab.NameID
}

// frame is a node whose children are being written.
type frame struct {
	item
	el *element
	// Stored children come from groups[at], and the next one is number next of that group.
	// Children of a draft node are numbered by next alone.
	first, at, end, next int
	// batchAt is the place in the run of the first of the batchLen children in batch.
	batchAt, batchLen int
	// textAt is where the text after the start tag begins in the sheet.
	textAt int64
	// kid is the element of the children named kidName.
	kidName vocab.NameID
	kid     *element
}

// group is a part of a run of children, in the order of the sheet.
type group struct{ start, count, rank uint16 }

const batchSize = 16

// errSchema means that a path is not in the schema. It was there when the size of the sheet
// was computed.
var errSchema = errors.New("the sheet changed while it was read")

// begin resets the encoder for a sheet.
func (e *encoder) begin() {
	e.stack, e.groups = e.stack[:0], e.groups[:0]
	e.gone = 0
}

// step appends the next tag.
func (e *encoder) step(dst []byte) ([]byte, error) {
	f := &e.stack[len(e.stack)-1]
	var child item
	ok, err := e.nextChild(f, &child)
	if err != nil {
		return dst, err
	}
	if !ok {
		return e.closeTag(dst), nil
	}
	if child.name != f.kidName || f.kid == nil {
		f.kidName, f.kid = child.name, f.el.kid(child.name)
	}
	if f.kid == nil {
		return dst, errSchema
	}
	return e.open(dst, &child, f.kid)
}

// done reports whether all is written.
func (e *encoder) done() bool { return len(e.stack) == 0 }

// root appends the first tag.
func (e *encoder) root(dst []byte, sheet item, el *element) ([]byte, error) {
	e.tag.root = true
	dst, err := e.open(dst, &sheet, el)
	e.tag.root = false
	if err == nil && e.done() {
		dst = append(dst, '\n')
	}
	return dst, err
}

// open appends the start tag of a node, and enters its children.
func (e *encoder) open(dst []byte, n *item, el *element) ([]byte, error) {
	depth := len(e.stack)
	if depth > 0 {
		dst = appendIndent(dst, depth)
	}
	if n.draft == nil && n.node.ChildCount() == 0 {
		return e.startTag(dst, n, el, false)
	}
	if e.cached(n) {
		if text := e.texts.get(e.textKey(n.node.ChildRun(), depth, el)); text != nil {
			dst, err := e.startTag(dst, n, el, true)
			return e.appendEndTag(append(dst, text...), depth, n.name), err
		}
	}
	parent, err := e.enter(n, el)
	if err != nil {
		return dst, err
	}
	if dst, err = e.startTag(dst, n, el, parent); err != nil || !parent {
		return dst, err
	}
	f := &e.stack[depth]
	f.textAt = e.gone + int64(len(dst))
	return dst, nil
}

// cached reports whether the text of a node's children depends only on their run and their
// depth, and is worth caching. The text of a whole sheet is not: it is written only once.
func (e *encoder) cached(n *item) bool {
	return e.texts.used && !e.tag.extras && n.draft == nil && !e.tag.root && n.node.SharesChildren()
}

// textKey returns the key of the text of a run at a depth, in an element.
func (e *encoder) textKey(run datacenter.Run, depth int, el *element) textKey {
	key := textKey{first: run.First, count: run.Count, depth: uint16(depth)}
	if e.tag.plain {
		key.elem = int64(e.tag.base + el.id)
	}
	return key
}

// closeTag appends the end tag of the current node, and returns to its parent.
func (e *encoder) closeTag(dst []byte) []byte {
	depth := len(e.stack) - 1
	f := &e.stack[depth]
	if depth > 0 && f.textAt >= e.gone && e.cached(&f.item) {
		e.texts.keep(e.textKey(f.node.ChildRun(), depth, f.el), dst[f.textAt-e.gone:])
	}
	dst = e.appendEndTag(dst, depth, f.name)
	e.leave()
	if depth == 0 {
		dst = append(dst, '\n')
	}
	return dst
}

func (e *encoder) appendEndTag(dst []byte, depth int, name vocab.NameID) []byte {
	dst = appendIndent(dst, depth)
	dst = append(dst, "</"...)
	dst = append(dst, e.voc.Spelling(name).Element...)
	return append(dst, '>')
}

// appendIndent appends a newline and the indentation.
func appendIndent(dst []byte, depth int) []byte {
	const most = "\n" + indentation + indentation + indentation + indentation + indentation + indentation + indentation + indentation
	n := min(depth, (len(most)-1)/len(indentation))
	dst = append(dst, most[:1+n*len(indentation)]...)
	for ; n < depth; n++ {
		dst = append(dst, indentation...)
	}
	return dst
}

// enter makes the frame of a node and finds the order of its children; parent is false, and there
// is no frame, if there are none.
func (e *encoder) enter(n *item, el *element) (parent bool, err error) {
	e.stack = append(e.stack, frame{})
	f := &e.stack[len(e.stack)-1]
	f.node, f.draft, f.name = n.node, n.draft, n.name
	f.el, f.first = el, len(e.groups)
	if f.draft != nil {
		parent = len(f.draft.kids) > 0
	} else {
		if err := e.readNames(f); err != nil {
			return false, err
		}
		e.group()
		f.at, f.end = f.first, len(e.groups)
		parent = f.end > f.first
	}
	if !parent {
		e.leave()
	}
	return parent, nil
}

// leave drops the frame of a node.
func (e *encoder) leave() {
	last := len(e.stack) - 1
	e.groups = e.groups[:e.stack[last].first]
	e.stack = e.stack[:last]
}

// readNames reads the names of the children of a frame that is about to be entered. A short run
// is read as a whole, into the batch of the frame.
func (e *encoder) readNames(f *frame) (err error) {
	count := f.node.ChildCount()
	if count > batchSize {
		e.names, err = f.node.AppendChildNames(e.names[:0])
		return err
	}
	run, err := f.node.AppendChildren(e.batchOf(len(e.stack)-1), 0, count)
	if err != nil {
		return err
	}
	f.batchAt, f.batchLen = 0, len(run)
	e.names = e.names[:0]
	for i := range run {
		e.names = append(e.names, run[i].NameIndex())
	}
	return nil
}

// batchOf returns the empty batch of the frame at a depth.
func (e *encoder) batchOf(depth int) []datacenter.Node {
	base := depth * batchSize
	if missing := base + batchSize - len(e.batch); missing > 0 {
		e.batch = append(e.batch, make([]datacenter.Node, missing)...)
	}
	return e.batch[base:base]
}

// group appends the groups of the run whose names are in e.names. In most files, the nodes
// of one name lie together.
func (e *encoder) group() {
	first, sorted := len(e.groups), true
	for i := 0; i < len(e.names); {
		from, name := i, e.names[i]
		for i < len(e.names) && e.names[i] == name {
			i++
		}
		if name == 0 {
			continue // placeholders
		}
		g := group{start: uint16(from), count: uint16(i - from), rank: e.voc.Rank[name]}
		sorted = sorted && (len(e.groups) == first || e.groups[len(e.groups)-1].rank <= g.rank)
		e.groups = append(e.groups, g)
	}
	if !sorted {
		slices.SortStableFunc(e.groups[first:], func(a, b group) int { return int(a.rank) - int(b.rank) })
	}
}

// nextChild sets child to the next child of a frame; ok is false after the last.
func (e *encoder) nextChild(f *frame, child *item) (ok bool, err error) {
	if f.draft != nil {
		if f.next == len(f.draft.kids) {
			return false, nil
		}
		f.next++
		*child, err = e.draftChild(f.draft, f.next-1)
		return err == nil, err
	}
	if f.at == f.end {
		return false, nil
	}
	g := e.groups[f.at]
	place := int(g.start) + f.next
	if f.next++; f.next == int(g.count) {
		f.at, f.next = f.at+1, 0
	}
	base := (len(e.stack) - 1) * batchSize
	if place < f.batchAt || place >= f.batchAt+f.batchLen {
		// Read up to the end of the run: the next group most likely follows there.
		b, err := f.node.AppendChildren(e.batchOf(len(e.stack)-1), place, batchSize)
		if err != nil {
			return false, err
		}
		f.batchAt, f.batchLen = place, len(b)
	}
	child.node = e.batch[base+place-f.batchAt]
	child.name = vocab.NameID(child.node.NameIndex())
	return true, nil
}

// load returns the item of a sheet, stored or edited.
func (e *encoder) load(s Sheet) (item, error) {
	if e.draft != nil && e.draft.Touched(s.Number) {
		d, err := e.draftItem(s.Number, s.name)
		if err != nil {
			return item{}, err
		}
		return item{draft: d, name: d.name}, nil
	}
	n, err := e.file.Node(s.addr)
	if err != nil {
		return item{}, fmt.Errorf("sheet %s %d: %w", s.Name, s.Ordinal, err)
	}
	return item{node: n, name: vocab.NameID(n.NameIndex())}, nil
}
