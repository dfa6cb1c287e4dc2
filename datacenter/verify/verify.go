package verify

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"

	"lorefs/datacenter"
	"lorefs/datacenter/internal/form"
	"lorefs/internal/shown"
)

// Finding is a breach of a rule of the format.
type Finding struct {
	// Off is an offset in bytes: in the file on disk if InFile is set, otherwise in the
	// inflated data.
	Off    int64
	InFile bool
	// Where names the element by its address, such as "node 3:5". It is empty for elements
	// without an address.
	Where string
	// What says what was found and what was expected.
	What string
}

func (f Finding) String() string {
	of := "inflated data"
	if f.InFile {
		of = "file"
	}
	s := fmt.Sprintf("offset %#x of the %s: ", f.Off, of)
	if f.Where != "" {
		s += f.Where + ": "
	}
	return s + f.What
}

// File checks a data center against every rule of the format, including rules that no
// reader needs, and yields each breach. It always inflates the file, whatever opts.Index
// holds. A breach that makes the rest unreadable is yielded last. Of several cycles only
// the first one is reported. An error means that the check could not be completed: it comes
// from ctx or r.
func File(ctx context.Context, r io.ReaderAt, size int64, opts form.Options) iter.Seq2[Finding, error] {
	return verify(ctx, r, size, opts, false)
}

// Strict is Verify, but it also yields what the format allows and a careful writer
// avoids: runs that are stored twice; elements, values and slack that nothing refers to;
// a timestamp, which novadrop-dc refuses; and siblings of one name that are not in the order
// of their key definitions. Only this package defines that order, and a file does not say who
// wrote it.
func Strict(ctx context.Context, r io.ReaderAt, size int64, opts form.Options) iter.Seq2[Finding, error] {
	return verify(ctx, r, size, opts, true)
}

func verify(ctx context.Context, r io.ReaderAt, size int64, opts form.Options, strict bool) iter.Seq2[Finding, error] {
	return func(yield func(Finding, error) bool) {
		opts.Index, opts.KeepBlocks = nil, true
		progress := opts.Progress
		if progress != nil { // reading is the first half
			opts.Progress = func(done, total int64) { progress(done, 2*total) }
		}
		f, err := form.Open(ctx, r, size, opts)
		v := &verifier{tree: datacenter.Of(f), file: f, ctx: ctx, strict: strict, progress: progress, yield: func(f Finding) bool { return yield(f, nil) }}
		if err == nil {
			err = v.all()
		}
		if v.stopped {
			return
		}
		if v.fault(err) {
			err = nil
		}
		if err != nil && !v.stopped {
			yield(Finding{}, err)
		}
	}
}

// verifier checks one file. Its methods return an error only for what ends the check.
type verifier struct {
	tree  *datacenter.File
	file  *form.File // what tree keeps
	ctx   context.Context
	yield func(Finding) bool
	// progress is as in Options, or nil, and checked the number of checked nodes.
	progress func(done, total int64)
	checked  int64

	stopped bool // the caller wants no more findings
	strict  bool

	// valueStarts has a bit for each character of the values. It is set where an entry of
	// the table begins or, if the values are assumed to be right, where an attribute says so.
	valueStarts bitmap
	assumed     bool
	// valueHashes has the hash of the string at each character, with hashKnown, or 0. So a
	// string is hashed once, however many attributes refer to it.
	valueHashes []uint16
	// work is how much more data is read before the file is taken for an attack.
	work int64
	// attrsChecked and childrenChecked have, for each place at which a run begins, the
	// length that has been checked. So shared runs are checked once.
	attrsChecked, childrenChecked []uint16
	attrs, reached                bitmap

	seen map[uint16]bool   // names in the current run
	run  []datacenter.Node // the current run of children
}

// errStopped ends the check when the caller wants no more findings.
var errStopped = errors.New("stopped")

const (
	// workFree and workRatio bound how much data is read. Each byte of a real file is read
	// less than twice on average, but overlapping strings and runs let a tiny file claim
	// any amount.
	workFree  = 16 << 20
	workRatio = 8
)

// spend subtracts n from the remaining work.
func (v *verifier) spend(n int) error {
	before := v.work
	v.work -= int64(n) + 1
	if v.work < 0 {
		return form.Badf(0, "its parts overlap so much that the rest is not checked")
	}
	if before>>20 != v.work>>20 { // about each million
		return v.ctx.Err()
	}
	return nil
}

