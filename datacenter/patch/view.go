package patch

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"lorefs/datacenter"
	"lorefs/datacenter/edit"
	"lorefs/datacenter/sheets"
)

// view is a data center as it is now: a file or, if there is one, a draft of it. It is for
// one goroutine.
type view struct {
	ctx   context.Context //nolint:containedctx // it lives as long as what it is made for
	file  *datacenter.File
	draft draft
	text  []byte
	keys  map[uint16]datacenter.KeyDefinition
	// kids are the children of nodes of the draft, which take long to bring in order, and
	// listed how many there are.
	kids   map[edit.Number][]kid
	listed int
}

// draft has the edits that a view shows: an [edit.Draft], or a Snapshot of one.
type draft interface {
	Touched(n edit.Number) bool
	Node(n edit.Number) (info edit.Node, ok bool)
	Attribute(n edit.Number, name string) (edit.Entry, bool)
	Attributes(n edit.Number) (attributes []edit.Entry, ok bool)
	OrderedChildren(n edit.Number) (children []edit.Entry, ok bool, err error)
}

// kid is a child and its name.
type kid struct {
	name string
	node node
}

// maxKids bounds the children that a view remembers.
const maxKids = 1 << 19

// node is a node of a view: of the file or, if touched, of the draft.
type node struct {
	number  edit.Number
	stored  datacenter.Node
	touched bool
}

func newView(ctx context.Context, f *datacenter.File, d draft) *view {
	return &view{ctx: ctx, file: f, draft: d, keys: map[uint16]datacenter.KeyDefinition{}, kids: map[edit.Number][]kid{}}
}

func (v *view) root() (node, error) {
	n, err := v.file.Root()
	return v.node(0, n), err
}

// node gives the node with a number, which is n if the draft does not have it.
func (v *view) node(number edit.Number, n datacenter.Node) node {
	if v.draft != nil && v.draft.Touched(number) {
		return node{number: number, touched: true}
	}
	return node{number: number, stored: n}
}

func gone(n node) error { return fmt.Errorf("node %d: %w", n.number, edit.ErrGone) }

// Keys implements [identity.PathTree].
func (v *view) Keys(n node) datacenter.KeyDefinition {
	keys, _ := v.marks(n)
	return keys
}

// Flags implements [identity.PathTree].
func (v *view) Flags(n node) datacenter.KeyFlags {
	_, flags := v.marks(n)
	return flags
}

// marks are the keys and the flags of a node.
func (v *view) marks(n node) (datacenter.KeyDefinition, datacenter.KeyFlags) {
	if n.touched {
		info, _ := v.draft.Node(n.number)
		return info.Keys, info.Flags
	}
	def, ok := v.keys[n.stored.KeyIndex()]
	if !ok {
		def = n.stored.Keys()
		v.keys[n.stored.KeyIndex()] = def
	}
	return def, n.stored.Flags()
}

// Attributes implements [identity.Tree].
func (v *view) Attributes(n node, visit func(name string, typ datacenter.Type, text []byte)) error {
	return v.Named(n, nil, visit)
}

// Named is Attributes for those that are called names at least, as package identity asks.
func (v *view) Named(n node, names []string, visit func(name string, typ datacenter.Type, text []byte)) error {
	if !n.touched {
		for a, err := range n.stored.Attributes() {
			if err == nil && names != nil && !slices.Contains(names, a.Name()) {
				continue
			}
			if err == nil {
				v.text, err = a.AppendText(v.text[:0])
			}
			if err != nil {
				return err
			}
			visit(a.Name(), a.Type(), v.text)
		}
		return nil
	}
	list, err := v.attributes(n)
	for _, a := range list {
		visit(a.Name, a.Value.Type(), []byte(a.Value.Text()))
	}
	return err
}

