package worldtree

import (
	"context"
	"errors"
	"fmt"
	iofs "io/fs"
	"iter"
	"strconv"
	"strings"

	"lorefs/geometry"
	"lorefs/geometry/picture"
	"lorefs/internal/cores"
	"lorefs/nodes"
)

// Tree is a folder of world geometry as a tree. It is safe for parallel use.
type Tree struct {
	fsys iofs.FS
	opts Options
	// sources are those of all kinds; byKey and byName find them.
	sources []*source
	byKey   map[uint64]*source
	byName  map[kind]map[string]*source
	folders []folder
	usage   nodes.Usage
	leftOut []LeftOut
	// missing is the content of missingName, or "".
	missing string
	// mosaic is where zones lie in world.png; nil without zones.
	mosaic *picture.Mosaic
	// unfiled are the areas of Options.Named that have no file.
	unfiled []NamedArea
	// world has what is known of the pictures of the world.
	world worldPictures
	// decoding limits how many files are decoded at once: each takes some 10 MB beside the
	// cache.
	decoding chan struct{}
	last     lastBlocks
	listing  listing
	// writable is set for the tree of an Editable.
	writable bool
}

var _ nodes.Tree = (*Tree)(nil)

// New makes the tree of the files in the root of fsys, from which it reads as long as it is
// used. New reads only the folder, and the size and time of each file.
func New(fsys iofs.FS, opts Options) (*Tree, error) {
	opts.setDefaults()
	if opts.ModTime.IsZero() {
		info, err := iofs.Stat(fsys, ".")
		if err != nil {
			return nil, err
		}
		opts.ModTime = info.ModTime()
	}
	c := scanner{opts: &opts}
	sources, err := c.scan(fsys)
	if err != nil {
		return nil, err
	}
	t := &Tree{
		fsys: fsys, opts: opts, sources: sources, leftOut: c.leftOut,
		byKey:    make(map[uint64]*source, len(sources)),
		byName:   map[kind]map[string]*source{zone: {}, area: {}},
		decoding: make(chan struct{}, cores.Count()),
	}
	for _, s := range sources {
		t.byKey[s.key] = s
		t.byName[s.kind][s.name] = s
		t.usage.Bytes += s.now().size
	}
	if opts.Missing != nil {
		t.missing = opts.Missing(t.Files())
	}
	t.unfiled = t.withoutFile(opts.Named)
	t.layOut()
	t.folders = t.makeFolders()
	t.usage.Nodes = t.count()
	t.load()
	return t, nil
}

// Usage returns the size of the files, and the number of files and directories in the tree.
func (t *Tree) Usage() nodes.Usage { return t.usage }

// decode reads and decodes a source.
func (t *Tree) decode(s *version) ([]byte, error) {
	t.decoding <- struct{}{}
	defer func() { <-t.decoding }()
	image, err := t.tryDecode(s)
	if err == nil {
		return image, nil
	}
	err = fmt.Errorf("%s: %w", s.file, err)
	_, bad := errors.AsType[*geometry.FormatError](err)
	if bad || errors.Is(err, nodes.ErrChanged) {
		// The error stays, so that nobody decodes the file again.
		if s.made.broken.CompareAndSwap(nil, &err) {
			t.opts.Logger.Warn("a file cannot be shown", "error", err)
		}
	}
	return nil, err
}

func (t *Tree) tryDecode(s *version) ([]byte, error) {
	data, own := []byte(nil), s.edit == nil
	if own {
		var err error
		if data, err = s.read(t.fsys); err != nil {
			return nil, err
		}
	} else {
		data = s.edit.packed
	}
	image, sum, err := decodeFile(s.kind, data)
	if err != nil {
		return nil, err
	}
	if own {
		s.rememberDecoded(data, sum)
	}
	return s.edit.apply(image)
}

func decodeFile(k kind, data []byte) (image []byte, sum totals, err error) {
	if k == zone {
		z, err := geometry.DecodeZone(data, geometry.DecodeOptions{})
		if err != nil {
			return nil, sum, err
		}
		return z.Image(), totalsOfZone(z), nil
	}
	a, err := geometry.DecodeArea(data, geometry.DecodeOptions{})
	if err != nil {
		return nil, sum, err
	}
	return a.Image(), totalsOfArea(a), nil
}

// size returns the size of a view's file. The error only says that the search for it was ended:
// see viewState.
func (t *Tree) size(ctx context.Context, s *version, v view) (int64, error) {
	if size := forms[v].size; size != nil {
		return int64(size(t, s.source)), nil
	}
	state := &s.made.views[v]
	if n := state.size.Load(); n > 0 {
		return n, nil
	}
	state.mu.Lock()
	defer state.mu.Unlock()
	n, err := t.findSize(ctx, s, v)
	if ctx.Err() != nil {
		return 0, ctx.Err()
	}
	if errors.Is(err, context.Canceled) {
		return 0, err // reads from a server were ended for others, which says nothing of the file
	}
	if err != nil {
		state.failed, n = err, max(s.size, 1)
		state.size.Store(n)
	}
	return n, nil
}

