package datacenter

import (
	"errors"
	"fmt"
)

// graph checks every node that a path from the root leads to. It visits each stored node
// once, so it ends even if the nodes form a cycle.
func (v *verifier) graph() error {
	f := v.file
	// The loop below reports addresses and names that do not exist, each time.
	if err := f.countErr; err != nil && !errors.Is(err, ErrAddress) && !errors.Is(err, errName) {
		if !v.fault(err) {
			return err
		}
		if v.stopped {
			return errStopped
		}
	}
	bases := segmentBases(f.regions.nodes)
	v.reached = newBitmap(bases)
	v.attrs = bitmap{base: segmentBases(f.regions.attributes)}
	v.attrsChecked = make([]uint16, int(used(f.regions.attributes)))
	v.seen = map[uint16]bool{}
	v.childrenChecked = make([]uint16, int(bases[len(bases)-1]))
	v.valueHashes = make([]uint16, int(used(f.regions.values.data)))
	root, err := f.Root()
	if err != nil {
		return nil //nolint:nilerr // countErr, reported above, has the cause
	}
	if err := v.root(root); err != nil {
		return err
	}
	if n, ok := v.reached.at(root.addr); ok {
		v.reached.set(n)
	}
	for todo := []Node{root}; len(todo) > 0; {
		n := todo[len(todo)-1]
		if todo, err = v.node(n, todo[:len(todo)-1]); err != nil {
			return err
		}
	}
	return nil
}

func (v *verifier) root(n Node) error {
	off := v.file.nodeOffset(n.addr)
	if n.Name() != RootName {
		if err := v.report(off, where(n), "the root is called %q: want %s", n.Name(), RootName); err != nil {
			return err
		}
	}
	if n.AttributeCount() > 0 {
		return v.report(off, where(n), "the root has %d attributes: want none", n.AttributeCount())
	}
	return nil
}

func where(n Node) string { return fmt.Sprintf("node %v", n.addr) }

