package packettree

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"lorefs/nodes"
	"lorefs/nodes/blockcache"
	"lorefs/protocol"
	"lorefs/protocol/capture"
	"lorefs/protocol/dissect"
)

// Options are the options of New.
type Options struct {
	// ModTime is the time of the directories, and of files without a time.
	ModTime time.Time
	// SourceSize is the size of the log and the definitions in bytes, for statfs(2).
	SourceSize int64
	// Cache keeps what was read for a while. Default: a cache of 2 MiB.
	Cache *blockcache.Cache
	// Check returns an error if the source has changed since it was opened. It is called
	// before anything is read. Default: no check.
	Check func() error
}

const defaultCache = 2 << 20

// Tree is a session and its definitions as a tree. It is safe for parallel use.
type Tree struct {
	recording *dissect.Recording
	log       *capture.Log // of the recording
	lib       *protocol.Library
	opts      Options
	cache     *blockcache.View

	top    []nodes.Entry // of the root
	digits int           // of a packet's number

	// jsonSizes has, for each packet, the size of its JSON plus 1, or 0 if nobody has
	// asked.
	jsonSizes []atomic.Uint32
	defs      files
	maps      files

	buffers sync.Pool // of *buffers

	// counts are the counts in the summary; nil before somebody asked.
	counts atomic.Pointer[map[uint16]dissect.Count]
}

var _ nodes.Tree = (*Tree)(nil)

// buffers are used for one rendering.
type buffers struct{ packet, json []byte }

// New makes the tree of a session and a library. Either may be nil: the tree then has no
// packets, or no definitions.
func New(recording *dissect.Recording, lib *protocol.Library, opts Options) *Tree {
	if opts.Check == nil {
		opts.Check = func() error { return nil }
	}
	if opts.Cache == nil {
		opts.Cache = blockcache.New(defaultCache)
	}
	t := &Tree{recording: recording, lib: lib, opts: opts, cache: opts.Cache.View()}
	t.buffers.New = func() any { return new(buffers) }
	if recording != nil {
		t.log = recording.Log()
		t.jsonSizes = make([]atomic.Uint32, t.log.Len())
		t.digits = max(6, len(fmt.Sprint(t.log.Len()-1)))
	}
	t.listDefinitions()
	t.listMaps()
	t.listTop()
	return t
}

func (t *Tree) listTop() {
	add := func(name string, id nodes.ID, k nodes.Kind, size int) {
		t.top = append(t.top, nodes.Entry{Name: name, ID: id, Kind: k, Size: int64(size), Next: uint64(len(t.top)) + 1})
	}
	if t.log != nil {
		add("packets", packetsID, nodes.Dir, 0)
	}
	if t.lib != nil {
		add("definitions", definitionsID, nodes.Dir, 0)
		add("maps", mapsID, nodes.Dir, 0)
	}
	if t.log != nil {
		add("summary.json", summaryID, nodes.File, len(t.appendSummary(nil, nil)))
	}
}

// Usage returns the size of the source and the number of files.
func (t *Tree) Usage() nodes.Usage {
	u := nodes.Usage{Bytes: t.opts.SourceSize, Nodes: int64(1 + len(t.top) + len(t.defs.names) + len(t.maps.names))}
	if t.log != nil {
		u.Nodes += 2 * int64(t.log.Len())
	}
	return u
}

// check is called first by every method.
func (t *Tree) check(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return t.opts.Check()
}

// isDir reports whether id is a directory of the tree.
func (t *Tree) isDir(id nodes.ID) bool {
	switch id {
	case rootID:
		return true
	case packetsID:
		return t.log != nil
	case definitionsID, mapsID:
		return t.lib != nil
	}
	return false
}

// Attr implements [nodes.Tree].
func (t *Tree) Attr(ctx context.Context, id nodes.ID) (nodes.Attr, error) {
	if err := t.check(ctx); err != nil {
		return nodes.Attr{}, err
	}
	attr := nodes.Attr{Kind: nodes.Dir, ModTime: t.opts.ModTime}
	if t.isDir(id) {
		return attr, nil
	}
	e, err := t.entry(id)
	attr.Kind, attr.Size = nodes.File, e.Size
	if !e.ModTime.IsZero() {
		attr.ModTime = e.ModTime
	}
	return attr, err
}

// entry returns the entry of a file, without a cursor.
func (t *Tree) entry(id nodes.ID) (nodes.Entry, error) {
	k, i := split(id)
	switch {
	case id == summaryID && t.log != nil:
		e := t.top[len(t.top)-1]
		e.Next = 0
		return e, nil
	case (k == kindJSON || k == kindBin) && i < len(t.jsonSizes):
		return t.packetEntry(k, i)
	case k == kindDefinition && i < len(t.defs.names):
		return t.fileEntry(&t.defs, k, i)
	case k == kindMap && i < len(t.maps.names):
		return t.fileEntry(&t.maps, k, i)
	}
	return nodes.Entry{}, nodes.NotExist(id)
}

// notDir returns the error for an ID that is no directory.
func (t *Tree) notDir(id nodes.ID) error {
	if _, err := t.entry(id); err != nil {
		return err
	}
	return fmt.Errorf("%v: %w", id, nodes.ErrNotDir)
}

// ReadAt implements [nodes.Tree].
func (t *Tree) ReadAt(ctx context.Context, id nodes.ID, p []byte, off int64) (int, error) {
	if err := t.check(ctx); err != nil {
		return 0, err
	}
	if t.isDir(id) {
		return 0, fmt.Errorf("%v: %w", id, nodes.ErrIsDir)
	}
	content, err := t.cached(ctx, id)
	if err != nil {
		return 0, notEnd(err)
	}
	return nodes.ReadContent(content, p, off)
}

// cached returns the content of a file. If several ask at once, one of them makes it, and
// goes on even if its caller gives up.
func (t *Tree) cached(ctx context.Context, id nodes.ID) ([]byte, error) {
	for {
		b, err := t.cache.Block(uint64(id), func(uint64) ([]byte, error) { return t.content(ctx, id) })
		if !errors.Is(err, context.Canceled) || ctx.Err() != nil {
			return b, err
		}
	}
}

// notEnd keeps an end of the source from being taken for the end of a file.
func notEnd(err error) error {
	if errors.Is(err, io.EOF) {
		return fmt.Errorf("%w: %v", io.ErrUnexpectedEOF, err) //nolint:errorlint // it must not match io.EOF
	}
	return err
}

// content makes the whole content of a file.
func (t *Tree) content(ctx context.Context, id nodes.ID) ([]byte, error) {
	k, i := split(id)
	switch {
	case id == summaryID && t.log != nil:
		return t.summary(ctx)
	case k == kindJSON && i < len(t.jsonSizes):
		return t.packetJSON(i)
	case k == kindBin && i < len(t.jsonSizes):
		p, err := t.log.Packet(i, nil)
		return p.Data, err
	case k == kindDefinition && i < len(t.defs.names):
		return t.defs.content(i)
	case k == kindMap && i < len(t.maps.names):
		return t.maps.content(i)
	}
	return nil, nodes.NotExist(id)
}
