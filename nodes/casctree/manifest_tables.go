package casctree

import (
	"context"
	"errors"
	iofs "io/fs"
	"slices"
	"strconv"
	"sync"

	"lorefs/casc"
	"lorefs/casc/index"
	"lorefs/casc/keys"
	"lorefs/nodes"
)

// tableManifests returns the tables that say where files are: the local index, the indexes
// of archives, and shmem.
func tableManifests(st *casc.Storage) (found []*manifest, err error) {
	for range st.Indexes() {
		indexes := sync.OnceValue(func() (all []*index.Idx) {
			for _, x := range st.Indexes() {
				all = append(all, x)
			}
			return all
		})
		found = append(found, &manifest{name: "idx", walk: idxLines(indexes), units: func(context.Context) (int, error) { return countIdx(indexes()) }})
		break
	}
	indexes, err := st.IndexNames()
	if err != nil {
		return nil, err
	}
	if len(indexes) > 0 {
		found = append(found, &manifest{name: "index", walk: indexLines(st, indexes), units: func(ctx context.Context) (int, error) { return countIndexes(ctx, st, indexes) }})
	}
	shmem, damaged := st.Shmem()
	switch {
	case damaged == nil:
		found = append(found, &manifest{name: "shmem", walk: shmemLines(shmem)})
	case errors.Is(damaged, iofs.ErrNotExist):
	default:
		// Nothing depends on it, so the error is shown to whoever looks into it.
		found = append(found, &manifest{name: "shmem", walk: func(context.Context, int, eachLine) error { return damaged }})
	}
	return found, nil
}

// idxLines walks the local index as it was when it was first looked into, so that sizes
// stay. Updates mostly put other files beside the open ones.
func idxLines(indexes func() []*index.Idx) walker {
	return func(ctx context.Context, from int, each eachLine) error {
		var l line
		i := -1
		for _, x := range indexes() {
			entries, err := sortedEntries(x)
			if err != nil {
				return err
			}
			for _, e := range entries {
				if i++; i < from {
					continue
				}
				if i&(entriesPerFile-1) == 0 && ctx.Err() != nil {
					return ctx.Err()
				}
				l.begin()
				l.number("bucket", int64(x.Bucket))
				l.hex("ekey", e.Key[:])
				l.number("archive", int64(e.Archive))
				l.number("offset", e.Off)
				l.number("size", e.Size)
				if e.Status != 0 {
					l.number("status", int64(e.Status))
				}
				if !each(i, l.end()) {
					return nil
				}
			}
		}
		return nil
	}
}

// countIdx counts the entries of the local index.
func countIdx(indexes []*index.Idx) (n int, err error) {
	for _, x := range indexes {
		for _, err := range x.Entries() {
			if err != nil {
				return 0, idxError(err)
			}
			n++
		}
	}
	return n, nil
}

func idxError(err error) error {
	if errors.Is(err, casc.ErrChanged) {
		return nodes.Mark(err, nodes.ErrChanged)
	}
	return err
}

// sortedEntries returns the entries of an index by key. The update section is not sorted.
func sortedEntries(x *index.Idx) (entries []index.IdxEntry, err error) {
	for e, err := range x.Entries() {
		if err != nil {
			return nil, idxError(err)
		}
		entries = append(entries, e)
	}
	slices.SortFunc(entries, func(a, b index.IdxEntry) int { return slices.Compare(a.Key[:], b.Key[:]) })
	return entries, nil
}

func indexLines(st *casc.Storage, names []keys.Key) walker {
	return func(ctx context.Context, from int, each eachLine) error {
		var l line
		i := 0
		for _, name := range names {
			if err := ctx.Err(); err != nil {
				return err
			}
			x, err := st.ReadIndex(ctx, name)
			if err != nil {
				if i++; i > from && !each(i-1, indexError(&l, name, err)) {
					return nil
				}
				continue
			}
			if i+x.Len() <= from {
				i += x.Len()
				continue
			}
			for e := range x.Entries() {
				if i++; i <= from {
					continue
				}
				l.begin()
				l.key("index", name)
				l.key("ekey", e.Key)
				l.number("archive", int64(e.Archive))
				l.number("offset", e.Off)
				l.number("size", e.Size)
				if !each(i-1, l.end()) {
					return nil
				}
			}
		}
		return nil
	}
}

// countIndexes counts the lines of indexLines.
func countIndexes(ctx context.Context, st *casc.Storage, names []keys.Key) (n int, err error) {
	for _, name := range names {
		if x, err := st.ReadIndex(ctx, name); err == nil {
			n += x.Len()
		} else {
			n++ // the line that says why
		}
	}
	return n, nil
}

// indexError makes a line in place of an index that can't be read.
func indexError(l *line, name keys.Key, err error) []byte {
	l.begin()
	l.key("index", name)
	l.text("error", err.Error())
	return l.end()
}

func shmemLines(m *index.Shmem) walker {
	return func(ctx context.Context, from int, each eachLine) error {
		return numbered(ctx, from, 1+len(m.Free), each, func(l *line, i int) {
			if i > 0 {
				f := &m.Free[i-1]
				l.number("free_archive", int64(f.Archive))
				l.number("offset", f.Off)
				l.number("size", f.Size)
				return
			}
			l.number("version", int64(m.Version))
			l.text("data_path", m.DataPath)
			l.name("idx_versions")
			for b, v := range m.Versions {
				*l = append(*l, "[,"[min(b, 1)])
				*l = strconv.AppendUint(*l, uint64(v), 10)
			}
			*l = append(*l, ']')
		})
	}
}
