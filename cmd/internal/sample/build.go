package sample

import (
	"bytes"
	"context"
	"fmt"

	"lorefs/datacenter"
)

// node is an element of a sheet, attr one of its attributes.
type (
	node struct {
		Name     string
		Keys     []string
		Attrs    attrs
		Children []*node
	}
	attr struct {
		Name  string
		Value any // an int, float32, bool or string
	}
	attrs = []attr
)

// valueName is the attribute that holds an element's text.
const valueName = "__value__"

func text(s string) attr { return attr{valueName, s} }

// build lays the sheets out as a data center.
func build(sheets []*node, opts datacenter.WriteOptions) ([]byte, error) {
	names := nameList{seen: map[string]bool{}}
	for _, s := range sheets {
		names.add(s)
	}
	b, err := datacenter.NewBuilder(names.list, opts)
	if err != nil {
		return nil, err
	}
	for _, s := range sheets {
		s.put(b)
	}
	var out bytes.Buffer
	err = b.Write(context.Background(), &out)
	return out.Bytes(), err
}

// nameList collects names in the order in which they first occur.
type nameList struct {
	list []string
	seen map[string]bool
}

func (l *nameList) add(n *node) {
	l.name(n.Name)
	for _, key := range n.Keys {
		l.name(key)
	}
	for _, a := range n.Attrs {
		l.name(a.Name)
	}
	for _, c := range n.Children {
		l.add(c)
	}
}

func (l *nameList) name(s string) {
	if !l.seen[s] {
		l.seen[s] = true
		l.list = append(l.list, s)
	}
}

func (n *node) put(b *datacenter.Builder) {
	b.Begin(n.Name, n.Keys, 0)
	for _, a := range n.Attrs {
		switch v := a.Value.(type) {
		case int:
			b.Int(a.Name, int32(v))
		case float32:
			b.Float(a.Name, v)
		case bool:
			b.Bool(a.Name, v)
		case string:
			b.String(a.Name, v)
		default:
			panic(fmt.Sprintf("sample: BUG: %s is a %T", a.Name, v))
		}
	}
	for _, c := range n.Children {
		c.put(b)
	}
	b.End()
}
