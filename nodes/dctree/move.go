package dctree

import (
	"context"
	"fmt"
	"math"

	"lorefs/datacenter"
	"lorefs/datacenter/edit"
	"lorefs/nodes"
	"lorefs/nodes/overlay"
)

// Move implements [overlay.Source].
func (e *edits) Move(ctx context.Context, m overlay.Move) error {
	n, attribute, ok := number(m.ID)
	_, other, _ := number(m.To.ID)
	switch {
	case !ok:
		return nodes.NotExist(m.ID)
	case m.Exchange && attribute != other:
		return fmt.Errorf("%w: a value and a directory can't be exchanged", nodes.ErrInvalid)
	case !attribute && m.Exchange:
		return e.exchangeNodes(ctx, n, m.To)
	case !attribute:
		return e.moveNode(ctx, n, m.To)
	case m.Exchange:
		return e.exchangeAttributes(ctx, m)
	}
	return e.moveAttribute(ctx, m)
}

func (e *edits) moveNode(ctx context.Context, n edit.Number, to overlay.Place) error {
	if err := e.mayBeNode(to.Name); err != nil {
		return err
	}
	in, _, err := e.dirNumber(to.Dir)
	if err != nil {
		return err
	}
	plain, ordinal, err := e.childFile(to.Name)
	if err != nil {
		return err
	}
	if err := e.draft.Open(n); err != nil {
		return refusal(err)
	}
	var edits []edit.Edit
	if replaced, attribute, ok := number(to.ID); ok && !attribute && to.ID != 0 {
		if err := e.draft.Open(replaced); err != nil {
			return refusal(err)
		}
		edits = append(edits, edit.Edit{Op: edit.RemoveNode, Node: replaced})
	}
	e.pinMark(n)
	err = e.apply(ctx, append(edits, moved(n, in, plain, ordinal))...)
	if err == nil {
		e.giveWay(in, plain, ordinal)
	}
	return err
}

func moved(n, parent edit.Number, name string, ordinal uint32) edit.Edit {
	return edit.Edit{Op: edit.MoveNode, Node: n, Parent: parent, Name: name, Ordinal: ordinal}
}

// asideOrdinal is the temporary ordinal of a node while another takes its place. No file has so
// many siblings, and childFile refuses the name.
const asideOrdinal = math.MaxInt32 + 1

func (e *edits) exchangeNodes(ctx context.Context, n edit.Number, to overlay.Place) error {
	other, _, _ := number(to.ID)
	for _, node := range []edit.Number{n, other} {
		if err := e.draft.Open(node); err != nil {
			return refusal(err)
		}
	}
	x, _ := e.draft.Node(n)
	y, _ := e.draft.Node(other)
	return e.apply(
		ctx,
		moved(other, y.Parent, y.Name, asideOrdinal),
		moved(n, y.Parent, y.Name, y.Ordinal),
		moved(other, x.Parent, x.Name, x.Ordinal),
	)
}

// shownText returns what an attribute shows: the text that is being written, or its value.
func (e *edits) shownText(ctx context.Context, id nodes.ID, text []byte) ([]byte, error) {
	if text != nil {
		return text, nil
	}
	now, err := e.Now(ctx, id)
	if err != nil {
		return nil, err
	}
	return []byte(now.(content).text), nil
}

// moveAttribute renames an attribute. It gets the type of the attribute that it replaces.
func (e *edits) moveAttribute(ctx context.Context, m overlay.Move) error {
	k, marked, err := e.keyAt(m.To)
	if err != nil {
		return err
	}
	was, err := e.keyOf(m.ID)
	if err != nil {
		return err
	}
	own := typeInExtra(m.Extra)
	if own == 0 {
		if own, err = e.typeFor(was, m.Undecided); err != nil {
			return err
		}
	}
	text, err := e.shownText(ctx, m.ID, m.Text)
	if err != nil {
		return err
	}
	v, err := e.valueAt(k, text, overlay.From{Renamed: true, Extra: own})
	if err != nil {
		return err
	}
	n, _, _ := number(m.ID)
	if err := e.apply(ctx, remove(was), set(k, v, n)); err != nil {
		return err
	}
	e.rememberType(was, own)
	e.mark(n, marked)
	e.show(n, m.ID, v, string(text))
	return nil
}

// side is one side of an exchange of attributes.
type side struct {
	id     nodes.ID
	number edit.Number
	key    attributeKey
	marked bool
	text   []byte
	// value is the value in the place of the other side.
	value datacenter.Value
}

func (e *edits) exchangeAttributes(ctx context.Context, m overlay.Move) error {
	x, err := e.side(ctx, m.ID, m.Text)
	if err != nil {
		return err
	}
	y, err := e.side(ctx, m.To.ID, m.Other)
	if err != nil {
		return err
	}
	if x.value, err = e.valueAt(y.key, x.text, overlay.From{Renamed: true}); err != nil {
		return err
	}
	if y.value, err = e.valueAt(x.key, y.text, overlay.From{Renamed: true}); err != nil {
		return err
	}
	err = e.apply(
		ctx, remove(x.key), remove(y.key),
		set(y.key, x.value, x.number), set(x.key, y.value, y.number),
	)
	if err != nil {
		return err
	}
	e.mark(x.number, y.marked)
	e.mark(y.number, x.marked)
	e.show(x.number, x.id, x.value, string(x.text))
	e.show(y.number, y.id, y.value, string(y.text))
	return nil
}

// side returns the side of an attribute.
func (e *edits) side(ctx context.Context, id nodes.ID, text []byte) (s side, err error) {
	s.id = id
	s.number, _, _ = number(id)
	if s.key, err = e.keyOf(id); err != nil {
		return s, err
	}
	if _, file := e.Where(id); file != "" {
		_, s.marked, err = e.attributeFile(file)
	}
	if err == nil {
		s.text, err = e.shownText(ctx, id, text)
	}
	return s, err
}
