package casctree

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"sort"

	"lorefs/casc/root"
)

// waiting are files without a name, by the number that lists know them by. A list is read
// once and not kept, because it is larger than everything made of it.
type waiting struct {
	files []awaited
	// at is behind what was found last, since lists are mostly sorted.
	at int
}

type awaited struct {
	number uint64
	file   uint32
}

func (w *waiting) add(number uint64, file int) {
	w.files = append(w.files, awaited{number, uint32(file)})
}

func (w *waiting) sort() {
	byNumber := func(a, b awaited) int { return cmp.Or(cmp.Compare(a.number, b.number), cmp.Compare(a.file, b.file)) }
	if !slices.IsSortedFunc(w.files, byNumber) {
		slices.SortFunc(w.files, byNumber)
	}
}

// find returns the files with a number.
func (w *waiting) find(number uint64) []awaited {
	n := len(w.files)
	if w.at > 0 && w.files[w.at-1].number >= number || w.at < n && w.files[w.at].number < number {
		w.at = sort.Search(n, func(i int) bool { return w.files[i].number >= number })
	}
	from := w.at
	for w.at < n && w.files[w.at].number == number {
		w.at++
	}
	return w.files[from:w.at]
}

// wait notes the numbers of a new file. A file without numbers has no name.
func (b *builder) wait(x *buildFile, f *root.File) error {
	i := b.files.len - 1
	switch {
	case f.HasID || f.HasHash:
	case len(f.Spans) > 0:
		return b.showUnnamed(x, f.Spans[0].EKey.String())
	default:
		return b.showUnnamed(x, f.CKey.String())
	}
	x.state |= stateWaiting
	if f.HasID {
		b.ids.add(uint64(f.ID), i)
	}
	if f.HasHash {
		b.hashes.add(f.NameHash, i)
	}
	return nil
}

// sortWaiting must be called when all files wait.
func (b *builder) sortWaiting() {
	b.ids.sort()
	b.hashes.sort()
}

// isWaiting reports whether there are files that a list can name.
func (b *builder) isWaiting() bool { return len(b.ids.files)+len(b.hashes.files) > 0 }

// nameFrom names the files that a list has and no list before it had. The first line for a
// file counts. It returns how many lines there are, and how many are for files of the root.
func (b *builder) nameFrom(ctx context.Context, list iter.Seq2[root.ListLine, error]) (lines, found int, err error) {
	for line, err := range list {
		if err != nil {
			return lines, found, err
		}
		lines++
		var files []awaited
		switch {
		case line.HasID:
			files = b.ids.find(uint64(line.ID))
		case len(b.hashes.files) > 0:
			files = b.hashes.find(root.NameHash(string(line.Name)))
		}
		if len(files) == 0 {
			continue
		}
		found++
		name := cleanName(line.Name)
		for i := 0; i < len(files) && len(name) > 0; i++ {
			x := b.files.at(int(files[i].file))
			if x.state&stateWaiting == 0 {
				continue
			}
			x.state &^= stateWaiting
			if err := b.show(x, name); err != nil {
				return lines, found, err
			}
		}
	}
	return lines, found, ctx.Err()
}

// nameRest gives the files that still wait their numbers for names.
func (b *builder) nameRest() error {
	for _, kind := range []struct {
		*waiting
		form string
	}{{&b.ids, formatID}, {&b.hashes, formatHash}} {
		for _, f := range kind.files {
			x := b.files.at(int(f.file))
			if x.state&stateWaiting == 0 {
				continue
			}
			x.state &^= stateWaiting
			if err := b.showUnnamed(x, fmt.Sprintf(kind.form, f.number)); err != nil {
				return err
			}
		}
	}
	b.hashes = waiting{}
	return nil
}

// cleanName returns a name of a list file with slashes only, and none at its beginning.
func cleanName(name []byte) []byte {
	for i, c := range name {
		if c == '\\' {
			name[i] = '/'
		}
	}
	for len(name) > 0 && name[0] == '/' {
		name = name[1:]
	}
	return name
}
