package amend

import (
	"context"
	"slices"

	"lorefs/datacenter"
	"lorefs/datacenter/patch"
	"lorefs/datacenter/query"
	"lorefs/datacenter/sheets"
)

// Give gives nodes an attribute of a name, whether they have it or not. A new one has the type that it
// has in other nodes on the path, else that which its text looks like.
func Give(name, text string) Operation { return &give{name: name, text: text, types: types{}} }

type give struct {
	name, text string
	types
}

func (g *give) amend(m *maker, at *query.Match) (bool, error) {
	if at.Kind != query.Node {
		return false, refuse("this is an attribute, and no node that could have one")
	}
	for a, err := range at.Node.Attributes() {
		if err != nil {
			return false, err
		}
		if a.Name() == g.name {
			found := *at
			found.Kind, found.Attribute = query.Attribute, a
			return Set(g.text).amend(m, &found)
		}
	}
	t, err := g.attribute(m, namesOf(at.Steps), g.name)
	if err != nil {
		return false, err
	}
	v, err := parse(t, g.text)
	if err != nil {
		return false, err
	}
	m.line(at, patch.Line{Name: g.name, New: patch.Value{Attribute: v}})
	return true, nil
}

// parse parses a text of a type, or of the one that it looks like if that is 0.
func parse(t datacenter.Type, text string) (datacenter.Value, error) {
	if t == 0 {
		return datacenter.InferValue(text)
	}
	return datacenter.ParseValue(t, text)
}

// namesOf returns the names on a path.
func namesOf(path []query.PlainStep) (names []string) {
	for _, s := range path {
		names = append(names, s.Name)
	}
	return names
}

// Add adds a node, which is an element of a sheet's XML, to nodes. Its types and keys are those of other
// nodes on its path, unless it says others. file is the name of the text for errors, see
// [sheets.ParseElement].
func Add(file, xml string) (Operation, error) { return newAdd(file, xml) }

func newAdd(file, xml string) (*add, error) {
	if _, err := sheets.ParseElement(file, []byte(xml), nil); err != nil {
		return nil, err
	}
	return &add{file: file, xml: xml, types: types{}, made: map[string]*sheets.Element{}}, nil
}

type add struct {
	file, xml string
	types
	// made has the element for each path of parents.
	made map[string]*sheets.Element
}

// AddSheet returns the patch that adds a sheet, which is a node below the root.
func AddSheet(ctx context.Context, f *datacenter.File, file, xml string) (*patch.Patch, Counts, error) {
	do, err := newAdd(file, xml)
	if err != nil {
		return nil, Counts{}, err
	}
	m := &maker{ctx: ctx, file: f, patch: &patch.Patch{}, counts: Counts{Changed: 1}}
	return m.patch, m.counts, do.to(m, patch.Path{Text: "/"})
}

func (a *add) amend(m *maker, at *query.Match) (bool, error) {
	if at.Kind != query.Node {
		return false, refuse("this is an attribute, and no node to which one could be added")
	}
	return true, a.to(m, place(at))
}

// to adds the node to the one at a path.
func (a *add) to(m *maker, path patch.Path) error {
	names := namesOf(path.Steps)
	key := string(pathOf(names))
	e := a.made[key]
	if e == nil {
		var err error
		if e, err = sheets.ParseElement(a.file, []byte(a.xml), &onPath{m: m, types: a.types, above: names}); err != nil {
			return err
		}
		a.made[key] = e
	}
	m.patch.Blocks = append(m.patch.Blocks, patch.Block{Kind: patch.Add, Path: path, Node: e})
	return nil
}

// types remembers the types of attributes by their paths.
type types map[string]datacenter.Type

// attribute returns the type that an attribute has in the nodes on a path, or 0.
func (t types) attribute(m *maker, path []string, name string) (datacenter.Type, error) {
	expr := string(query.AppendName(append(pathOf(path), "/@"...), name))
	if known, ok := t[expr]; ok {
		return known, nil
	}
	at, err := first(m, expr)
	if err != nil {
		return 0, err
	}
	t[expr] = at.Attribute.Type()
	return t[expr], nil
}

// pathOf returns an expression for all nodes on a path.
func pathOf(names []string) (expr []byte) {
	for _, name := range names {
		expr = query.AppendName(append(expr, '/'), name)
	}
	return expr
}

// first returns the first match of an expression, or a zero Match.
func first(m *maker, expr string) (query.Match, error) {
	q, err := query.Compile(expr)
	if err != nil {
		return query.Match{}, err
	}
	for at, err := range q.Run(m.ctx, m.file) {
		return at, err
	}
	return query.Match{}, nil
}

// onPath implements [sheets.ElementTypes] for an element below a node.
type onPath struct {
	m *maker
	types
	above []string
}

// Type implements [sheets.ElementTypes].
func (p *onPath) Type(path []string, name string) (datacenter.Type, error) {
	return p.attribute(p.m, slices.Concat(p.above, path), name)
}

// Keys implements [sheets.ElementTypes].
func (p *onPath) Keys(path []string) (datacenter.KeyDefinition, error) {
	at, err := first(p.m, string(pathOf(slices.Concat(p.above, path))))
	if err != nil || len(at.Steps) == 0 {
		return nil, err
	}
	return at.Node.Keys(), nil
}
