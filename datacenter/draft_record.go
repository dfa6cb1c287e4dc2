package datacenter

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"math"

	"lorefs/internal/cursor"
)

// A record of edits, which count together or not at all:
//
//	record    = edit …
//	edit      = op:1 node:uvarint …
//	  SetAttribute     name:string value
//	  RemoveAttribute  name:string
//	  AddNode          parent:uvarint name:string rank:uvarint flags:1 keys
//	  RemoveNode
//	  MoveNode         parent:uvarint name:string rank:uvarint
//	  SetKeys          keys
//	  SetFlags         flags:1
//	string    = length:uvarint byte …, as WTF-8
//	value     = type:1 ( string or bits:4 )
//	keys      = count:1 string …
//
// Numbers of nodes are those of the file that the edits belong to, the Draft's base. A rank
// orders siblings of one name in that file, see rankOf.

// errRecord means a record that none of ours looks like.
var errRecord = errors.New("not a record of edits")

// record completes an edit that is to be made next, and appends it to scratch.
func (d *Draft) record(e *Edit) error {
	node, into := e.Node, e.Parent
	if e.Op != AddNode {
		n, err := d.reach(e.Node)
		if err != nil {
			return err
		}
		if node, err = d.labels.number(d, n.number); err != nil {
			return err
		}
	}
	if e.Op == AddNode || e.Op == MoveNode {
		parent, err := d.reach(e.Parent)
		if err != nil {
			return err
		}
		if into, err = d.labels.number(d, parent.number); err != nil {
			return err
		}
		if e.rank, err = d.rankFor(parent, e); err != nil {
			return err
		}
	}
	d.scratch = appendEdit(d.scratch, e, node, into)
	return nil
}

// rankFor is the rank of a node that goes to parent.
func (d *Draft) rankFor(parent *draftNode, e *Edit) (uint64, error) {
	switch {
	case e.Rank == 0:
		return d.rank(parent, e), nil
	case e.Rank > maxRank:
		return 0, fmt.Errorf("datacenter: BUG: the rank %d: want %d at most", e.Rank, maxRank)
	case e.spot != nil:
		return d.place(parent, e, *e.spot), nil
	}
	if d.epochs.snapshots > 0 {
		spot := d.spot(parent, e)
		e.spot = &spot
	}
	return e.Rank, nil
}

// appendEdit appends an edit of a node that has the number node in the base, and its parent
// into.
func appendEdit(b []byte, e *Edit, node, into Number) []byte {
	b = append(b, byte(e.Op))
	b = binary.AppendUvarint(b, uint64(node))
	switch e.Op {
	case AddNode, MoveNode:
		b = binary.AppendUvarint(b, uint64(into))
		b = AppendText(b, e.Name)
		b = binary.AppendUvarint(b, e.rank)
		if e.Op == AddNode {
			b = append(b, byte(e.Flags))
			b = AppendKeys(b, e.Keys)
		}
	case SetAttribute:
		b = AppendValue(AppendText(b, e.Name), e.Value)
	case RemoveAttribute:
		b = AppendText(b, e.Name)
	case SetKeys:
		b = AppendKeys(b, e.Keys)
	case SetFlags:
		b = append(b, byte(e.Flags))
	case RemoveNode:
	}
	return b
}

// RecordBound is how many bytes the record of edits has at most, which is told to the
// log in one piece.
func RecordBound(edits []Edit) (size int64) {
	const (
		number = 5  // the longest uvarint of 32 bits
		rank   = 10 // and of 64
		length = 3  // of a text
	)
	for i := range edits {
		e := &edits[i]
		size += 1 + number
		switch e.Op {
		case AddNode, MoveNode:
			size += number + length + int64(len(e.Name)) + rank + 2
		case SetAttribute:
			size += 1 + int64(len(e.Name)) + 2 + max(4, int64(len(e.Value.text)))
			if len(e.Name) > 127 || len(e.Value.text) > 127 {
				size += 2 * length
			}
		case RemoveAttribute:
			size += length + int64(len(e.Name))
		case SetKeys, SetFlags:
			size += 2
		case RemoveNode:
		}
		for _, k := range e.Keys {
			size += length + int64(len(k))
		}
	}
	return size
}

