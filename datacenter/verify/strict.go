package verify

import (
	"bytes"
	"fmt"

	"github.com/cespare/xxhash/v2"

	"lorefs/datacenter"
	"lorefs/datacenter/internal/form"
)

// waste finds what is stored for nothing. It does nothing if the graph is broken.
func (v *verifier) waste() error {
	f := v.file
	if !v.strict || f.CountErr != nil {
		return nil
	}
	for _, r := range []struct {
		name string
		segs []form.Segment
	}{{"attributes", f.Regions.Attributes}, {"nodes", f.Regions.Nodes}, {"values", f.Regions.Values.Data}, {"names", f.Regions.Names.Data}} {
		if err := v.slack(r.name, r.segs); err != nil {
			return err
		}
	}
	attrs := v.newRuns("attributes", f.Regions.Attributes, f.Layout.AttributeSize())
	children := v.newRuns("nodes", f.Regions.Nodes, f.Layout.NodeSize())
	children.used.set(0) // the root
	values := newBitmap(segmentBases(f.Regions.Values.Data))
	for n, err := range v.nodes() {
		if err != nil {
			return err
		}
		if err := attrs.add(n.Form().AttrAddr, int(n.Form().AttrCount)); err != nil {
			return err
		}
		if err := children.add(n.Form().ChildAddr, int(n.Form().ChildCount)); err != nil {
			return err
		}
	}
	if err := v.useValues(&attrs, &values); err != nil {
		return err
	}
	for _, r := range []*runs{&attrs, &children} {
		if err := v.unused(r.name, r.used, r.segs, r.size); err != nil {
			return err
		}
	}
	return v.unusedValues(values)
}

// slack reports elements of segments behind those in use.
func (v *verifier) slack(name string, segs []form.Segment) error {
	for i, s := range segs {
		if s.Full == s.Used {
			continue
		}
		err := v.report(s.Off, fmt.Sprintf("segment %d of the %s", i, name), "%d elements of which %d are used", s.Full, s.Used)
		if err != nil {
			return err
		}
	}
	return nil
}

// Nodes yields every stored node that a path leads to.
func (v *verifier) nodes() func(func(datacenter.Node, error) bool) {
	return func(yield func(datacenter.Node, error) bool) {
		f := v.file
		for seg, s := range f.Regions.Nodes {
			for i := range s.Addressable() {
				addr := form.Address{Segment: uint16(seg), Element: uint16(i)}
				if f.Entries[f.Number(addr)] == 0 {
					continue
				}
				n, err := v.tree.Node(addr)
				if !yield(n, err) || err != nil {
					return
				}
			}
		}
	}
}

// runs are the runs of one region that nodes refer to.
type runs struct {
	v    *verifier
	name string
	segs []form.Segment
	size int64
	// Used has a bit for each element, set if it is in a run. counts has the length of the
	// longest run that begins at an element.
	used   bitmap
	counts []uint16
	byHash map[uint64]form.RunKey
	p, q   []byte // scratch
}

func (v *verifier) newRuns(name string, segs []form.Segment, size int64) runs {
	base := segmentBases(segs)
	return runs{
		v: v, name: name, segs: segs, size: size, used: newBitmap(base),
		counts: make([]uint16, base[len(segs)]), byHash: map[uint64]form.RunKey{},
	}
}

// add reports a run if another run has the same content.
func (r *runs) add(addr form.Address, count int) error {
	if count == 0 {
		return nil
	}
	first, _ := r.used.at(addr)
	if int(r.counts[first]) >= count {
		return nil
	}
	if err := r.v.spend(count * int(r.size)); err != nil {
		return err
	}
	r.counts[first] = uint16(count)
	for i := range int64(count) {
		r.used.set(first + i)
	}
	var err error
	if r.p, err = r.bytes(addr, count, r.p[:0]); err != nil {
		return err
	}
	h := xxhash.Sum64(r.p)
	other, found := r.byHash[h]
	if !found {
		r.byHash[h] = form.RunKey{Addr: addr, Count: uint16(count)}
		return nil
	}
	if other.Addr == addr {
		return nil
	}
	if r.q, err = r.bytes(other.Addr, int(other.Count), r.q[:0]); err != nil || !bytes.Equal(r.p, r.q) {
		return err
	}
	return r.v.report(r.offset(addr), fmt.Sprintf("run %v of the %s", addr, r.name), "the same %d as at %v", count, other.Addr)
}

func (r *runs) offset(addr form.Address) int64 {
	return r.segs[addr.Segment].Off + int64(addr.Element)*r.size
}

// bytes appends the bytes of a run.
func (r *runs) bytes(addr form.Address, count int, dst []byte) ([]byte, error) {
	off, end := r.offset(addr), r.offset(addr)+int64(count)*r.size
	var scratch [form.MaxNodeSize]byte
	for off < end {
		b, err := r.v.file.Elements(off, int((end-off)/r.size), int(r.size), scratch[:r.size])
		if err != nil {
			return dst, err
		}
		dst = append(dst, b...)
		off += int64(len(b))
	}
	return dst, nil
}

// useValues marks the values that the used attributes refer to.
func (v *verifier) useValues(attrs *runs, values *bitmap) error {
	for seg, s := range attrs.segs {
		for i := range s.Addressable() {
			addr := form.Address{Segment: uint16(seg), Element: uint16(i)}
			if n, ok := attrs.used.at(addr); !ok || !attrs.used.has(n) {
				continue
			}
			a, err := v.file.RawAttribute(addr)
			if err != nil {
				return err
			}
			if n, ok := values.at(a.Value()); ok && a.TypeCode == uint8(form.String) {
				values.set(n)
			}
		}
	}
	return nil
}

// unused reports the elements of a region that are in no run.
func (v *verifier) unused(name string, used bitmap, segs []form.Segment, size int64) error {
	for seg, s := range segs {
		for i := range int64(s.Used) {
			if used.has(used.base[seg] + i) {
				continue
			}
			err := v.report(s.Off+i*size, fmt.Sprintf("%d:%d of the %s", seg, i, name), "nothing refers to it")
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// unusedValues reports the entries of the table of values that no attribute refers to.
func (v *verifier) unusedValues(values bitmap) error {
	for seg, s := range v.file.Regions.Values.Data {
		for i := range int64(s.Used) {
			n := values.base[seg] + i
			if !v.valueStarts.has(n) || values.has(n) {
				continue
			}
			err := v.report(s.Off+i*form.CharSize, fmt.Sprintf("value %d:%d", seg, i), "no attribute has it")
			if err != nil {
				return err
			}
		}
	}
	return nil
}
