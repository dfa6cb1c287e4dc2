package splice

import (
	"context"
	"fmt"
	"io"
	"slices"

	"lorefs/datacenter"
	"lorefs/datacenter/internal/form"
	"lorefs/datacenter/internal/streamedit"
)

// finish returns the edits that make the new file, in the order of their places.
func (s *Splicer) finish() ([]streamedit.Edit, error) {
	if s.err != nil {
		return nil, s.err
	}
	if err := s.dropLost(); err != nil {
		return nil, err
	}
	if len(s.open) != 1 {
		return nil, fmt.Errorf("datacenter: BUG: %d nodes are not ended", len(s.open)-1)
	}
	for _, r := range []*spliceRuns{&s.attributes, &s.nodes} {
		if r.shared.Unused > form.Used(r.counts)/maxUnused {
			return nil, whole("%d of %d elements are unused", r.shared.Unused, form.Used(r.counts))
		}
	}
	if s.steps > form.MaxSteps {
		return nil, whole("more than %d children are announced in all", form.MaxSteps)
	}
	if was, end := placeRegions(s.f, nil); end != s.f.Stated || was.Footer != s.f.Regions.Footer {
		return nil, fmt.Errorf("datacenter: BUG: the regions end at %#x, not at %#x", end, s.f.Stated)
	}
	if _, size := placeRegions(s.f, s); size > form.MaxSize {
		return nil, whole("%d bytes", size)
	}
	return s.allEdits(), nil
}

// allEdits returns all edits.
func (s *Splicer) allEdits() []streamedit.Edit {
	r, l := &s.f.Regions, &s.edits
	if !s.header.Same(s.f.Header) {
		l.replace(0, s.f.Layout.HeaderSize(), s.header.Append(nil, s.f.Layout))
	}
	keysEnd := r.Keys.Off + int64(r.Keys.Count)*form.KeySize
	_, attributesEnd := placeSegments(r.Attributes, keysEnd, s.attributes.size)
	_, nodesEnd := placeSegments(r.Nodes, attributesEnd, s.nodes.size)
	s.attributes.edits(l, keysEnd)
	s.nodes.edits(l, attributesEnd)
	s.values.edits(l, nodesEnd)
	return l.sorted()
}

// placeRegions returns the places of the regions of f after a splice or, without one, as they are. It
// also returns the size of the inflated data.
func placeRegions(f *form.File, s *Splicer) (form.Regions, int64) {
	r := f.Regions
	r.Keys.Off = f.Layout.HeaderSize() + 4
	off := r.Keys.Off + int64(r.Keys.Count)*form.KeySize
	if s != nil {
		r.Attributes, r.Nodes = s.attributes.counts, s.nodes.counts
	}
	r.Attributes, off = placeSegments(r.Attributes, off, f.Layout.AttributeSize())
	r.Nodes, off = placeSegments(r.Nodes, off, f.Layout.NodeSize())
	if s != nil {
		r.Values, off = s.values.grown(off)
	} else {
		r.Values, off = placeTable(r.Values, off)
	}
	r.Names, off = placeTable(r.Names, off)
	r.Footer = off
	r.End = off + form.FooterSize
	return r, r.End
}

// Spliced is a file that a Splicer wrote.
type Spliced struct {
	stream *spliced
	key    form.Key
	// Index indexes the file, but for what is read from it when it is opened. It is made from the
	// index of the former file, so no pass is needed.
	index  form.Index
	sheets []string
}

// spliced returns the description of the file that was written as stream.
func (s *Splicer) spliced(stream *spliced) *Spliced {
	p := &Spliced{stream: stream, key: s.f.Key, index: s.successor()}
	p.index.Checkpoints, p.index.StreamEnd = stream.Checkpoints, stream.streamEnd
	for name := range s.sheets {
		p.sheets = append(p.sheets, s.f.Spell(name))
	}
	slices.Sort(p.sheets)
	return p
}

// successor returns the index of the new file, but for what belongs to the stream.
func (s *Splicer) successor() form.Index {
	x := form.Index{Layout: s.f.Layout, Header: s.header, Tally: s.f.Tally}
	x.Regions, _ = placeRegions(s.f, s)
	x.Entries, x.Logical, x.Steps, x.MaxName = s.entries, s.logical, s.steps, s.maxName
	x.SharedAttributes, x.SharedNodes = s.attributes.shared, s.nodes.shared
	return x
}

// Sheets returns the names of the sheets that differ from those of the former file: of each name, at
// least one.
func (p *Spliced) Sheets() []string { return p.sheets }

// CheckBytes reads back the file. sum is the SHA-256 of what was written. Only if CheckData succeeds as
// well the file is right. They may run at the same time.
func (p *Spliced) CheckBytes(ctx context.Context, r io.ReaderAt, sum [32]byte) error {
	return p.stream.checkBytes(ctx, r, sum)
}

// CheckData reads back what was encoded anew, and compares it with what was wanted.
func (p *Spliced) CheckData(ctx context.Context, r io.ReaderAt) error {
	return p.stream.checkData(ctx, r)
}

// Open opens the file, of size bytes, like [Open], but it needs no pass. The index is kept in
// opts.Index.
func (p *Spliced) Open(r io.ReaderAt, size int64, opts form.Options) (*datacenter.File, error) {
	f, err := form.OpenAs(r, size, p.key, p.index, opts)
	if err != nil {
		return nil, err
	}
	return datacenter.Of(f), nil
}

// Wanted returns f, which Open returned, with the data that it should have: that of the former file,
// with the edits. So nothing is read from f. CheckBytes and CheckData find out whether f has that data.
func (p *Spliced) Wanted(f *datacenter.File) *datacenter.File {
	size := p.stream.stated
	const piece = 16 << 10 // only a few nodes of each block are looked at
	return datacenter.Of(f.Form().WithData(size, piece, p.stream.wanted))
}

// wanted returns data as it is wanted. Most of it is old data: that is not copied.
func (s *spliced) wanted(from, to int64) ([]byte, error) {
	if old, ok := s.plan.Former(from, to); ok {
		n, i := s.base.BlockAt(old)
		b, err := s.base.Block(n)
		if err != nil {
			return nil, err
		}
		if end := i + int(to-from); end <= len(b) {
			return b[i:end:end], nil
		}
	}
	return s.plan.Data(nil, from, to)
}
