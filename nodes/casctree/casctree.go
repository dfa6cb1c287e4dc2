package casctree

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"lorefs/casc"
	"lorefs/internal/cores"
	"lorefs/nodes"
)

// Tree is a storage as a tree. It is safe for parallel use.
type Tree struct {
	st    *casc.Storage
	opts  Options
	table *table
	// top are the entries of the root, configs those of config/.
	top, configs []nodes.Entry
	manifests    []*manifest
	problems     []error
	readers      *readers
	ahead        *readAhead
	// busy is used while files are decoded before anybody asks for them.
	busy      cores.Lease
	partial   partial
	bytes     int64
	described described
	// checked is when the folder was last looked at, in nanoseconds.
	checked atomic.Int64
	started time.Time
	// idPlaces is table.placesOfIDs, made when it is first needed.
	idPlaces func() []uint32
	// localities is the latest locality, nil before the first.
	localities atomic.Pointer[locality]
}

var _ nodes.Tree = (*Tree)(nil)

// New makes the tree of a storage, which must stay open as long as the tree is used. It
// reads the root and the encoding file, or what Options.Index kept of them. The tree lacks
// the parts that are damaged, and Problems returns them.
func New(ctx context.Context, st *casc.Storage, opts Options) (*Tree, error) {
	opts.setDefaults()
	l := loader{st: st, opts: &opts}
	names, problems, err := l.load(ctx)
	if err != nil {
		return nil, fmt.Errorf("casctree: %w", err)
	}
	t := &Tree{st: st, opts: opts, table: names, problems: slices.Concat(st.Problems(), problems), started: time.Now()}
	t.readers, t.ahead = newReaders(t.open), newReadAhead(t)
	t.idPlaces = sync.OnceValue(names.placesOfIDs)
	t.bytes = st.DiskSize()
	for i, f := range st.Configs() {
		t.configs = append(t.configs, nodes.Entry{
			Name: f.Name, ID: makeID(kindConfig, i), Kind: nodes.File, Size: int64(len(f.Data)), Next: uint64(i) + 1,
		})
	}
	if t.manifests, err = findManifests(ctx, st, names, len(problems) == 0); err != nil {
		return nil, fmt.Errorf("casctree: %w", err)
	}
	t.listTop()
	return t, nil
}

// Problems returns the faults in spite of which the tree can be used: those of the storage,
// and what could not be read when the tree was made.
func (t *Tree) Problems() []error { return t.problems }

// RootKind returns the kind of the root, as [casc.Storage.Kind] does.
func (t *Tree) RootKind() string { return t.table.kind }

// Named returns how many files of the root are shown by their names, and how many are not.
func (t *Tree) Named() (named, unnamed int) { return t.table.named, t.table.unnamed }

// listTop makes the entries of the root.
func (t *Tree) listTop() {
	t.top = []nodes.Entry{
		{Name: "casc.json", ID: descriptionID, Kind: nodes.File, Size: int64(len(t.describe(counts{})))},
		{Name: "config", ID: configID, Kind: nodes.Dir},
		{Name: "content", ID: contentID, Kind: nodes.Dir},
		{Name: "manifests", ID: manifestsID, Kind: nodes.Dir},
	}
	if !t.st.IsRemote() { // it would have to be read to be drawn
		t.top = append(t.top, nodes.Entry{Name: pictureName, ID: pictureID, Kind: nodes.File, Size: pictureSize})
	}
	if t.table.nIDs > 0 {
		t.top = append(t.top, nodes.Entry{Name: byIDName, ID: byIDID, Kind: nodes.Dir})
	}
	for in := t.table.dirsIn(0); in.from < in.to; in.from++ {
		t.top = append(t.top, nodes.Entry{Name: string(t.table.dirName(in.from)), ID: dirID(in.from), Kind: nodes.Dir})
	}
	slices.SortFunc(t.top, func(a, b nodes.Entry) int { return cmp.Compare(a.Name, b.Name) })
	for i := range t.top {
		t.top[i].Next = uint64(i) + 1
	}
}

