package casctree

import (
	"bytes"
	"context"
	"iter"
	"strconv"
	"strings"

	"lorefs/nodes"
)

// Lookup implements [nodes.Tree].
func (t *Tree) Lookup(ctx context.Context, dir nodes.ID, name string) (nodes.Entry, error) {
	if err := ctx.Err(); err != nil {
		return nodes.Entry{}, err
	}
	if !t.isDir(dir) {
		return nodes.Entry{}, t.notDir(ctx, dir)
	}
	t.look()
	e, err := nodes.Entry{}, nodes.NotExist(strconv.Quote(name))
	if !isLegal(name) {
		return e, err
	}
	switch k, i := splitID(dir); {
	case dir == nodes.Root:
		return among(t.top, name)
	case dir == configID:
		return among(t.configs, name)
	case dir == contentID:
		return t.findContentDir(name)
	case dir == manifestsID:
		return among(t.manifestEntries(), name)
	case dir == byIDID:
		return t.findByID(name)
	case k == kindDir:
		if e, ok := t.find(i, name); ok {
			return e, nil
		}
	case k == kindContentDir:
		return t.findContent(ctx, i, name)
	case k == kindManifest:
		return t.findPage(ctx, i, name)
	}
	return e, err
}

// among finds an entry by name: an exact match, or else one that differs only in case.
func among(entries []nodes.Entry, name string) (nodes.Entry, error) {
	folded := -1
	for i := range entries {
		if entries[i].Name == name {
			folded = i
			break
		}
		if folded < 0 && strings.EqualFold(entries[i].Name, name) {
			folded = i
		}
	}
	if folded < 0 {
		return nodes.Entry{}, nodes.NotExist(strconv.Quote(name))
	}
	e := entries[folded]
	e.Next = 0
	return e, nil
}

// find finds an entry of a directory of the table.
func (t *Tree) find(dir int, name string) (nodes.Entry, bool) {
	var space [maxName]byte
	b := append(space[:0], name...)
	d, dFolded := find(t.table.dirsIn(dir), b, t.table.dirName)
	f, fFolded := find(t.table.filesIn(dir), b, t.table.fileName)
	switch {
	case d >= 0:
		return t.dirEntry(d), true
	case f >= 0 && t.shown(f):
		return t.fileEntry(f), true
	case dFolded >= 0:
		return t.dirEntry(dFolded), true
	}
	// Take the first local file if several differ only in case.
	for i := fFolded; i >= 0 && i < t.table.filesIn(dir).to && compareFolded(t.table.fileName(i), b) == 0; i++ {
		if t.shown(i) {
			return t.fileEntry(i), true
		}
	}
	return nodes.Entry{}, false
}

func (t *Tree) dirEntry(i int) nodes.Entry {
	return nodes.Entry{Name: string(t.table.dirName(i)), ID: dirID(i), Kind: nodes.Dir}
}

func (t *Tree) fileEntry(i int) nodes.Entry {
	return nodes.Entry{Name: string(t.table.fileName(i)), ID: makeID(kindFile, i), Kind: nodes.File, Size: t.table.entry(i).size()}
}

// shown reports whether a file is listed: all files are with Options.Missing, else local
// ones. A stand-in is listed if it is local and the file for which it stands is not. That file
// is then not listed if both have one name.
func (t *Tree) shown(i int) bool {
	switch {
	case t.standsIn(i):
		preferred := t.preferredTo(i)
		return t.local(i) && (preferred < 0 || !t.local(preferred))
	case t.local(i):
		return true
	}
	return t.opts.Missing && t.firstStandIn(i) < 0
}

func (t *Tree) standsIn(i int) bool { return t.table.entry(i).flags()&flagStandIn != 0 }

// preferredTo returns the file that is shown in place of a stand-in if it is local: the first of
// its name, or a stand-in of that name that comes before it. A stand-in whose name ends with its
// language has the file of the wanted language. It returns -1 if there is none.
func (t *Tree) preferredTo(i int) int {
	name, in := t.table.fileName(i), t.table.filesIn(t.table.dirOf(i))
	first, _ := find(in, name, t.table.fileName)
	if first < i {
		if other := t.firstStandIn(first); other >= 0 && other < i {
			return other
		}
		return first
	}
	wanted := append(bytes.Clone(name[:bytes.LastIndexByte(name, ':')+1]), t.st.PreferredLocale().String()...)
	exact, folded := find(in, wanted, t.table.fileName)
	return max(exact, folded)
}

// firstStandIn returns the first local file that stands for a file of the same name, or -1.
func (t *Tree) firstStandIn(i int) int {
	for k := i + 1; k < t.table.nFiles && t.standsIn(k) && bytes.Equal(t.table.fileName(k), t.table.fileName(i)); k++ {
		if t.local(k) && t.table.dirOf(k) == t.table.dirOf(i) {
			return k
		}
	}
	return -1
}

// ReadDir implements [nodes.Tree].
func (t *Tree) ReadDir(ctx context.Context, dir nodes.ID, cursor uint64) iter.Seq2[nodes.Entry, error] {
	return func(yield func(nodes.Entry, error) bool) {
		err := ctx.Err()
		if err == nil && !t.isDir(dir) {
			err = t.notDir(ctx, dir)
		}
		if err != nil {
			yield(nodes.Entry{}, err)
			return
		}
		t.look()
		switch k, i := splitID(dir); {
		case dir == nodes.Root:
			yieldFrom(t.top, cursor, yield)
		case dir == configID:
			yieldFrom(t.configs, cursor, yield)
		case dir == contentID:
			listContentDirs(cursor, yield)
		case dir == manifestsID:
			yieldFrom(t.manifestEntries(), cursor, yield)
		case k == kindDir:
			t.list(ctx, i, cursor, yield)
		case k == kindManifest:
			t.listPages(ctx, i, cursor, yield)
		}
	}
}

// yieldFrom lists entries whose cursors are their places plus 1.
func yieldFrom(entries []nodes.Entry, cursor uint64, yield func(nodes.Entry, error) bool) {
	for i := min(cursor, uint64(len(entries))); i < uint64(len(entries)); i++ {
		if !yield(entries[i], nil) {
			return
		}
	}
}

// list lists a directory of the table. A cursor has the number of directories before it in
// bits 63 to 32, and the number of files below.
func (t *Tree) list(ctx context.Context, dir int, cursor uint64, yield func(nodes.Entry, error) bool) {
	dirs, files := t.table.dirsIn(dir), t.table.filesIn(dir)
	d := dirs.from + int(min(cursor>>32, uint64(dirs.len())))
	f := files.from + int(min(cursor&(1<<32-1), uint64(files.len())))
	for d < dirs.to || f < files.to {
		var e nodes.Entry
		if f == files.to || d < dirs.to && compareNames(t.table.dirName(d), t.table.fileName(f)) <= 0 {
			e = t.dirEntry(d)
			d++
		} else {
			f++
			if !t.shown(f - 1) {
				if f&(1<<12-1) == 0 && ctx.Err() != nil {
					yield(nodes.Entry{}, ctx.Err())
					return
				}
				continue
			}
			e = t.fileEntry(f - 1)
		}
		e.Next = uint64(d-dirs.from)<<32 | uint64(f-files.from)
		if !yield(e, nil) {
			return
		}
	}
}
