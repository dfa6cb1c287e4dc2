package identity

import (
	"context"
	"slices"

	"lorefs/datacenter"
)

// Tree gives access to nodes of type N.
type Tree[N any] interface {
	// Attributes calls visit for the attributes of n, including __value__, in any order. The
	// type is 0 if it is unknown. The text is spelled as in a mount, and valid until visit
	// returns.
	Attributes(n N, visit func(name string, typ datacenter.Type, text []byte)) error
	// Children calls visit for the children of n in their order.
	Children(n N, visit func(name string, child N)) error
	// Run returns the stored run with the children of n; ok is false if they are in none.
	Run(n N) (run datacenter.Run, ok bool)
}

// namer is a Tree that can skip attributes, which saves reading their texts.
type namer[N any] interface {
	// Named is Attributes for attributes that are called names.
	Named(n N, names []string, visit func(name string, typ datacenter.Type, text []byte)) error
}

// visitNamed calls visit at least for the attributes of n that are called names, or for all if
// names is nil.
func visitNamed[N any](tree Tree[N], n N, names []string, visit attributeVisitor) error {
	if t, ok := tree.(namer[N]); ok && names != nil {
		return t.Named(n, names, visit)
	}
	return tree.Attributes(n, visit)
}

// File is the Tree of the nodes of a file. It is not safe for parallel use.
type File struct {
	ctx  context.Context
	text []byte
	keys map[uint16]datacenter.KeyDefinition
}

// NewFile returns a File. Once ctx has ended, Children returns its error.
func NewFile(ctx context.Context) *File {
	return &File{ctx: ctx, keys: map[uint16]datacenter.KeyDefinition{}}
}

// Keys implements [PathTree].
func (f *File) Keys(n datacenter.Node) datacenter.KeyDefinition {
	def, ok := f.keys[n.KeyIndex()]
	if !ok {
		def = n.Keys()
		f.keys[n.KeyIndex()] = def
	}
	return def
}

// Flags implements [PathTree].
func (*File) Flags(n datacenter.Node) datacenter.KeyFlags { return n.Flags() }

// Attributes implements [Tree].
func (f *File) Attributes(n datacenter.Node, visit func(name string, typ datacenter.Type, text []byte)) error {
	return f.Named(n, nil, visit)
}

// Named is Attributes for attributes that are called names, or for all if names is nil.
func (f *File) Named(n datacenter.Node, names []string, visit func(name string, typ datacenter.Type, text []byte)) error {
	if err := f.ctx.Err(); err != nil {
		return err
	}
	for a, err := range n.Attributes() {
		if err == nil && names != nil && !slices.Contains(names, a.Name()) {
			continue
		}
		if err == nil {
			f.text, err = a.AppendText(f.text[:0])
		}
		if err != nil {
			return err
		}
		visit(a.Name(), a.Type(), f.text)
	}
	return nil
}

// Children implements [Tree].
func (f *File) Children(n datacenter.Node, visit func(name string, child datacenter.Node)) error {
	if err := f.ctx.Err(); err != nil {
		return err
	}
	for k, err := range n.Children() {
		if err != nil {
			return err
		}
		visit(k.Name(), k)
	}
	return nil
}

// Run implements [Tree].
func (f *File) Run(n datacenter.Node) (datacenter.Run, bool) { return n.ChildRun(), true }
