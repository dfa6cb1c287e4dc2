package dctree

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync"
	"time"

	"lorefs/datacenter"
	"lorefs/datacenter/treepath"
	"lorefs/nodes"
	"lorefs/nodes/editing"
)

// EditOptions are what NewEditable may be told.
type EditOptions struct {
	// Sync makes what the Draft has logged durable. Default: nothing is done.
	Sync func() error
	// Check is asked before a file is opened for writing, as the Tree's may look only now and
	// then whether the source is still the same. Default: only that is asked.
	Check func() error
	// Now is the time that edits happen at. Default: time.Now.
	Now func() time.Time
	// MaxTexts is how many bytes of memory files may take together that are open for
	// writing, or scratch. Default: 256 MiB.
	MaxTexts int64
}

const defaultMaxTexts = 256 << 20

// Editable is a Tree whose nodes and attributes can be changed: what changes is
// kept by a [datacenter.Draft]. It is safe for parallel use.
//
// Files whose name begins with a dot or ends in ~ are scratch: they hold any
// bytes, in memory, and are no attributes. So is a new file until it holds a
// value that fits. Moved onto the name of an attribute, what a scratch file holds
// becomes the attribute's value.
type Editable struct {
	*Tree
	draft *datacenter.Draft
	opts  EditOptions
	// methods, owner and times are what package editing does for all such trees.
	methods
	owner *editing.Owner
	times *editing.Times

	// editing is held by whoever changes something, also while the draft reads
	// the file or logs. It is taken before mu.
	editing editing.Lock
	// mu guards everything below for as long as memory is looked at. Who holds
	// editing may read without it, but for what Forget changes: files and removed.
	mu sync.RWMutex
	// files are those that are more than an attribute's value: open for writing,
	// without a value, or removed but perhaps still in use.
	files map[nodes.ID]*content
	// texts is at least how many bytes files take; who writes to one adds to it, and
	// counts anew when it seems to be too much. It is guarded by editing.
	texts int64
	// dirs are the directories of which there is more to know than the draft does.
	dirs map[datacenter.Number]*dirState
	// loose counts the scratch files of all, and cursor is that of the next one.
	loose  int64
	cursor uint64
	// bare are attributes whose value was written without a newline: they are
	// shown as they were written for as long as the tree lives.
	bare map[datacenter.Number]bool
	// marked tells of attributes that were created or renamed whether they are
	// spelled @name. All others are spelled as without a draft.
	marked map[datacenter.Number]bool
	// removed are directories that are perhaps still in use.
	removed map[nodes.ID]bool
}

var (
	_ nodes.Mutable     = (*Editable)(nil)
	_ nodes.XattrSetter = (*Editable)(nil)
)

// NewEditable makes the editable tree of d, which is a draft of the file of t.
func NewEditable(t *Tree, d *datacenter.Draft, opts EditOptions) *Editable {
	if opts.MaxTexts == 0 {
		opts.MaxTexts = defaultMaxTexts
	}
	e := &Editable{
		Tree: t, draft: d, opts: opts,
		files:   map[nodes.ID]*content{},
		dirs:    map[datacenter.Number]*dirState{},
		cursor:  scratchCursor,
		bare:    map[datacenter.Number]bool{},
		marked:  map[datacenter.Number]bool{},
		removed: map[nodes.ID]bool{},
	}
	if e.opts.Check == nil {
		e.opts.Check = func() error { return nil }
	}
	e.owner = editing.NewOwner(e, &e.editing, &e.mu, opts.Sync, opts.Now)
	e.times = e.owner.Times
	e.methods = editing.NewMethods(e.owner, editing.Own[*place]{
		Find: e.find, Remove: e.remove, Rename: e.rename, Exchange: e.exchange,
	})
	d.Watch(e.changed)
	return e
}

// Usage is the .dat's size, and the number of nodes, attributes and scratch files
// now.
func (e *Editable) Usage() nodes.Usage {
	e.mu.RLock()
	defer e.mu.RUnlock()
	return nodes.Usage{Bytes: e.Tree.opts.SourceSize, Nodes: e.draft.Entries() + e.loose}
}

// Loose gives the files that hold no value that can be saved.
func (e *Editable) Loose() (loose editing.Loose) {
	e.mu.RLock()
	defer e.mu.RUnlock()
	for dir, s := range e.dirs {
		if len(s.scratch) == 0 {
			continue
		}
		at := strings.TrimPrefix(e.dirName(dir)+"/", "/")
		for name := range s.scratch {
			loose.Add(at + name)
		}
	}
	loose.Sort()
	return loose
}

// dirName spells the path of a draft node.
func (e *Editable) dirName(number datacenter.Number) string {
	if number == 0 {
		return ""
	}
	n, ok := e.draft.Node(number)
	if !ok {
		return "?"
	}
	return e.dirName(n.Parent) + "/" + numbered(e.spell(n.Name), n.Ordinal)
}

// number is that of a node or attribute.
func number(id nodes.ID) (n datacenter.Number, attribute, ok bool) {
	if n, attribute, ok = splitMade(id); ok {
		return n, attribute, true
	}
	stored, _, attribute, ok := split(id)
	return datacenter.Number(stored), attribute, ok
}

