package edit

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"

	"lorefs/datacenter"
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
//	  RestoreNode      parent:uvarint
//	string    = length:uvarint byte …, as WTF-8
//	value     = type:1 ( string or bits:4 )
//	keys      = count:1 string …
//
// A reader refuses a record with an operation that it does not know, as earlier ones do with
// RestoreNode: without it, numbers of nodes would be missing later.
//
// Numbers of nodes are those of the file that the edits belong to, the Draft's base. A rank
// orders siblings of one name in that file, see rankOf.

// errRecord means that a record is malformed.
var errRecord = errors.New("not a record of edits")

// record completes an edit that is to be made next, and appends it to scratch.
func (d *Draft) record(e *Edit) error {
	node, into := e.Node, e.Parent
	switch e.Op {
	case AddNode:
		if again, err := d.recordAgain(e); again || err != nil {
			return err
		}
	case RestoreNode:
		var err error
		if node, err = d.labels.number(d, e.Node); err != nil {
			return err
		}
	default:
		n, err := d.reach(e.Node)
		if err != nil {
			return err
		}
		if node, err = d.labels.number(d, n.number); err != nil {
			return err
		}
	}
	if e.Op == AddNode || e.Op == MoveNode || e.Op == RestoreNode {
		parent, err := d.reach(e.Parent)
		if err != nil {
			return err
		}
		if into, err = d.labels.number(d, parent.number); err != nil {
			return err
		}
		if e.Op != RestoreNode {
			if e.rank, err = d.rankFor(parent, e); err != nil {
				return err
			}
		}
	}
	d.scratch = appendEdit(d.scratch, e, node, into)
	return nil
}

// recordAgain is record for a node that is made again. It reports whether e makes one.
func (d *Draft) recordAgain(e *Edit) (bool, error) {
	parent, err := d.reach(e.Parent)
	if err != nil || !e.Again {
		return false, err
	}
	if e.again, err = d.goneAt(parent, e.Name, e.Ordinal); e.again == nil || err != nil {
		return false, err
	}
	g := e.again
	keys := d.definition(g.was.key)
	if e.rank = g.kid.rank; !e.isSettled {
		e.Keys, e.Flags = keys, g.was.flags
	}
	into, err := d.labels.number(d, parent.number)
	if err != nil {
		return true, err
	}
	number, err := d.labels.number(d, g.kid.number)
	if err != nil {
		return true, err
	}
	d.scratch = appendEdit(d.scratch, &Edit{Op: RestoreNode}, number, into)
	for i := range g.was.attrs {
		d.scratch = appendEdit(d.scratch, &Edit{Op: RemoveAttribute, Name: d.name(g.was.attrs[i].name)}, number, 0)
	}
	for i := range g.was.kids {
		below, err := d.labels.number(d, g.was.kids[i].number)
		if err != nil {
			return true, err
		}
		d.scratch = appendEdit(d.scratch, &Edit{Op: RemoveNode}, below, 0)
	}
	if !slices.Equal(e.Keys, keys) {
		d.scratch = appendEdit(d.scratch, &Edit{Op: SetKeys, Keys: e.Keys}, number, 0)
	}
	if e.Flags != g.was.flags {
		d.scratch = appendEdit(d.scratch, &Edit{Op: SetFlags, Flags: e.Flags}, number, 0)
	}
	return true, nil
}

// rankFor returns the rank for a node that goes to parent.
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

// appendEdit appends an edit. node and into are the numbers of the node and its new parent
// in the base.
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
	case RestoreNode:
		b = binary.AppendUvarint(b, uint64(into))
	case RemoveNode:
	}
	return b
}

