package worldtree

import (
	"context"
	"errors"
	"fmt"
	"time"

	"lorefs/geometry"
	"lorefs/nodes"
	"lorefs/nodes/editing"
	"lorefs/nodes/overlay"
)

// EditOptions are what NewEditable may be told.
type EditOptions struct {
	// Begin is told that a file is about to be edited, before anything of it is looked
	// at: the edit that is logged next belongs to the file as it is now. It is not called
	// while there is an edit to save. Its error is the edit's. Default: nobody is told.
	Begin func(file string) error
	// Log keeps the record of an edit of a file before it counts; its error is the
	// edit's. It must not keep the record itself. [Editable.Replay] takes it back.
	// Default: nothing is kept.
	Log func(file string, record []byte) error
	// Sync makes what was logged durable. Default: nothing is done.
	Sync func() error
	// Encode says how files are written when they are saved. Default: as known
	// files are, which takes long.
	Encode geometry.EncodeOptions
	// Now is the time that edits happen at. Default: time.Now.
	Now func() time.Time
	// MaxText is how many bytes the text of a file may have, MaxTexts how many all may
	// have that are being written, that were refused, or that are nobody's. Default: 256
	// MiB and 1 GiB.
	MaxText, MaxTexts int64
}

// defaultMaxText is more than the JSON of the largest zones has; that of an area of 50 MB
// has about as much.
const defaultMaxText = 256 << 20

