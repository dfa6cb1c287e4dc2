package cascdiff

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"sort"

	"lorefs/casc"
	"lorefs/casc/keys"
	"lorefs/casc/root"
)

// Kind says how a file differs.
type Kind string

// The kinds of differences.
const (
	Added   Kind = "added"
	Removed Kind = "removed"
	Changed Kind = "changed"
	// Unsure means that the roots have only encoding keys to compare, and these differ: the
	// file was changed, or only encoded anew.
	Unsure Kind = "changed_or_encoded_anew"
)

// Difference is a file that differs.
type Difference struct {
	Kind Kind
	// File is the file in the new root, or in the old one if it was removed. A file without a
	// name has the one that Options.Lists have for it.
	File root.File
	// Old and New are the content keys that the file has in one of the roots only or, of an
	// Unsure one, the encoding keys. They lack files that are put together of parts.
	Old, New []keys.Key
}

// Options are the options of Compare.
type Options struct {
	// Lists open lists of names, of lines ID;NAME or NAME, for roots without names. The first
	// list that has a name counts.
	Lists []func() (io.ReadCloser, error)
	// Records is how many files of both roots are compared at a time. Default: 1,000,000,
	// which take 50 MB.
	Records int
}

const defaultRecords = 1_000_000

// Compare yields the files that differ between two builds. Added and changed files come in the
// order of the new root, then those that were removed in the order of the old one; with more
// than Options.Records files this is repeated for each part. An error comes last. Faults of the
// roots that did not end the comparison are in the RootFaults of the storages.
func Compare(ctx context.Context, old, now *casc.Storage, o Options) iter.Seq2[Difference, error] {
	if o.Records <= 0 {
		o.Records = defaultRecords
	}
	return func(yield func(Difference, error) bool) {
		c := &comparison{ctx: ctx, old: old, now: now, opts: o, parts: 1, yield: yield}
		for part := uint32(0); part < c.parts; part++ {
			if err := c.run(part); err != nil {
				if !errors.Is(err, errStopped) {
					yield(Difference{}, err)
				}
				return
			}
		}
	}
}

var errStopped = errors.New("the caller has enough")

type comparison struct {
	ctx      context.Context //nolint:containedctx // it lives as long as Compare
	old, now *casc.Storage
	opts     Options
	// parts is the number of parts, a power of two. It grows while the first is collected.
	parts uint32
	yield func(Difference, error) bool

	// before and after are the records of a part in the old and in the new root, sorted, later
	// only those of files that differ.
	before, after []record
	// said says of the first record of a file in before or after that the file was yielded.
	saidBefore, saidAfter []bool
	names                 names
}

