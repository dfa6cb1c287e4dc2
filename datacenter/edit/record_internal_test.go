package edit

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"lorefs/datacenter"
)

// draftFile is a small data center, made by a Builder.
func draftFile(t testing.TB) *datacenter.File {
	t.Helper()
	b, err := datacenter.NewBuilder([]string{"Sheet", "Item", "id", "name"}, datacenter.WriteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		b.Begin("Sheet", nil, 0)
		for i := range 3 {
			b.Begin("Item", datacenter.KeyDefinition{"id"}, 0)
			b.Int("id", int32(i))
			b.String("name", "n")
			b.End()
		}
		b.End()
	}
	var out bytes.Buffer
	if err := b.Write(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	f, err := datacenter.Open(t.Context(), bytes.NewReader(out.Bytes()), int64(out.Len()), datacenter.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// spell writes everything that a Draft holds, except its numbers.
func (d *Draft) spell(n *draftNode, f *strings.Builder) {
	fmt.Fprintf(f, "%q.%d %v %d", d.name(n.name), n.ordinal, d.definition(n.key), n.flags)
	for _, a := range n.attrs {
		if !a.dead {
			fmt.Fprintf(f, " %q=%v/%v", d.name(a.name), a.changed, a.value)
		}
	}
	for i := range n.kids {
		switch k := &n.kids[i]; {
		case k.dead:
		case k.node == nil:
			fmt.Fprintf(f, "(%q.%d of the file)", d.name(k.name), k.ordinal)
		default:
			f.WriteByte('(')
			d.spell(k.node, f)
			f.WriteByte(')')
		}
	}
}

func (d *Draft) openAll(n *draftNode) error {
	for i := range n.kids {
		if n.kids[i].dead {
			continue
		}
		k, err := d.reach(n.kids[i].number)
		if err != nil {
			return err
		}
		if err := d.openAll(k); err != nil {
			return err
		}
	}
	return nil
}

// FuzzReplay checks that any record is applied completely or not at all, at a cost that its
// length bounds.
func FuzzReplay(f *testing.F) {
	file := draftFile(f)
	var records [][]byte
	d, err := NewDraft(file, func(r []byte) error {
		records = append(records, bytes.Clone(r))
		return nil
	})
	if err != nil {
		f.Fatal(err)
	}
	text, err := datacenter.StringValue("한\xed\xa0\x80")
	if err != nil {
		f.Fatal(err)
	}
	for _, e := range [][]Edit{
		{{Op: SetAttribute, Node: 2, Name: "new", Value: text}},
		{{Op: AddNode, Node: d.NewNumber(), Parent: 1, Name: "Item", Ordinal: 7, Keys: datacenter.KeyDefinition{"id", "name"}, Flags: 1}},
		{{Op: MoveNode, Node: 2, Parent: 0, Name: "Sheet", Ordinal: 9}, {Op: RemoveAttribute, Node: 2, Name: "id"}},
		{{Op: SetKeys, Node: 1, Keys: datacenter.KeyDefinition{"k"}}, {Op: SetFlags, Node: 1, Flags: 15}, {Op: SetAttribute, Node: 1, Name: "f", Value: datacenter.FloatValue(1)}},
		{{Op: RemoveNode, Node: 5}},
	} {
		if err := d.Apply(f.Context(), e...); err != nil {
			f.Fatal(err)
		}
		f.Add(records[len(records)-1])
	}
	f.Add(bytes.Join(records, nil))
	for _, s := range []string{
		"", "\x00", "\x01\x02\x03id", "\x01\x02\x02id\x03\x00", "\x01\x02\x02id\x04\x00\x00\x00\x00", "\x01\x02\x02id\x03\xff\xff\xff\xff\x0f",
		"\x03\xfe\xff\xff\xff\x0f\x00\x01a\x80\x80\x80\x80\x08\x00\x00", "\x03\xff\xff\xff\xff\x0f\x00\x01a\x00\x00\x00", "\x06\x01\x05", "\x04\x01\x04\x01",
		"\x07\x01\xff", "\x01\x02\x08__root__\x01\x00\x00\x00\x00", "\x01\x02\x09__value__\x01\x00\x00\x00\x00",
		"\x03\x81\x80\x80\x80\x01\x00\x01a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x00\x00",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, record []byte) { replayOne(t, file, record) })
}

func replayOne(t *testing.T, file *datacenter.File, record []byte) {
	var logged []byte
	d, err := NewDraft(file, func(r []byte) error {
		logged = bytes.Clone(r)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := d.openAll(d.root); err != nil {
		t.Fatal(err)
	}
	var before, after strings.Builder
	d.spell(d.root, &before)
	entries, names, keys := d.entries, len(d.index), len(d.keyIndex)
	if err := d.Replay(t.Context(), record); err != nil {
		d.spell(d.root, &after)
		if before.String() != after.String() || d.entries != entries || len(d.index) != names || len(d.keyIndex) != keys || d.Pending() != 0 {
			t.Fatalf("%v, and half of it is applied:\n%s\n%s", err, &before, &after)
		}
		if errors.Is(err, errRecord) && !strings.Contains(err.Error(), "offset ") {
			t.Fatalf("%v: no place", err)
		}
	}
	// After any replay the Draft must be usable and write the right file.
	if err := d.Apply(t.Context(), Edit{Op: SetFlags, Node: 0, Flags: 1}); err != nil || len(logged) == 0 {
		t.Fatalf("Apply after Replay: %v", err)
	}
	s := d.Snapshot()
	defer s.Close()
	var out bytes.Buffer
	w, err := s.Write(t.Context(), datacenter.WriteOptions{}, &out)
	if err != nil {
		t.Fatal(err)
	}
	g, err := datacenter.Open(t.Context(), bytes.NewReader(out.Bytes()), int64(out.Len()), datacenter.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Compare(t.Context(), g); err != nil {
		t.Fatal(err)
	}
}

// TestReplayAllocatesLittle checks that a record of many small edits with a wrong one at
// the end is not unpacked as a whole first.
func TestReplayAllocatesLittle(t *testing.T) {
	d, err := NewDraft(draftFile(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	var record []byte
	for range 1 << 20 {
		record = append(record, byte(RemoveNode), 200)
	}
	for _, broken := range [][]byte{append(record, 99), record} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err = d.Replay(t.Context(), broken)
		runtime.ReadMemStats(&after)
		if got := after.TotalAlloc - before.TotalAlloc; err == nil || got > 1<<20 {
			t.Errorf("%v: allocated %d bytes for a record of %d", err, got, len(broken))
		}
	}
}

// TestReplayOfBrokenRecords checks that errors of records say where.
func TestReplayOfBrokenRecords(t *testing.T) {
	d, err := NewDraft(draftFile(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	good := appendEdit(nil, &Edit{Op: SetAttribute, Name: "name", Value: datacenter.IntValue(1)}, 2, 0)
	for i := 1; i < len(good); i++ {
		if err := d.Replay(t.Context(), good[:i]); !errors.Is(err, errRecord) {
			t.Errorf("cut at %d: %v", i, err)
		}
	}
	for name, record := range map[string][]byte{
		"op":                append(bytes.Clone(good), 0),
		"number of 33 bits": append([]byte{byte(RemoveNode)}, binary.AppendUvarint(nil, 1<<32)...),
		"endless number":    append([]byte{byte(RemoveNode)}, bytes.Repeat([]byte{0x80}, 20)...),
		"text with a NUL":   append(good[:len(good)-5:len(good)-5], byte(datacenter.String), 1, 0),
		"type 0":            append(good[:len(good)-5:len(good)-5], 0, 0, 0, 0, 0),
		"five keys":         {byte(SetKeys), 1, 5, 0, 0, 0, 0, 0},
	} {
		if err := d.Replay(t.Context(), record); !errors.Is(err, errRecord) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, tt := range map[string]struct {
		record []byte
		want   error
	}{
		"a node that is not there": {appendEdit(nil, &Edit{Op: RemoveNode}, 99, 0), ErrGone},
		"a child of nothing":       {appendEdit(nil, &Edit{Op: AddNode, Name: "a", rank: 1}, datacenter.MaxEntries+1, 99), ErrGone},
		"a NUL in a name":          {appendEdit(nil, &Edit{Op: SetAttribute, Name: "\x00", Value: datacenter.IntValue(1)}, 2, 0), datacenter.ErrValue},
		"flags":                    {appendEdit(nil, &Edit{Op: SetFlags, Flags: 16}, 2, 0), datacenter.ErrValue},
	} {
		if err := d.Replay(t.Context(), tt.record); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, want %v", name, err, tt.want)
		}
	}
	if d.Pending() != 0 {
		t.Errorf("%d edits are pending", d.Pending())
	}
}

// TestRanksInBetween checks that a rank is between its neighbours as long as there is room,
// and never out of bounds.
func TestRanksInBetween(t *testing.T) {
	n := &draftNode{ranked: true}
	d := &Draft{draftTree: draftTree{nameTable: nameTable{index: map[string]uint16{"a": 1}}}}
	for i := range uint32(3) { // as after the removal of 0, 2 and 4, and a save
		n.kids = append(n.kids, draftChild{number: Number(i + 1), name: 1, ordinal: 2*i + 1, rank: rankOf(i)})
	}
	low := n.kids[0].rank
	for i := range 25 {
		e := &Edit{Name: "a", Ordinal: 2}
		got := d.rank(n, e)
		if got <= low || got >= n.kids[1].rank {
			t.Fatalf("after %d: the rank %d is not between %d and %d", i, got, low, n.kids[1].rank)
		}
		n.kids[1].rank = got // the next one goes before it
	}
	if got := d.rank(n, &Edit{Name: "a", Ordinal: 0}); got >= low {
		t.Errorf("the rank %d is not the first", got)
	}
	n.kids[2].rank = maxRank
	if got := d.rank(n, &Edit{Name: "a", Ordinal: 9}); got != maxRank {
		t.Errorf("the rank %d is above the highest", got)
	}
	for _, o := range []uint32{0, 1, 1 << 31, 1<<32 - 1} {
		if got := ordinalOf(rankOf(o)); got != o {
			t.Errorf("the ordinal %d became %d", o, got)
		}
	}
	if ordinalOf(0) != 0 || ordinalOf(maxRank) != 1<<32-1 {
		t.Error("ranks that no ordinal has")
	}
}
