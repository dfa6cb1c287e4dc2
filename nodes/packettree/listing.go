package packettree

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strconv"
	"strings"

	"lorefs/nodes"
)

// Lookup implements [nodes.Tree].
func (t *Tree) Lookup(ctx context.Context, dir nodes.ID, name string) (nodes.Entry, error) {
	if err := t.check(ctx); err != nil {
		return nodes.Entry{}, err
	}
	if !t.isDir(dir) {
		return nodes.Entry{}, t.notDir(ctx, dir)
	}
	id := nodes.ID(0)
	switch dir {
	case rootID:
		for i := range t.top {
			if t.top[i].name == name {
				return t.topEntry(ctx, i, true)
			}
		}
	case byNameID:
		name, ok := strings.CutSuffix(name, linesEnd)
		if i := slices.Index(t.now.Load().recording.Names(), name); ok && i >= 0 {
			id = makeID(kindName, i)
		}
	case packetsID:
		id = t.findPacket(name)
	case definitionsID:
		id = t.defs.find(kindDefinition, name)
	case mapsID:
		id = t.maps.find(kindMap, name)
	}
	if id == 0 {
		return nodes.Entry{}, nodes.NotExist(strconv.Quote(name))
	}
	return t.entry(ctx, id, dir == byNameID)
}

// findPacket returns the ID of the file of a packet, or 0.
func (t *Tree) findPacket(name string) nodes.ID {
	number, _, ok := strings.Cut(name, "-")
	i, err := strconv.ParseUint(number, 10, 31)
	s := t.now.Load()
	if !ok || err != nil || i >= uint64(s.len()) {
		return 0
	}
	for _, k := range []kind{kindJSON, kindBin} {
		if t.packetName(s, k, int(i)) == name { // the number may be spelled otherwise
			return makeID(k, int(i))
		}
	}
	return 0
}

// ReadDir implements [nodes.Tree]. A cursor is the number of the entries before; each
// packet has two.
func (t *Tree) ReadDir(ctx context.Context, dir nodes.ID, cursor uint64) iter.Seq2[nodes.Entry, error] {
	return func(yield func(nodes.Entry, error) bool) {
		err := t.check(ctx)
		if err == nil && !t.isDir(dir) {
			err = t.notDir(ctx, dir)
		}
		if err != nil {
			yield(nodes.Entry{}, err)
			return
		}
		switch dir {
		case rootID:
			t.each(ctx, cursor, len(t.top), yield, func(i int) (nodes.Entry, error) { return t.topEntry(ctx, i, true) })
		case packetsID:
			s := t.now.Load()
			t.each(ctx, cursor, 2*s.len(), yield, func(i int) (nodes.Entry, error) {
				return t.packetEntry(s, kindJSON+kind(i%2), i/2, true)
			})
		case byNameID:
			s := t.now.Load()
			t.each(ctx, cursor, len(s.recording.Names()), yield, func(i int) (nodes.Entry, error) {
				return t.linesEntry(ctx, s, makeID(kindName, i), true)
			})
		case definitionsID:
			t.each(ctx, cursor, len(t.defs.names), yield, func(i int) (nodes.Entry, error) { return t.fileEntry(&t.defs, kindDefinition, i) })
		case mapsID:
			t.each(ctx, cursor, len(t.maps.names), yield, func(i int) (nodes.Entry, error) { return t.fileEntry(&t.maps, kindMap, i) })
		}
	}
}

// each yields entries up to n. It passes over those that are not there, such as the bytes of
// a damaged packet.
func (t *Tree) each(ctx context.Context, cursor uint64, n int, yield func(nodes.Entry, error) bool, entry func(i int) (nodes.Entry, error)) {
	for ; cursor < uint64(n); cursor++ {
		err := ctx.Err()
		var e nodes.Entry
		if err == nil {
			e, err = entry(int(cursor))
			e.Next = cursor + 1
		}
		if errors.Is(err, nodes.ErrNotExist) {
			continue
		}
		if err != nil {
			yield(nodes.Entry{}, err)
			return
		}
		if !yield(e, nil) {
			return
		}
	}
}