// dirNumber is the number of a directory, and whether the draft has it.
func (e *Editable) dirNumber(id nodes.ID) (n datacenter.Number, touched bool, err error) {
	n, attribute, ok := number(id)
	switch {
	case !ok:
		return 0, false, nodes.NotExist(id)
	case attribute:
		return 0, false, fmt.Errorf("%v: %w", id, nodes.ErrNotDir)
	}
	touched = e.draft.Touched(n)
	if !touched && (n > datacenter.MaxEntries || e.isRemoved(id)) {
		return 0, false, nodes.NotExist(id)
	}
	return n, touched, nil
}

func (e *Editable) isRemoved(id nodes.ID) bool {
	e.mu.RLock()
	defer e.mu.RUnlock()
	return e.removed[id]
}

// entryID is the ID of an entry of the draft.
func entryID(d *datacenter.DraftEntry) nodes.ID {
	switch {
	case !d.Stored:
		return madeID(d.Number, d.Attribute)
	case d.Attribute:
		return attributeID(uint32(d.Number), d.Addr)
	case d.Number == 0:
		return nodes.Root
	}
	return nodeID(uint32(d.Number), d.Addr)
}

// attributeName spells the name of an attribute of a draft node.
func (e *Editable) attributeName(dir datacenter.Number, of *datacenter.DraftNode, d *datacenter.DraftEntry) (string, error) {
	e.mu.RLock()
	shared, known := e.marked[d.Number]
	e.mu.RUnlock()
	if !known && !d.Added {
		var err error
		if _, shared, err = of.Base.ChildNamed(d.NameIndex, 0); err != nil {
			return "", wrap(err)
		}
	}
	if !known && !shared { // edits that were replayed may have made a node of that name
		_, shared = e.draft.Child(dir, d.Name, 0)
	}
	name := e.nameOf(d)
	if shared {
		name = "@" + name
	}
	return name, nil
}

// nameOf spells the name of an entry, which may be a new one.
func (e *Editable) nameOf(d *datacenter.DraftEntry) string {
	if int(d.NameIndex) < len(e.names) {
		return e.names[d.NameIndex]
	}
	return treepath.Escape(d.Name, math.MaxUint16) // plainName takes none that is cut
}

// spell is nameOf for a name alone.
func (e *Editable) spell(name string) string {
	for i, text := range e.file.Names() {
		if text == name {
			return e.names[i+1]
		}
	}
	return treepath.Escape(name, math.MaxUint16)
}

// numbered adds what tells a node from its siblings of the same name.
func numbered(name string, ordinal uint32) string {
	if ordinal == 0 {
		return name
	}
	return name + "." + strconv.Itoa(int(ordinal))
}

// plainName is the inverse of nameOf.
func (e *Editable) plainName(file string) (string, error) {
	if i, ok := e.indexes[file]; ok {
		return e.file.Names()[i-1], nil
	}
	name, ok := treepath.Unescape(file)
	if !ok {
		return "", fmt.Errorf("%w: names have %%25 for %%, %%2F for /, %%2E for the dot of a final .1, and up to %d bytes: %q has not",
			nodes.ErrInvalid, treepath.MaxSpelled, file)
	}
	return name, nil
}

// newName tells whether something can be made, or renamed to, that has a name.
func newName(name string) error { return refusal(datacenter.CheckName(name)) }

// attributeFile takes the name of an attribute's file apart.
func (e *Editable) attributeFile(file string) (name string, marked bool, err error) {
	if len(file) > 0 && file[0] == '@' {
		file, marked = file[1:], true
	}
	name, err = e.plainName(file)
	return name, marked, err
}

// childFile takes the name of a node's directory apart.
func (e *Editable) childFile(file string) (name string, ordinal uint32, err error) {
	if editing.IsScratch(file) {
		return "", 0, fmt.Errorf("%w: no node is called %q", nodes.ErrInvalid, file)
	}
	plain, n, ok := treepath.SplitOrdinal(file)
	if !ok || n > math.MaxInt32 {
		return "", 0, fmt.Errorf("%w: siblings are numbered from .1 to .%d, without zeros in front: %q is not", nodes.ErrInvalid, math.MaxInt32, file)
	}
	name, err = e.plainName(plain)
	return name, uint32(n), err
}

// refusal turns the errors of edits into those of the tree.
func refusal(err error) error {
	for _, m := range []struct{ of, to error }{
		{datacenter.ErrValue, nodes.ErrInvalid},
		{datacenter.ErrTooLarge, nodes.ErrTooLarge},
		{datacenter.ErrGone, nodes.ErrNotExist},
	} {
		if errors.Is(err, m.of) {
			return nodes.Mark(err, m.to)
		}
	}
	return wrap(err)
}

