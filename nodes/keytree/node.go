package keytree

import (
	"context"
	"fmt"

	"lorefs/datacenter"
	"lorefs/datacenter/edit"
	"lorefs/datacenter/sheets"
	"lorefs/datacenter/treepath"
)

// idName is the attribute by which a node without key definition goes.
const idName = "id"

// node is a sheet or a child of one, as it is now.
type node struct {
	number  edit.Number
	name    string
	ordinal uint32
	// stored is the node in the file, unless edited says that the draft has it.
	stored datacenter.Node
	edited bool
	// keys is the key definition of an edited node.
	keys datacenter.KeyDefinition
	// entries is the number of nodes and attributes in the file from this node on that are it
	// or below it; 0 for a node that the file does not have.
	entries uint32
}

// has reports whether the file has a node at or below x.
func (x *node) has(n edit.Number) bool {
	return n >= x.number && n-x.number < edit.Number(x.entries)
}

// draftNode returns a node of the draft.
func (t *Tree) draftNode(n edit.Number) (x node, parent edit.Number, ok bool) {
	if t.draft == nil {
		return x, 0, false
	}
	info, ok := t.draft.Node(n)
	if !ok {
		return x, 0, false
	}
	x = node{number: n, name: info.Name, ordinal: info.Ordinal, edited: true, keys: info.Keys}
	if info.Stored {
		x.stored, x.entries = info.Base, info.Base.Entries()
	}
	return x, info.Parent, true
}

// sheet returns the node of a sheet.
func (t *Tree) sheet(s sheets.Sheet) (node, error) {
	if x, _, ok := t.draftNode(s.Number); ok {
		return x, nil
	}
	n, err := t.file.Node(s.Address())
	return node{number: s.Number, name: s.Name, ordinal: s.Ordinal, stored: n, entries: n.Entries()}, err
}

// children calls visit for the children of a sheet, until it returns false.
func (t *Tree) children(ctx context.Context, s *node, visit func(*node) (bool, error)) error {
	if s.edited {
		return t.draftChildren(ctx, s, visit)
	}
	var siblings treepath.Siblings
	siblings.Begin(s.stored)
	x := node{number: s.number + 1 + edit.Number(s.stored.AttributeCount())}
	for c, err := range s.stored.Children() {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		x.name, x.ordinal, x.stored, x.entries = t.names.texts[c.NameIndex()-1], uint32(siblings.Next(c)), c, c.Entries()
		if more, err := visit(&x); err != nil || !more {
			return err
		}
		x.number += edit.Number(x.entries)
	}
	return nil
}

// listBatch is how many entries of the draft are copied at a time.
const listBatch = 256

func (t *Tree) draftChildren(ctx context.Context, s *node, visit func(*node) (bool, error)) error {
	var batch []edit.Entry
	for cursor := uint64(0); ; cursor = batch[len(batch)-1].Next {
		if batch, _ = t.draft.List(s.number, cursor, listBatch, batch[:0]); len(batch) == 0 {
			return ctx.Err()
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		for i := range batch {
			if batch[i].Attribute {
				continue
			}
			x, err := t.draftChild(&batch[i])
			if err != nil {
				return err
			}
			if more, err := visit(&x); err != nil || !more {
				return err
			}
		}
	}
}

// draftChild returns the node of an entry of the draft.
func (t *Tree) draftChild(e *edit.Entry) (node, error) {
	if x, _, ok := t.draftNode(e.Number); ok {
		return x, nil
	}
	if !e.Stored {
		return node{}, fmt.Errorf("datacenter: node %d: %w", e.Number, edit.ErrGone)
	}
	n, err := t.file.Node(e.Addr)
	return node{number: e.Number, name: e.Name, ordinal: e.Ordinal, stored: n, entries: n.Entries()}, err
}

// isKeyed reports whether a node has a key definition.
func isKeyed(x *node) bool {
	if x.edited {
		return len(x.keys) > 0
	}
	return x.stored.KeyNames() != datacenter.KeyNames{}
}

// appendKeys appends the name that the keys of a node give it. ok is false if the node lacks one
// of the attributes.
func (t *Tree) appendKeys(name []byte, x *node) (_ []byte, ok bool, err error) {
	from := len(name)
	if x.edited {
		name, ok, err = t.appendDraftKeys(name, x)
	} else {
		name, ok, err = t.appendStoredKeys(name, x.stored)
	}
	if err != nil || !ok {
		return name[:from], false, err
	}
	return finishKeys(name, from), true, nil
}

func (t *Tree) appendStoredKeys(name []byte, n datacenter.Node) (_ []byte, ok bool, err error) {
	keys := n.KeyNames()
	if keys == (datacenter.KeyNames{}) {
		keys[0] = t.names.file.Index(idName)
	}
	var room [64]byte
	first := true
	for _, key := range keys {
		if key == 0 {
			continue
		}
		a, ok, err := n.Attribute(key)
		if err != nil || !ok {
			return name, false, err
		}
		text, err := a.AppendText(room[:0])
		if err != nil {
			return name, false, err
		}
		if !first {
			name = append(name, ',')
		}
		first = false
		name = appendValue(name, text)
	}
	return name, !first, nil
}

func (t *Tree) appendDraftKeys(name []byte, x *node) (_ []byte, ok bool, err error) {
	for i, key := range goesBy(x.keys) {
		e, ok := t.draft.Attribute(x.number, key)
		if !ok {
			return name, false, nil
		}
		v, err := e.Read(t.file)
		if err != nil {
			return name, false, err
		}
		if i > 0 {
			name = append(name, ',')
		}
		name = appendValue(name, []byte(v.Text()))
	}
	return name, true, nil
}

// goesBy returns the attributes by which a node with a key definition goes.
func goesBy(keys datacenter.KeyDefinition) []string {
	if len(keys) == 0 {
		return []string{idName}
	}
	return keys
}

// isListed reports whether a node has a name here.
func (t *Tree) isListed(x *node) (bool, error) {
	_, ok, err := t.appendKeys(nil, x)
	return ok, err
}

// child returns the child of a sheet of the file that has a number, as the file has it.
func (t *Tree) child(s *node, n edit.Number) (x node, ok bool, err error) {
	first := s.number + 1 + edit.Number(s.stored.AttributeCount())
	if n < first || !s.has(n) {
		return x, false, nil
	}
	for i := range s.stored.ChildCount() {
		entries := t.file.Entries(s.stored.ChildAddress(i)) // 0 for a placeholder
		switch {
		case entries == 0:
		case first < n:
			first += edit.Number(entries)
		case first > n:
			return x, false, nil // it is deeper
		default:
			c, err := s.stored.ChildAt(i)
			if err != nil {
				return x, false, err
			}
			ordinal, err := s.stored.Ordinal(c)
			return node{
				number: n, name: t.names.texts[c.NameIndex()-1], ordinal: uint32(ordinal), stored: c, entries: entries,
			}, err == nil, err
		}
	}
	return x, false, nil
}
