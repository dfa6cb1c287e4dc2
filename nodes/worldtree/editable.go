package worldtree

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"lorefs/geometry"
	"lorefs/nodes"
	"lorefs/nodes/overlay"
)

// EditOptions are the options of NewEditable. The default limits are 256 MiB and 1 GiB, and the logger is
// that of the Tree.
type EditOptions struct {
	overlay.EditOptions
	// Begin is called before a file is edited, and before anything of it is looked at: the
	// next logged edit belongs to the file as it is now. It is not called while records of
	// the file are logged that are not saved. Its error fails the edit. Default: no call.
	Begin func(file string) error
	// Log keeps the record of an edit of a file before the edit counts. edits is how many
	// edits the file has then, as Pending counts them. Its error fails the edit. It must not
	// keep the slice. [Editable.Replay] reads the record. Default: nothing is kept.
	Log func(file string, record []byte, edits int64) error
	// Encode are the options for saved files. Default: as in known files, which takes long.
	Encode geometry.EncodeOptions
}

// maxText is more than the JSON of the largest zones, and about that of an area of 50 MB.
const maxText = 256 << 20

func (o *EditOptions) setDefaults(logger *slog.Logger) {
	if o.Logger == nil {
		o.Logger = logger
	}
	o.SetDefaults(overlay.Limits{Text: maxText, Texts: overlay.MaxTexts})
	if o.Begin == nil {
		o.Begin = func(string) error { return nil }
	}
	if o.Log == nil {
		o.Log = func(string, []byte, int64) error { return nil }
	}
}

// Editable is a Tree in which the JSON of zones, squares and areas can be changed. A text
// is checked when it is flushed, and shows at once in all views of its source. It is safe
// for parallel use.
//
// Package overlay describes scratch files and refused texts. Zones, squares and areas can
// be neither removed nor made.
type Editable struct {
	*overlay.Tree
	below
	edits *edits
}

// below has the methods of the Tree that the overlay lacks.
type below struct{ *Tree }

// NewEditable makes t editable. t must not be used by itself any more.
func NewEditable(t *Tree, opts EditOptions) *Editable {
	opts.setDefaults(t.opts.Logger)
	t.writable = true
	e := &edits{Tree: t, opts: opts}
	return &Editable{below: below{t}, edits: e, Tree: overlay.New(e, overlay.Options{FirstID: madeID, Empty: true, EditOptions: opts.EditOptions})}
}

// errFixed is why zones and areas stay.
var errFixed = fmt.Errorf("%w: zones, squares and areas can be changed, but neither removed nor moved", nodes.ErrNotPermitted)

// Replay repeats an edit that an Editable of the same file logged, before anything else is
// done, and returns how many edits the file has then. It logs nothing.
func (e *Editable) Replay(ctx context.Context, file string, record []byte) (edits int64, err error) {
	for _, s := range e.edits.sources {
		if s.file != file {
			continue
		}
		c, err := e.edits.replay(ctx, s.now(), record)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", file, err)
		}
		e.edits.install(s, c)
		return c.net.count(), nil
	}
	return 0, fmt.Errorf("%s: %w", file, nodes.ErrNotExist)
}

// edits is the [overlay.Source] of an Editable: a Tree, and the edited content of its sources.
type edits struct {
	*Tree
	opts EditOptions
	overlay.Watcher
	// versions counts the versions of sources. Only an edit changes it.
	versions uint64
}

var _ overlay.Source = (*edits)(nil)

// Watch implements [overlay.Source].
func (e *edits) Watch(w overlay.Watcher) { e.Watcher = w }

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
func (e *edits) Now(ctx context.Context, file nodes.ID) (overlay.Content, error) {
	n, err := e.node(ctx, file)
	if err != nil {
		return nil, err
	}
	return content{e.Tree, n.source.now(), n}, nil
}

// content is the content of a version's node.
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
func (e *edits) Put(ctx context.Context, to overlay.Place, text []byte, from overlay.From) (nodes.ID, error) {
	if from.Hidden != 0 {
		return 0, errFixed
	}
	return to.ID, e.put(ctx, to.ID, text)
}

func (e *edits) put(ctx context.Context, file nodes.ID, text []byte) error {
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
	return e.make(ctx, n, c)
}

// make logs a change and makes it the content of a node's source.
func (e *edits) make(ctx context.Context, n node, c *change) error {
	if len(c.record) > maxRecord {
		return fmt.Errorf("%w: %d bytes to keep of an edit, where %d are the most", nodes.ErrTooLarge, len(c.record), maxRecord)
	}
	if err := e.opts.Log(n.source.file, c.record, c.net.count()); err != nil {
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
	e.tellOf(n, before, c.image)
	return nil
}

// Mkdir implements [overlay.Source].
func (e *edits) Mkdir(context.Context, nodes.ID, string) (nodes.ID, error) { return 0, errFixed }

// Move implements [overlay.Source].
func (e *edits) Move(context.Context, overlay.Move) error { return errFixed }

// Remove implements [overlay.Source].
func (e *edits) Remove(context.Context, nodes.ID) error { return errFixed }

// refusal makes an error in a text match the tree's, with the file's path.
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

// begin checks the file that an edit is for. Parsing takes long, and a file that somebody
// puts there meanwhile must not be mistaken for the edited one. So Begin is called before
// the check.
func (e *edits) begin(s *version) error {
	if !s.logged {
		if err := e.opts.Begin(s.file); err != nil {
			return err
		}
	}
	// The image may come from the cache while another file lies there.
	return s.check(e.fsys)
}

// maxRecord is the largest record, limited by the journal.
const maxRecord = 60 << 20

// install makes a change the content of its source. If the file in the folder has that content,
// the source has no edit any more.
func (e *edits) install(s *source, c *change) {
	e.versions++
	saved := s.now().saved()
	next := *saved
	next.logged, next.shown = true, e.opts.Now()
	if c.net != nil {
		next.edit, next.net, next.base, next.made = c.edit, c.net, saved, &made{number: e.versions}
	}
	s.forget()
	s.current.Store(&next)
	e.world.changes.Add(1)
	if c.image == nil {
		return // it is damaged
	}
	// The image is likely to be read next. If the cache has no room for it, that is not an
	// error.
	_, _ = e.block(context.Background(), &next, imageBlock, func(context.Context) ([]byte, error) { return c.image, nil })
}

// tellOf reports changes of all views of the source of a file that was put.
func (e *edits) tellOf(put node, before, after []byte) {
	s := put.source
	tell := func(n node) {
		if n.id() == put.id() {
			e.Changed(nodes.Change{ID: n.id()})
		} else {
			e.Edited(n.id())
		}
	}
	for _, f := range e.folders[0].files {
		if f.drawn() {
			e.Edited(f.id())
		}
	}
	for v := range viewCount {
		if forms[v].of == s.kind && v.kindOf() == nodes.File {
			tell(node{source: s, view: v, square: -1})
		}
	}
	if s.kind == zone {
		for square := range differ(before, after) {
			tell(node{source: s, view: zoneSquares, square: square})
		}
	}
}
