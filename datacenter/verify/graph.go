package verify

import (
	"errors"
	"fmt"

	"lorefs/datacenter"
	"lorefs/datacenter/internal/form"
	"lorefs/datacenter/internal/siblings"
)

// graph checks every node that a path from the root leads to. It visits each stored node
// once, so it ends even if the nodes form a cycle.
func (v *verifier) graph() error {
	f := v.file
	// The loop below reports addresses and names that do not exist, each time.
	if err := f.CountErr; err != nil && !errors.Is(err, form.ErrAddress) && !errors.Is(err, form.ErrName) {
		if !v.fault(err) {
			return err
		}
		if v.stopped {
			return errStopped
		}
	}
	bases := segmentBases(f.Regions.Nodes)
	v.reached = newBitmap(bases)
	v.attrs = bitmap{base: segmentBases(f.Regions.Attributes)}
	v.attrsChecked = make([]uint16, int(form.Used(f.Regions.Attributes)))
	v.seen = map[uint16]bool{}
	v.childrenChecked = make([]uint16, int(bases[len(bases)-1]))
	v.valueHashes = make([]uint16, int(form.Used(f.Regions.Values.Data)))
	root, err := v.tree.Root()
	if err != nil {
		return nil //nolint:nilerr // CountErr, reported above, has the cause
	}
	if err := v.root(root); err != nil {
		return err
	}
	if n, ok := v.reached.at(root.Address()); ok {
		v.reached.set(n)
	}
	for todo := []datacenter.Node{root}; len(todo) > 0; {
		n := todo[len(todo)-1]
		if todo, err = v.node(n, todo[:len(todo)-1]); err != nil {
			return err
		}
	}
	return nil
}

func (v *verifier) root(n datacenter.Node) error {
	off := v.file.NodeOffset(n.Address())
	if n.Name() != form.RootName {
		if err := v.report(off, where(n), "the root is called %q: want %s", n.Name(), form.RootName); err != nil {
			return err
		}
	}
	if n.AttributeCount() > 0 {
		return v.report(off, where(n), "the root has %d attributes: want none", n.AttributeCount())
	}
	return nil
}

func where(n datacenter.Node) string { return fmt.Sprintf("node %v", n.Address()) }

// node checks a node and appends its unreached children to todo.
func (v *verifier) node(n datacenter.Node, todo []datacenter.Node) ([]datacenter.Node, error) {
	const often = 1 << 8 // nodes
	if v.checked%often == 0 {
		if err := v.ctx.Err(); err != nil {
			return nil, err
		}
	}
	f := v.file
	off := f.NodeOffset(n.Address())
	if _, ok := f.Name(n.Form().Name); !ok {
		if err := v.report(off, where(n), "name index %d: there are %d names", n.Form().Name, len(f.Names)); err != nil {
			return nil, err
		}
	}
	if int(n.Form().Key) >= len(f.Keys) {
		if err := v.report(off, where(n), "key index %d: there are %d key definitions", n.Form().Key, len(f.Keys)); err != nil {
			return nil, err
		}
	}
	if n.Flags() > form.KeyFlagUncached {
		if err := v.report(off, where(n), "key flags %#x: want 0 or 1", n.Form().Flags); err != nil {
			return nil, err
		}
	}
	if err := v.attributes(n); err != nil {
		return nil, err
	}
	v.tell()
	return v.children(n, todo)
}

// tell counts a node that was checked, for the second half of the progress. The number of
// nodes that the file states may be false.
func (v *verifier) tell() {
	const every = 1 << 14
	v.checked++
	if stated, nodes := v.file.Stated, v.file.Counts.StoredNodes; v.progress != nil && v.checked%every == 0 && v.checked < nodes {
		v.progress(stated+int64(float64(v.checked)/float64(nodes)*float64(stated)), 2*stated)
	}
}

// Attributes checks the run of attributes of n, unless a run with the same start and length
// has been checked before.
func (v *verifier) attributes(n datacenter.Node) error {
	f, count := v.file, n.Form().AttrCount
	if count == 0 {
		return nil
	}
	if _, err := form.Run(f.Regions.Attributes, n.Form().AttrAddr, int(count), 0); err != nil {
		return v.report(f.NodeOffset(n.Address()), where(n), "attributes: %v", err)
	}
	first, _ := v.attrs.at(n.Form().AttrAddr)
	checked := &v.attrsChecked[first]
	if *checked >= count {
		return nil
	}
	*checked = count
	if err := v.spend(int(count)); err != nil || v.plainRun(n) {
		return err
	}
	clear(v.seen)
	prev := uint16(0)
	for i := range count {
		addr := n.Form().AttrAddr
		addr.Element += i
		r, err := f.RawAttribute(addr)
		if err != nil {
			return err
		}
		if err := v.attribute(addr, r, prev, v.seen[r.Name]); err != nil {
			return err
		}
		v.seen[r.Name] = true
		prev = r.Name
	}
	return nil
}