// Children implements [identity.Tree].
func (v *view) Children(n node, visit func(name string, child node)) error {
	if err := v.ctx.Err(); err != nil {
		return err
	}
	if n.touched {
		kids, err := v.draftKids(n)
		for _, k := range kids {
			visit(k.name, k.node)
		}
		return err
	}
	number := n.number + 1 + edit.Number(n.stored.AttributeCount())
	for c, err := range n.stored.Children() {
		if err != nil {
			return err
		}
		// Below a node that is as in the file, all are.
		visit(c.Name(), node{number: number, stored: c})
		number += edit.Number(c.Entries())
	}
	return nil
}

// draftKids are the children of a node of the draft.
func (v *view) draftKids(n node) ([]kid, error) {
	if kids, ok := v.kids[n.number]; ok {
		return kids, nil
	}
	entries, err := v.entries(n)
	if err != nil {
		return nil, err
	}
	kids := make([]kid, len(entries))
	for i := range entries {
		c, err := v.child(&entries[i])
		if err != nil {
			return nil, err
		}
		kids[i] = kid{entries[i].Name, c}
	}
	if v.listed += len(kids); v.listed > maxKids {
		clear(v.kids)
		v.listed = len(kids)
	}
	v.kids[n.number] = kids
	return kids, nil
}

// Run implements [identity.Tree].
func (v *view) Run(n node) (datacenter.Run, bool) {
	if n.touched {
		return datacenter.Run{}, false
	}
	return n.stored.ChildRun(), true
}

// entries are the children of a node of the draft in their order.
func (v *view) entries(n node) ([]edit.Entry, error) {
	kids, ok, err := v.draft.OrderedChildren(n.number)
	if err == nil && !ok {
		err = gone(n)
	}
	return kids, err
}

func (v *view) child(e *edit.Entry) (node, error) {
	if v.draft.Touched(e.Number) {
		return node{number: e.Number, touched: true}, nil
	}
	n, err := v.file.Node(e.Addr)
	return node{number: e.Number, stored: n}, err
}

// attributes returns the attributes of a node, in an order that means nothing.
func (v *view) attributes(n node) (list []sheets.ElementAttribute, err error) {
	if !n.touched {
		for a, err := range n.stored.Attributes() {
			if err != nil {
				return nil, err
			}
			value, err := v.valueOf(a)
			if err != nil {
				return nil, err
			}
			list = append(list, sheets.ElementAttribute{Name: a.Name(), Value: value})
		}
		return list, nil
	}
	entries, ok := v.draft.Attributes(n.number)
	if !ok {
		return nil, gone(n)
	}
	for i := range entries {
		value, err := v.entryValue(&entries[i])
		if err != nil {
			return nil, err
		}
		list = append(list, sheets.ElementAttribute{Name: entries[i].Name, Value: value})
	}
	return list, nil
}

// attribute gives the attribute of a name; it has no type if there is none.
func (v *view) attribute(n node, name string) (datacenter.Value, error) {
	if n.touched {
		e, ok := v.draft.Attribute(n.number, name)
		if !ok {
			return datacenter.Value{}, nil
		}
		return v.entryValue(&e)
	}
	for a, err := range n.stored.Attributes() {
		if err != nil {
			return datacenter.Value{}, err
		}
		if a.Name() == name {
			return v.valueOf(a)
		}
	}
	return datacenter.Value{}, nil
}

func (v *view) entryValue(e *edit.Entry) (datacenter.Value, error) {
	if e.Value.Type() != 0 {
		return e.Value, nil
	}
	a, err := v.file.Attribute(e.Addr)
	if err != nil {
		return datacenter.Value{}, err
	}
	return v.valueOf(a)
}

// valueOf is the value of an attribute, apart from the file.
func (v *view) valueOf(a datacenter.Attribute) (datacenter.Value, error) {
	switch a.Type() {
	case datacenter.Int:
		return datacenter.IntValue(a.Int()), nil
	case datacenter.Bool:
		return datacenter.BoolValue(a.Bool()), nil
	}
	var err error
	if v.text, err = a.AppendText(v.text[:0]); err != nil {
		return datacenter.Value{}, err
	}
	return datacenter.ParseValue(a.Type(), string(v.text))
}