func (o *EditOptions) setDefaults() {
	if o.Begin == nil {
		o.Begin = func(string) error { return nil }
	}
	if o.Log == nil {
		o.Log = func(string, []byte) error { return nil }
	}
	if o.Sync == nil {
		o.Sync = func() error { return nil }
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.MaxText == 0 {
		o.MaxText = defaultMaxText
	}
	if o.MaxTexts == 0 {
		o.MaxTexts = editing.MaxTexts
	}
}

// Editable is a Tree of which the JSON of zones, squares and areas can be changed:
// what is written is checked when it is flushed, and shows in everything that is
// made of the zone or area at once. It is safe for parallel use.
//
// What is in those directories besides, and what becomes of a text that is refused, is told
// in package overlay. Zones, squares and areas can be neither removed nor made.
type Editable struct {
	*overlay.Tree
	below
	edits *edits
}

// below has the methods of the Tree that the overlay has not.
type below struct{ *Tree }

// NewEditable makes t editable. Nobody may use t by itself any more.
func NewEditable(t *Tree, opts EditOptions) *Editable {
	opts.setDefaults()
	t.writable = true
	e := &edits{Tree: t, opts: opts}
	return &Editable{below: below{t}, edits: e, Tree: overlay.New(e, overlay.Options{
		FirstID: madeID, Kept: errKept, Now: opts.Now, Logger: t.opts.Logger,
		Limits: editing.Limits{Text: opts.MaxText, Texts: opts.MaxTexts},
	})}
}

// errKept is why zones and areas stay.
var errKept = fmt.Errorf("%w: zones, squares and areas can be changed, but neither removed nor moved", nodes.ErrNotPermitted)

// Replay makes an edit again that was logged by an Editable of the same file, before
// anything else is done. Nothing is logged.
func (e *Editable) Replay(ctx context.Context, file string, record []byte) error {
	for _, s := range e.edits.sources {
		if s.file != file {
			continue
		}
		c, err := e.edits.replay(ctx, s.now(), record)
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		e.edits.install(s, c)
		return nil
	}
	return fmt.Errorf("%s: %w", file, nodes.ErrNotExist)
}

// edits are the [overlay.Source] of an Editable: a Tree, and what its sources hold instead
// of what their files do.
type edits struct {
	*Tree
	opts EditOptions
	tell func(nodes.Change)
	// versions counts those of sources. Whoever edits changes it.
	versions uint64
}

var _ overlay.Source = (*edits)(nil)

// Watch implements [overlay.Source].
func (e *edits) Watch(f func(nodes.Change)) { e.tell = f }

// Sync implements [overlay.Source].
func (e *edits) Sync() error { return e.opts.Sync() }

// Open implements [overlay.Source].
func (e *edits) Open(ctx context.Context, file nodes.ID) error {
	n, err := e.node(ctx, file)
	switch {
	case err != nil:
		return err
	case n.kind() == nodes.Dir:
		return fmt.Errorf("%v: %w", file, nodes.ErrIsDir)
	case !n.editable():
		return nodes.ErrReadOnly
	}
	return n.source.now().check(e.fsys)
}

// Now implements [overlay.Source].
func (e *edits) Now(file nodes.ID) overlay.Content {
	n, err := e.node(context.Background(), file)
	if err != nil {
		return nil // it is no file of the tree
	}
	return content{e.Tree, n.source.now(), n}
}

// content is what a version shows as a node.
type content struct {
	tree *Tree
	of   *version
	node node
}

func (c content) ModTime() time.Time { return c.of.shown }
func (c content) Size(ctx context.Context) (int64, error) {
	return c.tree.versionSize(ctx, c.of, c.node)
}

func (c content) ReadAt(ctx context.Context, p []byte, off int64) (int, error) {
	return c.tree.readVersion(ctx, c.of, c.node, p, off)
}

// Put implements [overlay.Source].
func (e *edits) Put(ctx context.Context, file nodes.ID, text []byte) error {
	n, err := e.node(ctx, file)
	if err != nil {
		return err
	}
	if err := e.begin(n.source.now()); err != nil {
		return err
	}
	c, err := e.parse(ctx, n, text)
	if err != nil || c == nil {
		return e.refusal(n, err)
	}
	if len(c.record) > maxRecord {
		return fmt.Errorf("%w: %d bytes to keep of an edit, where %d are the most", nodes.ErrTooLarge, len(c.record), maxRecord)
	}
	if err := e.opts.Log(n.source.file, c.record); err != nil {
		return err
	}
	if n.source.since != nil {
		n.source.since = append(n.source.since, c.record)
	}
	before, err := e.image(ctx, n.source.now())
	if err != nil {
		before = nil // it was bad
	}
	e.install(n.source, c)
	e.tellOf(n.source, before, c.image)
	return nil
}

// refusal makes an error of a text match what the tree calls it, with the file's path.
func (e *edits) refusal(n node, err error) error {
	if _, bad := errors.AsType[*geometry.JSONError](err); !bad {
		return err
	}
	path := n.name()
	for dir, _ := e.Where(n.id()); dir != nodes.Root; {
		var name string
		dir, name = e.Where(dir)
		path = name + "/" + path
	}
	return nodes.Mark(fmt.Errorf("%s: %w", path, err), nodes.ErrInvalid)
}

// begin makes sure of the file that an edit is to be of. Parsing takes long: a file that
// somebody puts there from here on must not be taken for the one that was edited. Told in
// the other order, it could be.
func (e *edits) begin(s *version) error {
	if s.edit == nil {
		if err := e.opts.Begin(s.file); err != nil {
			return err
		}
	}
	// What is looked at may come from the cache, while another file lies there.
	return s.check(e.fsys)
}

// maxRecord is the largest record: a journal takes no more.
const maxRecord = 60 << 20

// install makes a change what its source holds.
func (e *edits) install(s *source, c *change) {
	e.versions++
	next := *s.now()
	next.edit, next.shown, next.made = c.edit, e.opts.Now(), &made{number: e.versions}
	s.forget()
	s.current.Store(&next)
	// Most will be looked at next; that the cache has no room for it is no error.
	_, _ = e.block(context.Background(), &next, imageBlock, func(context.Context) ([]byte, error) { return c.image, nil })
}

// tellOf tells of all that is made of a source that it changed.
func (e *edits) tellOf(s *source, before, after []byte) {
	for v := range viewCount {
		if forms[v].of == s.kind && v.kindOf() == nodes.File {
			e.tell(nodes.Change{ID: node{source: s, view: v, square: -1}.id()})
		}
	}
	if s.kind == zone {
		for square := range differ(before, after) {
			e.tell(nodes.Change{ID: node{source: s, view: zoneSquares, square: square}.id()})
		}
	}
}