// attribute checks one attribute. prev is the name of the attribute before it. twice says
// that its own name occurred before.
func (v *verifier) attribute(addr form.Address, r form.Attribute, prev uint16, twice bool) error {
	f := v.file
	say := func(format string, args ...any) error {
		return v.report(f.AttributeOffset(addr), fmt.Sprintf("attribute %v", addr), format, args...)
	}
	typ, err := f.Decode(addr, r)
	if err := cause(err); err != nil {
		return say("%v", err)
	}
	name := f.Spell(r.Name)
	switch {
	case twice:
		err = say("%s comes twice in one node", name)
	case prev != 0 && prev == f.ValueName:
		err = say("%s comes behind %s, which must be last", name, form.ValueName)
	case r.Name < prev:
		before, _ := f.Name(prev)
		err = say("%s (name %d) comes behind %s (name %d): want ascending order", name, r.Name, before, prev)
	}
	if err != nil {
		return err
	}
	switch typ {
	case form.Bool:
		if r.Bits > 1 {
			return say("the bool %s is %d: want 0 or 1", name, r.Bits)
		}
	case form.Float:
		if r.Extended != 0 {
			return say("the float %s has the extended code %#x: want 0", name, r.Extended)
		}
	case form.String:
		return v.stringValue(name, r, say)
	}
	return nil
}

// cause returns the cause of a FormatError. It returns nil for other errors.
func cause(err error) error {
	if fe, ok := err.(*form.FormatError); ok { //nolint:errorlint // only this very error is taken apart
		return fe.Err
	}
	return nil
}

func (v *verifier) stringValue(name string, r form.Attribute, say func(string, ...any) error) error {
	n, ok := v.valueStarts.at(r.Value())
	if !ok {
		return say("value %v of %s: there is no such character", r.Value(), name)
	}
	if !v.isValue(n) {
		if err := say("value %v of %s is no string of the table", r.Value(), name); err != nil {
			return err
		}
	}
	switch got, err := v.valueHash(n, r.Value()); {
	case err != nil:
		return err
	case got != r.Extended:
		return say("value hash %#04x of %s: the string at %v has %#04x", r.Extended, name, r.Value(), got)
	}
	return nil
}

// children checks the run of children of n and appends the unreached ones to todo.
func (v *verifier) children(n datacenter.Node, todo []datacenter.Node) ([]datacenter.Node, error) {
	f, count := v.file, n.Form().ChildCount
	if count == 0 {
		return todo, nil
	}
	if _, err := form.Run(f.Regions.Nodes, n.Form().ChildAddr, int(count), 0); err != nil {
		return todo, v.report(f.NodeOffset(n.Address()), where(n), "children: %v", err)
	}
	first, _ := v.reached.at(n.Form().ChildAddr)
	if v.childrenChecked[first] >= count {
		return todo, nil
	}
	v.childrenChecked[first] = count
	if err := v.spend(int(count)); err != nil {
		return nil, err
	}
	var err error
	if v.run, err = n.AppendChildren(v.run[:0], 0, int(count)); err != nil {
		return nil, err
	}
	var prev datacenter.Node
	for _, c := range v.run {
		if c.Form().Name == 0 {
			continue // a placeholder
		}
		if err := v.order(prev, c); err != nil {
			return nil, err
		}
		prev = c
		i, _ := v.reached.at(c.Address())
		if v.reached.has(i) {
			continue
		}
		v.reached.set(i)
		if c.Name() == form.RootName {
			if err := v.report(f.NodeOffset(c.Address()), where(c), "called %s, which only the root may be", form.RootName); err != nil {
				return nil, err
			}
		}
		todo = append(todo, c)
	}
	return todo, nil
}

// order checks that b may follow a.
func (v *verifier) order(a, b datacenter.Node) error {
	if a == (datacenter.Node{}) {
		return nil
	}
	off := v.file.NodeOffset(b.Address())
	if b.Form().Name < a.Form().Name {
		return v.report(off, where(b), "%s (name %d) comes behind %s (name %d): want ascending order",
			b.Name(), b.Form().Name, a.Name(), a.Form().Name)
	}
	if a.Form().Name != b.Form().Name || a.Form().Key == 0 && b.Form().Key == 0 {
		return nil
	}
	if err := v.spend(len(form.KeyNames{}) * (a.AttributeCount() + b.AttributeCount())); err != nil {
		return err
	}
	switch c, by, err := siblings.CompareKeys(v.file, a, b); {
	case err != nil:
		return skipBroken(err)
	case c <= 0:
	case by != 0:
		return v.report(off, where(b), "its key %s is lower than that of the sibling before it", v.file.Spell(by))
	case v.strict: // other writers do not order definitions
		return v.report(off, where(b), "its keys [%v] come behind [%v], those of the sibling before it: want none first, then by name",
			b.Keys(), a.Keys())
	}
	return nil
}

// skipBroken drops an error that the check of the attributes reports.
func skipBroken(err error) error {
	if cause(err) != nil {
		return nil
	}
	return err
}
