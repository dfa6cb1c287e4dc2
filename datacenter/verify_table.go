package datacenter

import (
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

func (c *tableCheck) bucket(i int, s span) error {
	var scratch [stringSize]byte
	prev := uint32(0)
	for j := range int(s.count) {
		off := s.off + int64(j)*stringSize
		b, err := c.file.view(off, stringSize, scratch[:])
		if err != nil {
			return err
		}
		e := parseStringEntry(b)
		where := fmt.Sprintf("%s table %d entry %d", c.name, i, j)
		if e.hash < prev {
			if err := c.report(off, where, "hash %#08x after %#08x: want ascending order", e.hash, prev); err != nil {
				return err
			}
		}
		prev = e.hash
		if want := (e.hash ^ e.hash>>16) % uint32(len(c.table.buckets)); want != uint32(i) {
			if err := c.report(off, where, "hash %#08x belongs to table %d", e.hash, want); err != nil {
				return err
			}
		}
		if err := c.entry(e, off, where); err != nil {
			return err
		}
	}
	return nil
}

// entry checks the fields of an entry against its string.
func (c *tableCheck) entry(e stringEntry, off int64, where string) error {
	if err := c.index(e, off, where); err != nil {
		return err
	}
	n, ok := c.starts.at(e.addr)
	if !ok {
		return c.report(off, where, "address %v: there is no such character", e.addr)
	}
	if c.starts.has(n) {
		if err := c.report(off, where, "address %v belongs to another entry as well", e.addr); err != nil {
			return err
		}
	}
	c.starts.set(n)
	return c.text(e, off, where)
}

func (c *tableCheck) index(e stringEntry, off int64, where string) error {
	if e.index == 0 || e.index > c.table.addrs.count {
		return c.report(off, where, "index %d: want 1 to %d", e.index, c.table.addrs.count)
	}
	if c.seen[e.index-1] {
		if err := c.report(off, where, "index %d belongs to another entry as well", e.index); err != nil {
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
		return c.report(off, where, "address %v: index %d has %v", e.addr, e.index, addr)
	}
	return nil
}

// text checks length and hash. The NUL may be missing at a segment's end, but the length
// counts it.
func (c *tableCheck) text(e stringEntry, off int64, where string) error {
	b, err := c.file.stringUnits(c.table.data, e.addr)
	if err == nil {
		err = c.spend(len(b))
	}
	if err != nil {
		return err
	}
	if got := uint32(len(b)/charSize) + 1; got != e.length {
		return c.report(off, where, "length %d: the string at %v has %d with its NUL", e.length, e.addr, got)
	}
	c.units = appendUnits(c.units[:0], b)
	if got := hash.String(c.units); got != e.hash {
		return c.report(off, where, "hash %#08x: the string at %v has %#08x", e.hash, e.addr, got)
	}
	return nil
}