// Usage returns the size of the archives, and the number of files and directories,
// including those that only -o missing shows. Manifests count if they have been looked
// into.
func (t *Tree) Usage() nodes.Usage {
	n := len(t.top) + len(t.configs) + contentDirs + t.table.nDirs + t.table.nFiles
	for _, m := range t.manifests {
		n += 1 + m.known()
	}
	return nodes.Usage{Bytes: t.bytes, Nodes: int64(n)}
}

// Attr implements [nodes.Tree].
func (t *Tree) Attr(ctx context.Context, id nodes.ID) (nodes.Attr, error) {
	if err := ctx.Err(); err != nil {
		return nodes.Attr{}, err
	}
	attr := nodes.Attr{Kind: nodes.Dir, ModTime: t.opts.ModTime}
	if t.isDir(id) {
		return attr, nil
	}
	size, err := t.size(ctx, id)
	attr.Kind, attr.Size = nodes.File, size
	return attr, err
}

// isDir reports whether id is a directory of the tree.
func (t *Tree) isDir(id nodes.ID) bool {
	k, i := splitID(id)
	switch k {
	case kindFixed:
		return id >= nodes.Root && id <= manifestsID || id == byIDID && t.table.nIDs > 0
	case kindDir:
		return i > 0 && i < t.table.nDirs
	case kindContentDir:
		return i < contentDirs
	case kindManifest:
		return i < len(t.manifests)
	}
	return false
}

// size returns the size of a file.
func (t *Tree) size(ctx context.Context, id nodes.ID) (int64, error) {
	k, i := splitID(id)
	switch {
	case id == descriptionID:
		return t.descriptionSize(), nil
	case id == pictureID:
		return pictureSize, nil
	case k == kindFile && i < t.table.nFiles:
		return t.table.entry(i).size(), nil
	case k == kindConfig && i < len(t.configs):
		return t.configs[i].Size, nil
	case k == kindContent:
		row, err := t.row(ctx, id)
		if err != nil {
			return 0, err
		}
		return row.Size(), nil
	case k == kindPage:
		m, page, ok := t.pageOf(i)
		if !ok {
			break
		}
		sizes, err := m.measure(ctx, t)
		if err != nil {
			return 0, err
		}
		if page < len(sizes) {
			return sizes[page], nil
		}
	}
	return 0, nodes.NotExist(id)
}

func (t *Tree) descriptionSize() int64 {
	i := slices.IndexFunc(t.top, func(e nodes.Entry) bool { return e.ID == descriptionID })
	return t.top[i].Size
}

// notDir returns the error for an ID that is no directory.
func (t *Tree) notDir(ctx context.Context, id nodes.ID) error {
	if _, err := t.size(ctx, id); err != nil {
		return err
	}
	return fmt.Errorf("%v: %w", id, nodes.ErrNotDir)
}

// ReadAt implements [nodes.Tree].
func (t *Tree) ReadAt(ctx context.Context, id nodes.ID, p []byte, off int64) (int, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	if t.isDir(id) {
		return 0, fmt.Errorf("%v: %w", id, nodes.ErrIsDir)
	}
	size, err := t.size(ctx, id)
	switch {
	case err != nil:
		return 0, err
	case off < 0:
		return 0, fmt.Errorf("negative offset %d", off)
	}
	var data []byte
	switch k, i := splitID(id); k {
	case kindFixed:
		data, err = t.description(ctx, id)
	case kindConfig:
		data = t.st.Configs()[i].Data
	case kindPage:
		m, page, _ := t.pageOf(i)
		data, err = m.page(ctx, t, page)
	default:
		return t.readFile(ctx, id, size, p, off)
	}
	if err != nil {
		return 0, err
	}
	return nodes.ReadContent(data, p, off)
}

// look checks now and then whether somebody wrote to the storage.
func (t *Tree) look() {
	now, last := int64(time.Since(t.started)), t.checked.Load()
	if t.opts.RefreshEvery < 0 || now-last < int64(t.opts.RefreshEvery) || !t.checked.CompareAndSwap(last, now) {
		return
	}
	if _, err := t.st.Refresh(); err != nil {
		t.opts.Logger.Warn("the storage can't be looked at", "err", err)
	}
}