// AppendText appends a string as records have it.
func AppendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// AppendValue appends a value as records have it.
func AppendValue(b []byte, v Value) []byte {
	b = append(b, byte(v.typ))
	if v.typ == String {
		return AppendText(b, v.text)
	}
	return binary.LittleEndian.AppendUint32(b, v.bits)
}

// AppendKeys appends a key definition as records have it.
func AppendKeys(b []byte, keys KeyDefinition) []byte {
	b = append(b, byte(len(keys)))
	for _, k := range keys {
		b = AppendText(b, k)
	}
	return b
}

// Replay makes the edits of a record again, all or none, without logging them.
// Records have to come in the order in which they were logged, to a Draft of the
// file that they belong to. Nodes get the ordinals that they had as far as those
// are free.
func (d *Draft) Replay(ctx context.Context, record []byte) error {
	d.planning.Lock()
	defer d.planning.Unlock()
	d.editing.Lock()
	defer d.editing.Unlock()
	return d.apply(ctx, parseRecord(record), unlogged, nil)
}

// RecordEdits counts the edits of a record: each is one for [Draft.Pending] as well.
func RecordEdits(record []byte) (count int, err error) {
	for _, err := range parseRecord(record) {
		if err != nil {
			return count, err
		}
		count++
	}
	return count, nil
}

// ParseRecord gives the edits of a record, with the numbers and the ranks of the file that
// they belong to. An error is the last.
func ParseRecord(record []byte) iter.Seq2[Edit, error] {
	return func(yield func(Edit, error) bool) {
		for e, err := range parseRecord(record) {
			e.Rank = e.rank
			if !yield(e, err) {
				return
			}
		}
	}
}

// RecordReader reads what records are made of.
type RecordReader struct{ *cursor.Cursor }

// parseRecord gives the edits of a record, one at a time: many fit in few bytes.
func parseRecord(record []byte) script {
	return func(yield func(Edit, error) bool) {
		r := RecordReader{cursor.New(record)}
		for r.Left() > 0 {
			e, err := r.edit(), r.Err()
			if err != nil {
				err = fmt.Errorf("datacenter: %w: %w", errRecord, err)
			}
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
}

func (r RecordReader) edit() Edit {
	e := Edit{Op: EditOp(r.U8()), Node: r.Number(), replayed: true}
	switch e.Op {
	case AddNode, MoveNode:
		e.Parent = r.Number()
		e.Name = r.Text()
		e.rank = r.Uvarint(maxRank)
		e.Ordinal = ordinalOf(e.rank)
		if e.Op == AddNode {
			e.Flags = KeyFlags(r.U8())
			e.Keys = r.Keys()
		}
	case SetAttribute:
		e.Name = r.Text()
		e.Value = r.Value()
	case RemoveAttribute:
		e.Name = r.Text()
	case SetKeys:
		e.Keys = r.Keys()
	case SetFlags:
		e.Flags = KeyFlags(r.U8())
	case RemoveNode:
	default:
		r.Fail("unknown edit %d", e.Op)
	}
	return e
}

// Number reads the number of a node.
func (r RecordReader) Number() Number { return Number(r.Uvarint(math.MaxUint32)) }

// Text reads a string.
func (r RecordReader) Text() string { return string(r.Bytes(int(r.Uvarint(math.MaxInt32)))) }

// Value reads a value.
func (r RecordReader) Value() Value {
	v := Value{typ: Type(r.U8())}
	switch v.typ {
	case String:
		v.text = r.Text()
		if err := checkText(v.text); err != nil {
			r.Fail("%w", err)
		}
	case Int, Float, Bool:
		v.bits = r.LE32()
	default:
		r.Fail("unknown type %d", v.typ)
	}
	return v
}

// Keys reads a key definition.
func (r RecordReader) Keys() KeyDefinition {
	n := int(r.U8())
	if n > len(keyNames{}) {
		r.Fail("%d keys", n)
		return nil
	}
	def := make(KeyDefinition, 0, n)
	for range n {
		def = append(def, r.Text())
	}
	return def
}
