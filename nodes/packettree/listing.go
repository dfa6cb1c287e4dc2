package packettree

import (
	"context"
	"errors"
	"iter"
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
		return nodes.Entry{}, t.notDir(dir)
	}
	id := nodes.ID(0)
	switch dir {
	case rootID:
		for _, e := range t.top {
			if e.Name == name {
				e.Next = 0
				return e, nil
			}
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
	return t.entry(id)
}

// findPacket returns the ID of the file of a packet, or 0.
func (t *Tree) findPacket(name string) nodes.ID {
	number, _, ok := strings.Cut(name, "-")
	i, err := strconv.ParseUint(number, 10, 31)
	if !ok || err != nil || i >= uint64(len(t.jsonSizes)) {
		return 0
	}
	for _, k := range []kind{kindJSON, kindBin} {
		if t.packetName(k, int(i)) == name { // the number may be spelled otherwise
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
			err = t.notDir(dir)
		}
		if err != nil {
			yield(nodes.Entry{}, err)
			return
		}
		switch dir {
		case rootID:
			for i := cursor; i < uint64(len(t.top)); i++ {
				if !yield(t.top[i], nil) {
					return
				}
			}
		case packetsID:
			t.eachPacket(ctx, cursor, yield)
		case definitionsID:
			t.eachFile(ctx, &t.defs, kindDefinition, cursor, yield)
		case mapsID:
			t.eachFile(ctx, &t.maps, kindMap, cursor, yield)
		}
	}
}

func (t *Tree) eachPacket(ctx context.Context, cursor uint64, yield func(nodes.Entry, error) bool) {
	for ; cursor < 2*uint64(len(t.jsonSizes)); cursor++ {
		err := ctx.Err()
		var e nodes.Entry
		if err == nil {
			e, err = t.packetEntry(kindJSON+kind(cursor%2), int(cursor/2))
			e.Next = cursor + 1
		}
		if errors.Is(err, nodes.ErrNotExist) {
			continue // the bytes of a damaged packet
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

func (t *Tree) eachFile(ctx context.Context, f *files, k kind, cursor uint64, yield func(nodes.Entry, error) bool) {
	for ; cursor < uint64(len(f.names)); cursor++ {
		err := ctx.Err()
		var e nodes.Entry
		if err == nil {
			e, err = t.fileEntry(f, k, int(cursor))
			e.Next = cursor + 1
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
