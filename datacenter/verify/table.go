package verify

import (
	"encoding/binary"
	"fmt"

	"lorefs/datacenter/internal/form"
	"lorefs/datacenter/internal/hash"
)

// tableCheck checks one string table.
type tableCheck struct {
	*verifier
	name   string
	table  form.StringTable
	starts *bitmap // of the characters at which an entry begins; may be nil
	seen   []bool  // of each index
}

// table checks a string table entry by entry, and then that every index is used.
func (v *verifier) table(name string, t form.StringTable, starts *bitmap) error {
	if starts == nil {
		b := newBitmap(segmentBases(t.Data))
		starts = &b
	}
	c := &tableCheck{verifier: v, name: name, table: t, starts: starts, seen: make([]bool, t.Addrs.Count)}
	for i, s := range t.Buckets {
		if err := c.bucket(i, s); err != nil {
			return err
		}
	}
	for i, seen := range c.seen {
		if seen {
			continue
		}
		off := t.Addrs.Off + int64(i)*form.AddressSize
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

func (c *tableCheck) bucket(i int, s form.Span) error {
	var scratch [form.StringSize]byte
	prev := uint32(0)
	for j := range int(s.Count) {
		at := entryPlace{c.name, i, j, s.Off + int64(j)*form.StringSize}
		b, err := c.file.View(at.off, form.StringSize, scratch[:])
		if err != nil {
			return err
		}
		e := form.ParseStringEntry(b)
		if e.Hash < prev {
			if err := c.say(at, "hash %#08x after %#08x: want ascending order", e.Hash, prev); err != nil {
				return err
			}
		}
		prev = e.Hash
		if want := (e.Hash ^ e.Hash>>16) % uint32(len(c.table.Buckets)); want != uint32(i) {
			if err := c.say(at, "hash %#08x belongs to table %d", e.Hash, want); err != nil {
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
func (c *tableCheck) entry(e form.StringEntry, at entryPlace) error {
	if err := c.index(e, at); err != nil {
		return err
	}
	n, ok := c.starts.at(e.Addr)
	if !ok {
		return c.say(at, "address %v: there is no such character", e.Addr)
	}
	if c.starts.has(n) {
		if err := c.say(at, "address %v belongs to another entry as well", e.Addr); err != nil {
			return err
		}
	}
	c.starts.set(n)
	return c.text(e, at)
}

func (c *tableCheck) index(e form.StringEntry, at entryPlace) error {
	if e.Index == 0 || e.Index > c.table.Addrs.Count {
		return c.say(at, "index %d: want 1 to %d", e.Index, c.table.Addrs.Count)
	}
	if c.seen[e.Index-1] {
		if err := c.say(at, "index %d belongs to another entry as well", e.Index); err != nil {
			return err
		}
	}
	c.seen[e.Index-1] = true
	var scratch [form.AddressSize]byte
	b, err := c.file.View(c.table.Addrs.Off+int64(e.Index-1)*form.AddressSize, form.AddressSize, scratch[:])
	if err != nil {
		return err
	}
	if addr := form.ParseAddress(b); addr != e.Addr {
		return c.say(at, "address %v: index %d has %v", e.Addr, e.Index, addr)
	}
	return nil
}

// text checks length and hash. The NUL may be missing at a segment's end, but the length
// counts it.
func (c *tableCheck) text(e form.StringEntry, at entryPlace) error {
	b, err := c.file.StringUnits(c.table.Data, e.Addr)
	if err == nil {
		err = c.spend(len(b))
	}
	if err != nil {
		return err
	}
	if got := uint32(len(b)/form.CharSize) + 1; got != e.Length {
		return c.say(at, "length %d: the string at %v has %d with its NUL", e.Length, e.Addr, got)
	}
	if got := hashText(b); got != e.Hash {
		return c.say(at, "hash %#08x: the string at %v has %#08x", e.Hash, e.Addr, got)
	}
	return nil
}

func hashText(units []byte) (h uint32) {
	for ; len(units) >= form.CharSize; units = units[form.CharSize:] {
		h = hash.Unit(h, binary.LittleEndian.Uint16(units))
	}
	return h
}