// findSize returns the size of a view's file, and keeps it. It keeps no failure: that is for those
// who tell a program of the file. The caller holds the lock of the view's state.
func (t *Tree) findSize(ctx context.Context, s *version, v view) (int64, error) {
	if n := t.knownSize(s, v); n != nodes.UnknownSize {
		return n, nil
	}
	n, err := t.measure(ctx, s, v)
	if err == nil && ctx.Err() == nil {
		s.made.views[v].size.Store(n)
	}
	return n, err
}

// knownSize returns the size of a view's file if it is known without decoding, or this or an
// earlier run found it out, else nodes.UnknownSize.
func (t *Tree) knownSize(s *version, v view) int64 {
	if size := forms[v].size; size != nil {
		return int64(size(t, s.source))
	}
	state := &s.made.views[v]
	if n := state.size.Load(); n > 0 {
		return n
	}
	if m := t.recall(s); m != nil && m.Views[v] > 0 {
		state.size.CompareAndSwap(0, m.Views[v])
		return state.size.Load()
	}
	return nodes.UnknownSize
}

func (t *Tree) measure(ctx context.Context, s *version, v view) (int64, error) {
	if forms[v].text == nil {
		data, err := t.content(ctx, s, v)
		return int64(len(data)), err
	}
	offsets, err := t.offsets(ctx, s, v)
	if err != nil {
		return 0, err
	}
	return offsets.Size(), nil
}

// Attr implements [nodes.Tree].
func (t *Tree) Attr(ctx context.Context, id nodes.ID) (nodes.Attr, error) {
	n, err := t.node(ctx, id)
	if err != nil {
		return nodes.Attr{}, err
	}
	attr := nodes.Attr{Kind: n.kind(), ModTime: t.opts.ModTime, Writable: t.canWrite(n)}
	if n.source != nil {
		attr.ModTime = n.source.now().shown
	} else if n.root.drawn() {
		attr.ModTime = t.drawnAt()
	}
	if attr.Kind == nodes.File {
		attr.Size, err = t.fileSize(ctx, n)
	}
	return attr, err
}

func (t *Tree) fileSize(ctx context.Context, n node) (int64, error) {
	if n.root != notRoot {
		return t.rootSize(n.root), nil
	}
	return t.versionSize(ctx, n.source.now(), n)
}

// versionSize returns the size of a version's node.
func (t *Tree) versionSize(ctx context.Context, s *version, n node) (int64, error) {
	if n.square < 0 {
		t.measureNext(s, n.view)
		return t.size(ctx, s, n.view)
	}
	// Listing a directory makes all squares once; doing that for a single one would take a
	// thousand times as long as making it.
	text, err := t.square(ctx, s, n.square)
	return int64(len(text)), err
}

// squareSize returns the size of a square's file.
func squareSize(offsets geometry.Offsets, square int) int64 {
	return offsets.At(square+1) - offsets.At(square)
}

// ReadAt implements [nodes.Tree].
func (t *Tree) ReadAt(ctx context.Context, id nodes.ID, p []byte, off int64) (int, error) {
	n, err := t.node(ctx, id)
	switch {
	case err != nil:
		return 0, err
	case n.kind() == nodes.Dir:
		return 0, fmt.Errorf("%v: %w", id, nodes.ErrIsDir)
	case off < 0:
		return 0, fmt.Errorf("negative offset %d", off)
	case n.root != notRoot:
		return t.readRoot(ctx, n.root, p, off)
	}
	return t.readVersion(ctx, n.source.now(), n, p, off)
}

// canWrite reports whether a node can be changed.
func (t *Tree) canWrite(n node) bool { return t.writable && (n.editable() || n.hasEditable()) }

// readVersion reads a version's node.
func (t *Tree) readVersion(ctx context.Context, s *version, n node, p []byte, off int64) (int, error) {
	if n.square >= 0 {
		return t.readSquare(ctx, s, n.square, p, off)
	}
	return t.readView(ctx, s, n.view, p, off)
}

// readView reads a view of a version.
func (t *Tree) readView(ctx context.Context, s *version, v view, p []byte, off int64) (int, error) {
	// Find the size first, so that a view whose size could not be found out fails now too.
	size, err := t.size(ctx, s, v)
	if err != nil {
		return 0, err
	}
	if err := s.made.views[v].failed; err != nil {
		return 0, err
	}
	if forms[v].text == nil {
		data, err := t.content(ctx, s, v)
		if err == nil {
			err = s.mustHave(v, size, int64(len(data)))
		}
		if err != nil {
			return 0, err
		}
		return nodes.ReadContent(data, p, off)
	}
	offsets, err := t.offsets(ctx, s, v)
	if err == nil {
		err = s.mustHave(v, size, offsets.Size())
	}
	if err != nil {
		return 0, err
	}
	text, err := t.text(ctx, s, v)
	if err != nil {
		return 0, err
	}
	return geometry.ReadTextAt(text, offsets, p, off)
}