// run compares a part.
func (c *comparison) run(part uint32) error {
	c.before, c.after = c.before[:0], c.after[:0]
	if err := c.collect(c.old, &part, &c.before); err != nil {
		return fmt.Errorf("the old build: %w", err)
	}
	if err := c.collect(c.now, &part, &c.after); err != nil {
		return fmt.Errorf("the new build: %w", err)
	}
	c.before, c.after = sortRecords(c.before), sortRecords(c.after)
	c.dropSame()
	if len(c.before)+len(c.after) == 0 {
		return nil
	}
	c.saidBefore, c.saidAfter = make([]bool, len(c.before)), make([]bool, len(c.after))
	if err := c.findNames(); err != nil {
		return err
	}
	for f, err := range c.walk(c.now) {
		if err == nil {
			err = c.tellNew(&f)
		}
		if err != nil {
			return err
		}
	}
	for f, err := range c.walk(c.old) {
		if err == nil {
			err = c.tellRemoved(&f)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// walk yields the files of a root until the context ends.
func (c *comparison) walk(st *casc.Storage) iter.Seq2[root.File, error] {
	return func(yield func(root.File, error) bool) {
		for f, err := range st.Walk(c.ctx) {
			if err == nil {
				err = c.ctx.Err()
			}
			if !yield(f, err) || err != nil {
				return
			}
		}
	}
}

// collect adds the records of a part of a root. If there are too many, it makes smaller parts.
func (c *comparison) collect(st *casc.Storage, part *uint32, to *[]record) error {
	for f, err := range c.walk(st) {
		if err != nil {
			return err
		}
		r := recordOf(&f)
		if r.id.part(c.parts) != *part {
			continue
		}
		*to = append(*to, r)
		for len(c.before)+len(c.after) > c.opts.Records && *part == 0 {
			if c.parts *= 2; c.parts > maxParts {
				return fmt.Errorf("more than %d files of few names", c.opts.Records)
			}
			other := func(r record) bool { return r.id.part(c.parts) != 0 }
			c.before, c.after = slices.DeleteFunc(c.before, other), slices.DeleteFunc(c.after, other)
		}
	}
	return nil
}

// maxParts is more than any root needs whose files differ in name.
const maxParts = 1 << 16

// dropSame drops the records of files that are the same in both roots.
func (c *comparison) dropSame() {
	b, a := c.before, c.after
	before, after := b[:0], a[:0]
	for len(b) > 0 && len(a) > 0 {
		x, y := group(b), group(a)
		switch order := bytes.Compare(x[0].id[:], y[0].id[:]); {
		case order < 0:
			before, b = append(before, x...), b[len(x):]
		case order > 0:
			after, a = append(after, y...), a[len(y):]
		default:
			b, a = b[len(x):], a[len(y):]
			if compare(x, y) != same {
				before, after = append(before, x...), append(after, y...)
			}
		}
	}
	c.before, c.after = append(before, b...), append(after, a...)
}

// find returns the records of a file, and the number of the first.
func find(r []record, id identity) (found []record, at int) {
	at = sort.Search(len(r), func(i int) bool { return bytes.Compare(r[i].id[:], id[:]) >= 0 })
	if at == len(r) || r[at].id != id {
		return nil, at
	}
	return group(r[at:]), at
}

// tellNew yields a file of the new root that differs, once.
func (c *comparison) tellNew(f *root.File) error {
	r := recordOf(f)
	now, at := find(c.after, r.id)
	if now == nil || c.saidAfter[at] {
		return nil
	}
	before, _ := find(c.before, r.id)
	d := Difference{Kind: Added}
	if before != nil {
		v := compare(before, now)
		key := func(r record) keys.Key { return r.content }
		if d.Kind = Changed; v == unsure {
			d.Kind, key = Unsure, func(r record) keys.Key { return r.code }
		}
		// Of several files the one is named that is new.
		isNew := func(r record) bool {
			return !slices.ContainsFunc(before, func(b record) bool { return key(b) == key(r) })
		}
		if !isNew(r) && slices.ContainsFunc(now, isNew) {
			return nil
		}
	}
	c.saidAfter[at] = true
	d.Old, d.New = ofKind(before, now, d.Kind), ofKind(now, before, d.Kind)
	return c.tell(&d, f)
}

// tellRemoved yields a file of the old root that the new one does not have, once.
func (c *comparison) tellRemoved(f *root.File) error {
	r := recordOf(f)
	before, at := find(c.before, r.id)
	if before == nil || c.saidBefore[at] {
		return nil
	}
	c.saidBefore[at] = true
	if now, _ := find(c.after, r.id); now != nil {
		return nil
	}
	return c.tell(&Difference{Kind: Removed, Old: ofKind(before, nil, Removed)}, f)
}

func (c *comparison) tell(d *Difference, f *root.File) error {
	d.File = *f
	c.names.name(&d.File)
	if !c.yield(*d, nil) {
		return errStopped
	}
	return nil
}

// ofKind returns the keys that only the records in a have.
func ofKind(a, b []record, kind Kind) (all []keys.Key) {
	key := func(r record) keys.Key { return r.content }
	if kind == Unsure || slices.ContainsFunc(a, func(r record) bool { return r.content.IsZero() }) {
		key = func(r record) keys.Key { return r.code }
	}
	for _, r := range a {
		k := key(r)
		if !k.IsZero() && !slices.Contains(all, k) && !slices.ContainsFunc(b, func(r record) bool { return key(r) == k }) {
			all = append(all, k)
		}
	}
	return all
}
