package sheets

import (
	"context"
	"math"

	"lorefs/datacenter"
	"lorefs/datacenter/sheets/internal/vocab"
)

// measurer computes the sizes of sheets and their schema, by writing each stored run once
// for each path that leads to it.
type measurer struct {
	ctx   context.Context
	e     *encoder
	learn *learner
	memo  map[runKey]runSize

	buf   []byte
	names []vocab.NameID
	short []uint16
	// places are those of a tag's attributes in its element.
	places []int
}

// runKey is a stored run of children at a place in the schema. The text of such a run is
// always the same, except for its indentation.
type runKey struct {
	elem int
	run  datacenter.Run
}

// runSize is the size of the text of a run without the indentation that its lines share, and
// the number of lines.
type runSize struct {
	bytes, lines int64
	found        findings
}

// at returns the size at a depth.
func (s runSize) at(depth int) int64 {
	return s.bytes + s.lines*int64(depth*len(indentation))
}

// sheetSize is measured before a sheet is written.
type sheetSize struct {
	bytes int64
	found findings
}

// sheet measures a sheet.
func (m *measurer) sheet(n *item, el *element) (sheetSize, error) {
	t := &m.e.tag
	t.root, t.found, t.learner = true, 0, m.learn
	body, err := m.node(n, el)
	if err != nil {
		return sheetSize{}, err
	}
	// The tag depends on what is below it, so it is written twice.
	t.root, t.found, t.learner = true, body.found, nil
	parent := body.lines > 1
	m.buf, err = m.e.startTag(m.buf[:0], n, el, parent)
	t.root = false
	size := sheetSize{bytes: int64(len(m.buf)) + 1, found: t.found}
	if parent {
		size.bytes += body.bytes
	}
	return size, err
}

// node measures a node and all below it, for a sheet without its tag.
func (m *measurer) node(n *item, el *element) (runSize, error) {
	t := &m.e.tag
	root := t.root
	body, isKnown, err := m.lookup(n, el)
	if err != nil {
		return runSize{}, err
	}
	parent := body.lines > 0 || len(m.names) > 0 && !isKnown
	size, found, err := m.tag(n, el, parent)
	if err != nil {
		return runSize{}, err
	}
	t.root = false
	s := runSize{bytes: size + 1, lines: 1, found: found}
	if root {
		s.bytes = 0
	}
	if !parent {
		return s, nil
	}
	if !isKnown {
		if body, err = m.body(n, el); err != nil {
			return runSize{}, err
		}
	}
	s.bytes += body.at(1) + int64(len("\n</>")+len(m.e.voc.Spelling(n.name).Element))
	s.lines += body.lines + 1
	s.found |= body.found
	return s, nil
}

// tag measures a start tag.
func (m *measurer) tag(n *item, el *element, parent bool) (size int64, found findings, err error) {
	t := &m.e.tag
	var slot *tagSlot
	var key tagKey
	if n.draft == nil && !t.root {
		if slot, key = m.e.tagSizes.slot(n.node, el, parent); slot.key == key {
			return int64(slot.size), slot.found, nil
		}
	}
	if slot != nil {
		size, ok, err := m.plainTag(n, el, parent)
		if ok && size <= math.MaxInt32 {
			*slot = tagSlot{key: key, size: int32(size)}
		}
		if ok || err != nil {
			return int64(size), 0, err
		}
	}
	t.found, t.learner = 0, m.learn
	if m.buf, err = m.e.startTag(m.buf[:0], n, el, parent); err != nil {
		return 0, 0, err
	}
	if slot != nil && !t.hasValue {
		*slot = tagSlot{key: key, found: t.found, size: int32(len(m.buf))}
	}
	return int64(len(m.buf)), t.found, nil
}

// lookup returns what is known about a node's children. If nothing is known, their names are
// in m.names, without placeholders.
func (m *measurer) lookup(n *item, el *element) (body runSize, isKnown bool, err error) {
	m.names = m.names[:0]
	if n.draft != nil {
		m.names = append(m.names, n.draft.names...)
		m.learn.body(el, m.names)
		return body, false, nil
	}
	if n.node.ChildCount() > 0 {
		key := runKey{el.id, n.node.ChildRun()}
		if body, isKnown = m.memo[key]; isKnown {
			return body, true, nil
		}
		if m.short, err = n.node.AppendChildNames(m.short[:0]); err != nil {
			return body, false, err
		}
		for _, name := range m.short {
			if name != 0 {
				m.names = append(m.names, vocab.NameID(name))
			}
		}
	}
	m.learn.body(el, m.names)
	return body, false, nil
}

// body measures the children of a node.
func (m *measurer) body(n *item, el *element) (sum runSize, err error) {
	if err := m.ctx.Err(); err != nil {
		return sum, err
	}
	if n.draft != nil {
		for i := range n.draft.kids {
			child, err := m.e.draftChild(n.draft, i)
			if err != nil {
				return sum, err
			}
			if err := m.add(&sum, &child, el.kid(child.name)); err != nil {
				return sum, err
			}
		}
		return sum, nil
	}
	var kid *element
	for child, err := range n.node.Children() {
		if err != nil {
			return sum, err
		}
		name := vocab.NameID(child.NameIndex())
		if kid == nil || kid.name != name {
			kid = el.kid(name)
		}
		if err := m.add(&sum, &item{node: child, name: name}, kid); err != nil {
			return sum, err
		}
	}
	m.memo[runKey{el.id, n.node.ChildRun()}] = sum
	return sum, nil
}

func (m *measurer) add(sum *runSize, child *item, el *element) error {
	s, err := m.node(child, el)
	sum.bytes += s.bytes
	sum.lines += s.lines
	sum.found |= s.found
	return err
}

// family measures the stored sheets of a family.
func (m *measurer) family(sheets []Sheet) ([]sheetSize, error) {
	sizes, err := m.pass(sheets)
	if err == nil && m.learn.again {
		// Nodes that were measured before their path got keys need dc:keys.
		clear(m.memo)
		clear(m.e.tagSizes)
		m.learn.settled = true
		sizes, err = m.pass(sheets)
	}
	m.learn.es.settle()
	return sizes, err
}

func (m *measurer) pass(sheets []Sheet) ([]sheetSize, error) {
	sizes := make([]sheetSize, 0, len(sheets))
	for _, s := range sheets {
		n, err := m.e.file.Node(s.addr)
		if err != nil {
			return nil, err
		}
		size, err := m.sheet(&item{node: n, name: s.name}, m.learn.es.all[0])
		if err != nil {
			return nil, err
		}
		sizes = append(sizes, size)
	}
	return sizes, nil
}