// mustHave returns an error if a remembered size is wrong: nobody may read a file that is
// cut off there.
func (s *version) mustHave(v view, told, got int64) error {
	if told == got {
		return nil
	}
	s.forget()
	return fmt.Errorf("%s: %s has %d bytes where %d were remembered: mount it anew", s.file, s.name+forms[v].ext, got, told)
}

// square returns the text of a square.
func (t *Tree) square(ctx context.Context, s *version, square int) ([]byte, error) {
	image, err := t.image(ctx, s)
	if err != nil {
		return nil, err
	}
	z, err := geometry.ZoneOfImage(image)
	if err != nil {
		return nil, err
	}
	return geometry.AppendSquareJSON(nil, z, square, s.at, t.opts.Origin(s.at)), nil
}

func (t *Tree) readSquare(ctx context.Context, s *version, square int, p []byte, off int64) (int, error) {
	text, err := t.square(ctx, s, square)
	if err != nil {
		return 0, err
	}
	return nodes.ReadContent(text, p, off)
}

// Lookup implements [nodes.Tree].
func (t *Tree) Lookup(ctx context.Context, dir nodes.ID, name string) (nodes.Entry, error) {
	n, err := t.node(ctx, dir)
	if err != nil {
		return nodes.Entry{}, err
	}
	var found int
	switch {
	case n.kind() != nodes.Dir:
		return nodes.Entry{}, fmt.Errorf("%v: %w", dir, nodes.ErrNotDir)
	case n.source != nil:
		found = squareNamed(name)
	default:
		found = t.placeIn(n.folder, name)
	}
	if found < 0 {
		return nodes.Entry{}, nodes.NotExist(strconv.Quote(name))
	}
	e := t.entry(n, found)
	e.Next = 0
	if n.source != nil {
		return nodes.WithSize(ctx, t, e) // a zone that can't be read has no squares
	}
	return e, nil
}

// placeIn returns the place of the entry of a folder with that name, or -1.
func (t *Tree) placeIn(f *folder, name string) int {
	for i, sub := range f.subs {
		if t.folders[sub].name == name {
			return i
		}
	}
	for i, file := range f.files {
		if file.name() == name {
			return node{folder: f, square: -1}.entries() - len(f.files) + i
		}
	}
	lower := strings.ToLower(name)
	for i, v := range f.views {
		s, ok := t.byName[forms[v].of][strings.TrimSuffix(lower, forms[v].ext)]
		if !ok || !strings.HasSuffix(lower, forms[v].ext) || (v.kindOf() == nodes.Dir && lower != name) {
			continue
		}
		return len(f.subs) + (s.index-f.sources[0].index)*len(f.views) + i
	}
	return -1
}

// ReadDir implements [nodes.Tree]. A cursor is the place of an entry.
func (t *Tree) ReadDir(ctx context.Context, dir nodes.ID, cursor uint64) iter.Seq2[nodes.Entry, error] {
	return func(yield func(nodes.Entry, error) bool) {
		n, err := t.node(ctx, dir)
		if err == nil && n.kind() != nodes.Dir {
			err = fmt.Errorf("%v: %w", dir, nodes.ErrNotDir)
		}
		if err != nil {
			yield(nodes.Entry{}, err)
			return
		}
		if n.source != nil {
			t.listSquares(ctx, n, cursor, yield)
			return
		}
		for i := cursor; i < uint64(n.entries()); i++ {
			if !yield(t.entry(n, int(i)), nil) {
				return
			}
		}
	}
}

// listSquares yields the squares of a zone. It needs only their offsets, and reads these
// once, whatever the cache keeps.
func (t *Tree) listSquares(ctx context.Context, dir node, cursor uint64, yield func(nodes.Entry, error) bool) {
	s := dir.source.now()
	if cursor == 0 {
		t.measureNext(s, zoneSquares)
	}
	offsets, err := t.offsets(ctx, s, zoneSquares)
	if err != nil {
		yield(nodes.Entry{}, err)
		return
	}
	for i := cursor; i < geometry.ZoneSquares; i++ {
		square := t.child(dir, int(i))
		e := nodes.Entry{
			Name: square.name(), ID: square.id(), Kind: nodes.File,
			Size: squareSize(offsets, int(i)), ModTime: s.shown, Writable: t.writable, Next: i + 1,
		}
		if !yield(e, nil) {
			return
		}
	}
}

// entry returns the entry at a place in a directory. It decodes nothing: if the size is not
// known Attr will find it.
func (t *Tree) entry(dir node, i int) nodes.Entry {
	child := t.child(dir, i)
	e := nodes.Entry{
		Name: child.name(), ID: child.id(), Kind: child.kind(), ModTime: t.opts.ModTime,
		Writable: t.canWrite(child), Next: uint64(i) + 1,
	}
	if child.source != nil {
		e.ModTime = child.source.now().shown
	} else if child.root.drawn() {
		e.ModTime = t.drawnAt()
	}
	switch {
	case child.root != notRoot:
		e.Size = t.rootSize(child.root)
	case child.square >= 0:
		e.Size = nodes.UnknownSize
	case e.Kind == nodes.File:
		e.Size = t.knownSize(child.source.now(), child.view)
	}
	return e
}