// maxNode bounds the nodes and attributes of a node that a block has.
const maxNode = 1 << 20

// element copies a node with all below it, if that is no more than room entries.
func (v *view) element(name string, n node, room *int) (*sheets.Element, error) {
	list, err := v.attributes(n)
	if err != nil {
		return nil, err
	}
	if *room -= 1 + len(list); *room < 0 {
		return nil, fmt.Errorf("too many nodes and attributes in %s: want at most %d: %w", name, maxNode, datacenter.ErrTooLarge)
	}
	e := &sheets.Element{Name: name, Attributes: list}
	e.Keys, e.Flags = v.marks(n)
	if len(e.Keys) == 0 {
		e.Keys = nil
	}
	slices.SortFunc(e.Attributes, func(a, b sheets.ElementAttribute) int { return compareAttributes(a.Name, b.Name) })
	var failed error
	err = v.Children(n, func(name string, child node) {
		if failed != nil {
			return
		}
		var c *sheets.Element
		c, failed = v.element(name, child, room)
		e.Children = append(e.Children, c)
	})
	slices.SortStableFunc(e.Children, func(a, b *sheets.Element) int { return strings.Compare(a.Name, b.Name) })
	return e, errors.Join(err, failed)
}

// compareAttributes is the order of attributes in a patch: by their names, the text at
// the end, where a reader of XML finds it.
func compareAttributes(a, b string) int {
	if (a == valueName) != (b == valueName) {
		if a == valueName {
			return 1
		}
		return -1
	}
	return strings.Compare(a, b)
}

// differs tells in what a node differs from an element; it is "" if they are equal.
func (v *view) differs(n node, e *sheets.Element) (string, error) {
	list, err := v.attributes(n)
	if err != nil {
		return "", err
	}
	seen := 0
	for _, a := range list {
		want := e.Value(a.Name)
		if want.Type() != 0 {
			seen++
		}
		if want != a.Value {
			have, wanted := Value{Attribute: a.Value}, Value{Attribute: want}
			return fmt.Sprintf("%s %s is %s; want %s", e.Name, a.Name, have.describe(Attribute), wanted.describe(Attribute)), nil
		}
	}
	if seen < len(e.Attributes) {
		for _, a := range e.Attributes {
			if !slices.ContainsFunc(list, func(x sheets.ElementAttribute) bool { return x.Name == a.Name }) {
				return fmt.Sprintf("%s has no %s", e.Name, a.Name), nil
			}
		}
	}
	keys, flags := v.marks(n)
	if !slices.Equal(keys, e.Keys) {
		return fmt.Sprintf("%s has the keys %q; want %q", e.Name, keys.String(), e.Keys.String()), nil
	}
	if flags != e.Flags {
		return fmt.Sprintf("%s has the flags %d; want %d", e.Name, flags, e.Flags), nil
	}
	return v.differsBelow(n, e)
}

// differsBelow is differs for the children: those of one name are compared in their order.
func (v *view) differsBelow(n node, e *sheets.Element) (string, error) {
	var kids []kid
	if err := v.Children(n, func(name string, c node) { kids = append(kids, kid{name, c}) }); err != nil {
		return "", err
	}
	if len(kids) != len(e.Children) {
		return fmt.Sprintf("%s has %d children; want %d", e.Name, len(kids), len(e.Children)), nil
	}
	slices.SortStableFunc(kids, func(a, b kid) int { return strings.Compare(a.name, b.name) })
	want := slices.SortedStableFunc(slices.Values(e.Children), func(a, b *sheets.Element) int { return strings.Compare(a.Name, b.Name) })
	for i, k := range kids {
		if k.name != want[i].Name {
			return fmt.Sprintf("%s has another number of children %s", e.Name, k.name), nil
		}
		if what, err := v.differs(k.node, want[i]); what != "" || err != nil {
			return what, err
		}
	}
	return "", nil
}
