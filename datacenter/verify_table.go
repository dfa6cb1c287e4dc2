package datacenter

import (
	"encoding/binary"
	"fmt"

	"lorefs/datacenter/internal/hash"
)

// tableCheck checks one string table.
type tableCheck struct {
	*verifier
	name   string
	table  stringTable
	starts *bitmap // of the characters at which an entry begins; may be nil
	seen   []bool  // of each index
}

// table checks a string table entry by entry, and then that every index is used.
func (v *verifier) table(name string, t stringTable, starts *bitmap) error {
	if starts == nil {
		b := newBitmap(segmentBases(t.data))
		starts = &b
	}
	c := &tableCheck{verifier: v, name: name, table: t, starts: starts, seen: make([]bool, t.addrs.count)}
	for i, s := range t.buckets {
		if err := c.bucket(i, s); err != nil {
			return err
		}
	}
	for i, seen := range c.seen {
		if seen {
			continue
		}
		off := t.addrs.off + int64(i)*addressSize
		if err := v.report(off, fmt.Sprintf("%s index %d", name, i+1), "no entry of the table has it"); err != nil {
			return err
		}
	}
	return nil
}

// entryPlace is the place of an entry, for findings.
type entryPlace struct {
	table        string
	bucket, item int
	off          int64
}

func (c *tableCheck) say(at entryPlace, format string, args ...any) error {
	return c.report(at.off, fmt.Sprintf("%s table %d entry %d", at.table, at.bucket, at.item), format, args...)
}

func (c *tableCheck) bucket(i int, s span) error {
	var scratch [stringSize]byte
	prev := uint32(0)
	for j := range int(s.count) {
		at := entryPlace{c.name, i, j, s.off + int64(j)*stringSize}
		b, err := c.file.view(at.off, stringSize, scratch[:])
		if err != nil {
			return err
		}
		e := parseStringEntry(b)
		if e.hash < prev {
			if err := c.say(at, "hash %#08x after %#08x: want ascending order", e.hash, prev); err != nil {
				return err
			}
		}
		prev = e.hash
		if want := (e.hash ^ e.hash>>16) % uint32(len(c.table.buckets)); want != uint32(i) {
			if err := c.say(at, "hash %#08x belongs to table %d", e.hash, want); err != nil {
				return err
			}
		}
		if err := c.entry(e, at); err != nil {
			return err
		}
	}
	return nil
}

// entry checks the fields of an entry against its string.
func (c *tableCheck) entry(e stringEntry, at entryPlace) error {
	if err := c.index(e, at); err != nil {
		return err
	}
	n, ok := c.starts.at(e.addr)
	if !ok {
		return c.say(at, "address %v: there is no such character", e.addr)
	}
	if c.starts.has(n) {
		if err := c.say(at, "address %v belongs to another entry as well", e.addr); err != nil {
			return err
		}
	}
	c.starts.set(n)
	return c.text(e, at)
}

func (c *tableCheck) index(e stringEntry, at entryPlace) error {
	if e.index == 0 || e.index > c.table.addrs.count {
		return c.say(at, "index %d: want 1 to %d", e.index, c.table.addrs.count)
	}
	if c.seen[e.index-1] {
		if err := c.say(at, "index %d belongs to another entry as well", e.index); err != nil {
			return err
		}
	}
	c.seen[e.index-1] = true
	var scratch [addressSize]byte
	b, err := c.file.view(c.table.addrs.off+int64(e.index-1)*addressSize, addressSize, scratch[:])
	if err != nil {
		return err
	}
	if addr := parseAddress(b); addr != e.addr {
		return c.say(at, "address %v: index %d has %v", e.addr, e.index, addr)
	}
	return nil
}

// text checks length and hash. The NUL may be missing at a segment's end, but the length
// counts it.
func (c *tableCheck) text(e stringEntry, at entryPlace) error {
	b, err := c.file.stringUnits(c.table.data, e.addr)
	if err == nil {
		err = c.spend(len(b))
	}
	if err != nil {
		return err
	}
	if got := uint32(len(b)/charSize) + 1; got != e.length {
		return c.say(at, "length %d: the string at %v has %d with its NUL", e.length, e.addr, got)
	}
	if got := hashText(b); got != e.hash {
		return c.say(at, "hash %#08x: the string at %v has %#08x", e.hash, e.addr, got)
	}
	return nil
}

func hashText(units []byte) (h uint32) {
	for ; len(units) >= charSize; units = units[charSize:] {
		h = hash.Unit(h, binary.LittleEndian.Uint16(units))
	}
	return h
}