func (v *verifier) all() error {
	v.work = workFree + workRatio*v.file.Stated
	for _, check := range []func() error{
		v.container, v.header, v.segments, v.keys, v.content, v.waste,
	} {
		if err := check(); err != nil {
			return err
		}
		if err := v.ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

// report yields a finding at off of the inflated data.
func (v *verifier) report(off int64, where, format string, args ...any) error {
	return v.finding(Finding{Off: off, Where: where, What: fmt.Sprintf(format, args...)})
}

func (v *verifier) reportFile(off int64, format string, args ...any) error {
	return v.finding(Finding{Off: off, InFile: true, What: fmt.Sprintf(format, args...)})
}

func (v *verifier) finding(f Finding) error {
	if !v.yield(f) {
		v.stopped = true
		return errStopped
	}
	return nil
}

// fault reports an error that is a breach of the format. It returns false for any other
// error, such as a wrong key or a failed read.
func (v *verifier) fault(err error) bool {
	if err == nil {
		return true
	}
	fe, ok := errors.AsType[*form.FormatError](err)
	if !ok || errors.Is(err, form.ErrKey) || errors.Is(err, form.ErrChanged) {
		return false
	}
	what := err.Error()
	if err == error(fe) { //nolint:errorlint // a wrapped one says more than itself
		what = shown.Fault(fe.What, fe.Err)
	}
	return v.finding(Finding{Off: fe.Off, InFile: fe.InFile, Where: fe.Where, What: what}) == nil || v.stopped
}

// container checks the file around the inflated data.
func (v *verifier) container() error {
	f := v.file
	if f.AdlerErr != nil && !v.fault(f.AdlerErr) {
		return f.AdlerErr
	}
	if f.NoAdler {
		if err := v.reportFile(f.Size, "no Adler-32 behind the data"); err != nil {
			return err
		}
	}
	inFile, inflated := f.Trailing()
	if inFile > 0 {
		if err := v.reportFile(f.StreamEnd, "%d bytes behind the end of the zlib stream", inFile); err != nil {
			return err
		}
	}
	if inflated > 0 {
		if err := v.report(f.Regions.End, "", "%d bytes behind the end of the data", inflated); err != nil {
			return err
		}
	}
	marker := f.Regions.Marker
	switch {
	case !f.HasFooter():
		return v.report(f.Regions.End, "", "no footer")
	case marker != 0:
		return v.report(f.Regions.Footer, "", "footer marker %d: want 0", marker)
	}
	return nil
}

func (v *verifier) header() error {
	h := v.file.Header
	want := ""
	switch {
	case h.Timestamp == -1:
	case v.strict:
		want = "-1: novadrop-dc opens no other file"
	case h.Timestamp < 0:
		want = "a Unix time, or -1 for none"
	}
	if want != "" {
		const after = 4 // bytes: the version
		if err := v.report(after, "", "header: timestamp %v: want %s", h.Timestamp, want); err != nil {
			return err
		}
	}
	if h.Unknown1 == 0 && h.Unknown2 == 0 && h.Unknown3 == 0 && h.Unknown4 == 0 && h.Unknown5 == 0 {
		return nil
	}
	return v.report(0, "", "header: unknown fields %d %d %d %d %d: want 0 in each",
		h.Unknown1, h.Unknown2, h.Unknown3, h.Unknown4, h.Unknown5)
}

// segments checks that every element can be addressed. Characters are exempt: a long string
// has a segment of its own, of any length.
func (v *verifier) segments() error {
	r := v.file.Regions
	for _, region := range []struct {
		name string
		segs []form.Segment
	}{{"attributes", r.Attributes}, {"nodes", r.Nodes}} {
		for i, s := range region.segs {
			if s.Used <= form.MaxSegments {
				continue
			}
			err := v.report(s.Off-8, fmt.Sprintf("%s segment %d", region.name, i),
				"%d elements: only the first %d can be addressed", s.Used, form.MaxSegments)
			if err != nil {
				return err
			}
		}
	}
	return v.stringRegions()
}

// stringRegions checks the counts of the string tables.
func (v *verifier) stringRegions() error {
	for i, t := range []form.StringTable{v.file.Regions.Values, v.file.Regions.Names} {
		name := [...]string{"values", "names"}[i]
		if n := len(t.Data); n > form.MaxElements {
			err := v.report(t.Data[0].Off-8, name, "%d segments of characters: want at most %d", n, form.MaxElements)
			if err != nil {
				return err
			}
		}
		var scratch [4]byte
		at := t.Addrs.Off - int64(len(scratch))
		b, err := v.file.View(at, len(scratch), scratch[:])
		if err != nil {
			return err
		}
		if binary.LittleEndian.Uint32(b) == 0 {
			if err := v.report(at, name, "0 addresses: the count is one more than there are"); err != nil {
				return err
			}
		}
	}
	return nil
}

func (v *verifier) keys() error {
	f := v.file
	at := func(i int) int64 { return f.Regions.Keys.Off + int64(i)*form.KeySize }
	switch {
	case len(f.Keys) == 0:
		if err := v.report(at(0), "", "no key definitions: want at least an empty one"); err != nil {
			return err
		}
	case f.Keys[0] != form.KeyNames{}:
		if err := v.report(at(0), "key 0", "not empty: %v", f.KeyDefinition(0)); err != nil {
			return err
		}
	}
	if f.Regions.Keys.Count > form.MaxKeys {
		if err := v.report(at(form.MaxKeys), "", "%d key definitions: at most %d can be used", f.Regions.Keys.Count, form.MaxKeys); err != nil {
			return err
		}
	}
	for i, key := range f.Keys {
		for _, n := range key {
			var err error
			switch {
			case n == 0:
			case int(n) > len(f.Names):
				err = v.report(at(i), fmt.Sprintf("key %d", i), "name index %d: there are %d names", n, len(f.Names))
			case n == f.ValueName:
				err = v.report(at(i), fmt.Sprintf("key %d", i), "%s cannot be a key", form.ValueName)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// Names checks the table of names, and that it ends with the special ones.
func (v *verifier) names() error {
	f := v.file
	if err := v.table("names", f.Regions.Names, nil); err != nil {
		return err
	}
	off := f.Regions.Names.Addrs.Off
	if n := f.Regions.Names.Addrs.Count; n > form.MaxNames {
		if err := v.report(off, "", "%d names: at most %d can be used", n, form.MaxNames); err != nil {
			return err
		}
	}
	want := []string{form.RootName, form.ValueName}
	if n := len(f.Names); n < len(want) || !slices.Equal(f.Names[n-len(want):], want) {
		if err := v.report(off, "names", "the last two are not %s and %s", form.RootName, form.ValueName); err != nil {
			return err
		}
	}
	first := map[string]int{}
	for i, name := range f.Names {
		if j, twice := first[name]; twice {
			err := v.report(off+int64(i)*form.AddressSize, fmt.Sprintf("name %d", i+1), "%q is name %d as well", name, j+1)
			if err != nil {
				return err
			}
			continue
		}
		first[name] = i
	}
	return nil
}

func (v *verifier) values() error {
	v.valueStarts, v.assumed = newBitmap(segmentBases(v.file.Regions.Values.Data)), false
	return v.table("values", v.file.Regions.Values, &v.valueStarts)
}

// bitmap has a bit for each element of a segmented region.
type bitmap struct {
	base []int64
	bits []uint64
}

// segmentBases returns the number of each segment's first element, followed by the number
// of all elements.
func segmentBases(segs []form.Segment) []int64 {
	base := make([]int64, len(segs)+1)
	for i, s := range segs {
		base[i+1] = base[i] + int64(s.Used)
	}
	return base
}

func newBitmap(base []int64) bitmap {
	return bitmap{base: base, bits: make([]uint64, (base[len(base)-1]+63)/64)}
}

// at returns the number of the element at addr; ok is false if there is none.
func (b bitmap) at(addr form.Address) (n int64, ok bool) {
	if int(addr.Segment)+1 >= len(b.base) {
		return 0, false
	}
	n = b.base[addr.Segment] + int64(addr.Element)
	return n, n < b.base[addr.Segment+1]
}

func (b bitmap) has(n int64) bool { return b.bits[n/64]>>(n%64)&1 != 0 }
func (b bitmap) set(n int64)      { b.bits[n/64] |= 1 << (n % 64) }
