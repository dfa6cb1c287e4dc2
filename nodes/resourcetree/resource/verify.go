package resource

import (
	"cmp"
	"errors"
	"io"
	"iter"
	"slices"
	"strings"
)

// Verify yields what breaks the format. If strict is set, it also yields what a careful writer
// avoids: names that Windows can't have or that differ only in case, contents that overlap, and
// bytes that belong to no file. An error comes last, and means that the container could not be
// read.
func Verify(r io.ReaderAt, size int64, strict bool) iter.Seq2[*FormatError, error] {
	return func(yield func(*FormatError, error) bool) {
		d, err := readDirectory(r, size)
		if problem, bad := errors.AsType[*FormatError](err); bad {
			yield(problem, nil)
			return
		}
		if err != nil {
			yield(nil, err)
			return
		}
		var whole []entry
		for e, problem := range d.entries() {
			if problem == nil {
				whole = append(whole, e)
			} else if !yield(problem, nil) {
				return
			}
		}
		if !strict {
			return
		}
		for problem := range d.wasteful(whole) {
			if !yield(problem, nil) {
				return
			}
		}
	}
}

// wasteful yields what a careful writer avoids.
func (d directory) wasteful(entries []entry) iter.Seq[*FormatError] {
	return func(yield func(*FormatError) bool) {
		folded := map[string]string{}
		for _, e := range entries {
			if why := windowsName(e.name); why != "" && !yield(badf(e.at+entrySize, "the name", "%q: want one that Windows can have, but %s", e.name, why)) {
				return
			}
			fold := strings.ToLower(e.name)
			if other, twice := folded[fold]; twice && !yield(badf(e.at+entrySize, "the name", "%q: want one that differs from %q in more than case", e.name, other)) {
				return
			}
			folded[fold] = e.name
		}
		d.ranges(entries, yield)
	}
}

// ranges yields overlaps and gaps of contents.
func (d directory) ranges(entries []entry, yield func(*FormatError) bool) {
	sorted := slices.DeleteFunc(slices.Clone(entries), func(e entry) bool { return e.size == 0 })
	slices.SortStableFunc(sorted, func(a, b entry) int { return cmp.Compare(a.offset, b.offset) })
	end, last := int64(0), ""
	for _, e := range append(sorted, entry{offset: d.at}) {
		switch {
		case e.offset > end:
			if !yield(badf(end, "the contents", "%d bytes belong to no file", e.offset-end)) {
				return
			}
		case e.offset < end:
			if !yield(badf(e.offset, "the contents", "%d bytes of %q belong to %q too", min(end, e.offset+e.size)-e.offset, e.name, last)) {
				return
			}
		}
		if e.offset+e.size > end {
			end, last = e.offset+e.size, e.name
		}
	}
}