// node checks a node and appends its unreached children to todo.
func (v *verifier) node(n Node, todo []Node) ([]Node, error) {
	const often = 1 << 8 // nodes
	if v.checked%often == 0 {
		if err := v.ctx.Err(); err != nil {
			return nil, err
		}
	}
	f := v.file
	off := f.nodeOffset(n.addr)
	if _, ok := f.name(n.raw.name); !ok {
		if err := v.report(off, where(n), "name index %d: there are %d names", n.raw.name, len(f.names)); err != nil {
			return nil, err
		}
	}
	if int(n.raw.key) >= len(f.keys) {
		if err := v.report(off, where(n), "key index %d: there are %d key definitions", n.raw.key, len(f.keys)); err != nil {
			return nil, err
		}
	}
	if n.Flags() > KeyFlagUncached {
		if err := v.report(off, where(n), "key flags %#x: want 0 or 1", n.raw.flags); err != nil {
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
	if stated, nodes := v.file.stated, v.file.counts.StoredNodes; v.progress != nil && v.checked%every == 0 && v.checked < nodes {
		v.progress(stated+int64(float64(v.checked)/float64(nodes)*float64(stated)), 2*stated)
	}
}

// attributes checks the run of attributes of n, unless a run with the same start and length
// has been checked before.
func (v *verifier) attributes(n Node) error {
	f, count := v.file, n.raw.attrCount
	if count == 0 {
		return nil
	}
	if _, err := run(f.regions.attributes, n.raw.attrAddr, int(count), 0); err != nil {
		return v.report(f.nodeOffset(n.addr), where(n), "attributes: %v", err)
	}
	first, _ := v.attrs.at(n.raw.attrAddr)
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
		addr := n.raw.attrAddr
		addr.Element += i
		r, err := f.rawAttribute(addr)
		if err != nil {
			return err
		}
		if err := v.attribute(addr, r, prev, v.seen[r.name]); err != nil {
			return err
		}
		v.seen[r.name] = true
		prev = r.name
	}
	return nil
}

// attribute checks one attribute. prev is the name of the attribute before it. twice says
// that its own name occurred before.
func (v *verifier) attribute(addr Address, r StoredAttribute, prev uint16, twice bool) error {
	f := v.file
	say := func(format string, args ...any) error {
		return v.report(f.attributeOffset(addr), fmt.Sprintf("attribute %v", addr), format, args...)
	}
	a, err := f.attribute(addr, r)
	if err := cause(err); err != nil {
		return say("%v", err)
	}
	name := a.Name()
	switch {
	case twice:
		err = say("%s comes twice in one node", name)
	case prev != 0 && prev == f.valueName:
		err = say("%s comes behind %s, which must be last", name, ValueName)
	case r.name < prev:
		before, _ := f.name(prev)
		err = say("%s (name %d) comes behind %s (name %d): want ascending order", name, r.name, before, prev)
	}
	if err != nil {
		return err
	}
	switch a.typ {
	case Bool:
		if r.bits > 1 {
			return say("the bool %s is %d: want 0 or 1", name, r.bits)
		}
	case Float:
		if r.extended != 0 {
			return say("the float %s has the extended code %#x: want 0", name, r.extended)
		}
	case String:
		return v.stringValue(a, r, say)
	}
	return nil
}

// cause returns the cause of a FormatError. It returns nil for other errors.
func cause(err error) error {
	if fe, ok := err.(*FormatError); ok { //nolint:errorlint // only this very error is taken apart
		return fe.Err
	}
	return nil
}

func (v *verifier) stringValue(a Attribute, r StoredAttribute, say func(string, ...any) error) error {
	n, ok := v.valueStarts.at(a.stringAddress())
	if !ok {
		return say("value %v of %s: there is no such character", a.stringAddress(), a.Name())
	}
	if !v.isValue(n) {
		if err := say("value %v of %s is no string of the table", a.stringAddress(), a.Name()); err != nil {
			return err
		}
	}
	switch got, err := v.valueHash(n, a.stringAddress()); {
	case err != nil:
		return err
	case got != r.extended:
		return say("value hash %#04x of %s: the string at %v has %#04x", r.extended, a.Name(), a.stringAddress(), got)
	}
	return nil
}

// children checks the run of children of n and appends the unreached ones to todo.
func (v *verifier) children(n Node, todo []Node) ([]Node, error) {
	f, count := v.file, n.raw.childCount
	if count == 0 {
		return todo, nil
	}
	if _, err := run(f.regions.nodes, n.raw.childAddr, int(count), 0); err != nil {
		return todo, v.report(f.nodeOffset(n.addr), where(n), "children: %v", err)
	}
	first, _ := v.reached.at(n.raw.childAddr)
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
	var prev Node
	for _, c := range v.run {
		if c.raw.name == 0 {
			continue // a placeholder
		}
		if err := v.order(prev, c); err != nil {
			return nil, err
		}
		prev = c
		i, _ := v.reached.at(c.addr)
		if v.reached.has(i) {
			continue
		}
		v.reached.set(i)
		if c.Name() == RootName {
			if err := v.report(f.nodeOffset(c.addr), where(c), "called %s, which only the root may be", RootName); err != nil {
				return nil, err
			}
		}
		todo = append(todo, c)
	}
	return todo, nil
}

// order checks that b may follow a.
func (v *verifier) order(a, b Node) error {
	if a.file == nil {
		return nil
	}
	off := v.file.nodeOffset(b.addr)
	if b.raw.name < a.raw.name {
		return v.report(off, where(b), "%s (name %d) comes behind %s (name %d): want ascending order",
			b.Name(), b.raw.name, a.Name(), a.raw.name)
	}
	if a.raw.name != b.raw.name || a.raw.key == 0 && b.raw.key == 0 {
		return nil
	}
	if err := v.spend(len(KeyNames{}) * (a.AttributeCount() + b.AttributeCount())); err != nil {
		return err
	}
	order := SiblingOrder{file: v.file}
	switch c, by := order.compareKeys(a, b); {
	case order.err != nil:
		return skipBroken(order.err)
	case c <= 0:
	case by != 0:
		return v.report(off, where(b), "its key %s is lower than that of the sibling before it", v.file.spell(by))
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