// Attr implements [nodes.Tree].
func (e *Editable) Attr(ctx context.Context, id nodes.ID) (nodes.Attr, error) {
	if err := e.check(ctx); err != nil {
		return nodes.Attr{}, err
	}
	attr, err := e.attr(ctx, id)
	if err != nil {
		return nodes.Attr{}, err
	}
	attr.Writable = true
	attr.ModTime = e.times.Of(id, attr.ModTime)
	return attr, nil
}

func (e *Editable) attr(ctx context.Context, id nodes.ID) (nodes.Attr, error) {
	n, attribute, ok := number(id)
	if !ok {
		return nodes.Attr{}, nodes.NotExist(id)
	}
	if !attribute {
		if removed := e.isRemoved(id); removed || e.draft.Touched(n) {
			return nodes.Attr{Kind: nodes.Dir, ModTime: e.Tree.opts.ModTime, Removed: removed}, nil
		}
		return e.Tree.Attr(ctx, id)
	}
	attr := nodes.Attr{Kind: nodes.File, ModTime: e.Tree.opts.ModTime}
	if size, removed, ok := e.fileAttr(id); ok {
		attr.Size, attr.Removed = size, removed
		return attr, nil
	}
	if v, ok := e.draft.Value(n); ok {
		attr.Size = int64(len(e.text(n, v)))
		return attr, nil
	}
	return e.Tree.Attr(ctx, id)
}

// text is what the file of a changed attribute holds.
func (e *Editable) text(n datacenter.Number, v datacenter.Value) string {
	e.mu.RLock()
	defer e.mu.RUnlock()
	if e.bare[n] {
		return v.Text()
	}
	return v.Text() + "\n"
}

// ReadAt implements [nodes.Tree].
func (e *Editable) ReadAt(ctx context.Context, id nodes.ID, p []byte, off int64) (int, error) {
	if err := e.check(ctx); err != nil {
		return 0, err
	}
	if n, ok, err := e.readContent(id, p, off); ok {
		return n, err
	}
	n, attribute, ok := number(id)
	if ok && !attribute && e.draft.Touched(n) {
		return 0, fmt.Errorf("%v: %w", id, nodes.ErrIsDir)
	}
	if v, changed := e.draft.Value(n); ok && attribute && changed {
		return nodes.ReadContent(e.text(n, v), p, off)
	}
	return e.Tree.ReadAt(ctx, id, p, off)
}

// Lookup implements [nodes.Tree].
func (e *Editable) Lookup(ctx context.Context, dir nodes.ID, name string) (nodes.Entry, error) {
	if err := e.check(ctx); err != nil {
		return nodes.Entry{}, err
	}
	n, touched, err := e.dirNumber(dir)
	if err != nil {
		return nodes.Entry{}, err
	}
	var entry nodes.Entry
	if touched {
		entry, err = e.lookup(n, name)
	} else {
		entry, err = e.Tree.Lookup(ctx, dir, name)
	}
	if err != nil {
		return nodes.Entry{}, err
	}
	entry.Next = 0
	e.complete(&entry)
	return entry, nil
}

// lookup finds an entry of a draft node.
func (e *Editable) lookup(dir datacenter.Number, name string) (nodes.Entry, error) {
	if entry, ok := e.scratchFile(dir, name); ok {
		return entry, nil
	}
	of, ok := e.draft.Node(dir)
	if !ok {
		return nodes.Entry{}, nodes.NotExist(name)
	}
	if plain, _, err := e.attributeFile(name); err == nil {
		if d, ok := e.seen(dir, plain); ok {
			if entry, err := e.entry(dir, &of, &d); err != nil || entry.Name == name {
				return entry, err
			}
		}
	}
	if plain, ordinal, err := e.childFile(name); err == nil {
		if d, ok := e.draft.Child(dir, plain, ordinal); ok {
			return e.entry(dir, &of, &d)
		}
	}
	return nodes.Entry{}, nodes.NotExist(strconv.Quote(name))
}

// entry describes an entry of a draft node.
func (e *Editable) entry(dir datacenter.Number, of *datacenter.DraftNode, d *datacenter.DraftEntry) (nodes.Entry, error) {
	entry := nodes.Entry{ID: entryID(d), Kind: nodes.Dir, Next: d.Next}
	if !d.Attribute {
		entry.Name = numbered(e.nameOf(d), d.Ordinal)
		return entry, nil
	}
	entry.Kind = nodes.File
	var err error
	if entry.Name, err = e.attributeName(dir, of, d); err != nil {
		return entry, err
	}
	if size, _, ok := e.fileAttr(entry.ID); ok {
		entry.Size = size
		return entry, nil
	}
	if d.Value.Type() != 0 {
		entry.Size = int64(len(e.text(d.Number, d.Value)))
		return entry, nil
	}
	a, err := e.file.Attribute(d.Addr)
	if err != nil {
		return entry, wrap(err)
	}
	entry.Size, err = fileSize(a)
	return entry, err
}

// complete adds what all entries have.
func (e *Editable) complete(entry *nodes.Entry) {
	entry.Writable = true
	entry.ModTime = e.times.Of(entry.ID, e.Tree.opts.ModTime) // that of the directory may be another
}

func isNotExist(err error) bool { return errors.Is(err, nodes.ErrNotExist) }