// RecordBound returns the maximum size of the record of edits in bytes. The log gets the
// record in one piece.
func RecordBound(edits []Edit) (size int64) {
	const (
		number = 5  // the longest uvarint of 32 bits
		rank   = 10 // the longest uvarint of 64 bits
		length = 3  // of the length of a text
	)
	for i := range edits {
		e := &edits[i]
		size += 1 + number
		switch e.Op {
		case AddNode, MoveNode:
			size += number + length + int64(len(e.Name)) + rank + 2
		case SetAttribute:
			text := textLen(e.Value)
			size += 1 + int64(len(e.Name)) + 2 + max(4, text)
			if len(e.Name) > 127 || text > 127 {
				size += 2 * length
			}
		case RemoveAttribute:
			size += length + int64(len(e.Name))
		case SetKeys, SetFlags:
			size += 2
		case RestoreNode:
			size += number
		case RemoveNode:
		}
		for _, k := range e.Keys {
			size += length + int64(len(k))
		}
	}
	return size
}

// textLen returns the length of the text of a string. It is 0 for other types.
func textLen(v datacenter.Value) int64 {
	if v.Type() == datacenter.String {
		return int64(len(v.Text()))
	}
	return 0
}

// AppendText appends a string in the form of records.
func AppendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// AppendValue appends a value in the form of records.
func AppendValue(b []byte, v datacenter.Value) []byte {
	b = append(b, byte(v.Type()))
	if v.Type() == datacenter.String {
		return AppendText(b, v.Text())
	}
	return binary.LittleEndian.AppendUint32(b, v.Bits())
}

// AppendKeys appends a key definition in the form of records.
func AppendKeys(b []byte, keys datacenter.KeyDefinition) []byte {
	b = append(b, byte(len(keys)))
	for _, k := range keys {
		b = AppendText(b, k)
	}
	return b
}

// Replay makes the edits of a record again, all or none, without logging them. Records must
// be replayed in the order in which they were logged, on a Draft of the file that they
// belong to. Nodes get their old ordinals if those are free.
func (d *Draft) Replay(ctx context.Context, record []byte) error {
	d.planning.Lock()
	defer d.planning.Unlock()
	d.editing.Lock()
	defer d.editing.Unlock()
	return d.apply(ctx, parseRecord(record), unlogged, nil)
}

// RecordEdits counts the edits of a record. [Draft.Pending] counts them in the same way.
func RecordEdits(record []byte) (count int, err error) {
	for _, err := range parseRecord(record) {
		if err != nil {
			return count, err
		}
		count++
	}
	return count, nil
}

// ParseRecord yields the edits of a record, with the numbers and ranks of the file that
// they belong to. An error is yielded last.
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

// RecordReader reads the parts of a record.
type RecordReader struct{ *cursor.Cursor }

// parseRecord yields the edits of a record one at a time, since many fit in few bytes.
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
	e := Edit{Op: Op(r.U8()), Node: r.Number(), replayed: true}
	switch e.Op {
	case AddNode, MoveNode:
		e.Parent = r.Number()
		e.Name = r.Text()
		e.rank = r.Uvarint(maxRank)
		e.Ordinal = ordinalOf(e.rank)
		if e.Op == AddNode {
			e.Flags = datacenter.KeyFlags(r.U8())
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
		e.Flags = datacenter.KeyFlags(r.U8())
	case RestoreNode:
		e.Parent = r.Number()
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
func (r RecordReader) Value() datacenter.Value {
	switch t := datacenter.Type(r.U8()); t {
	case datacenter.String:
		v, err := datacenter.StringValue(r.Text())
		if err != nil {
			r.Fail("%w", err)
		}
		return v
	case datacenter.Int, datacenter.Float, datacenter.Bool:
		return datacenter.BitsValue(t, r.LE32())
	default:
		r.Fail("unknown type %d", t)
		return datacenter.Value{}
	}
}

// Keys reads a key definition.
func (r RecordReader) Keys() datacenter.KeyDefinition {
	n := int(r.U8())
	if n > len(datacenter.KeyNames{}) {
		r.Fail("%d keys", n)
		return nil
	}
	def := make(datacenter.KeyDefinition, 0, n)
	for range n {
		def = append(def, r.Text())
	}
	return def
}
