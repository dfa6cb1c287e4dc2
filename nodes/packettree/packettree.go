package packettree

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"lorefs/nodes"
	"lorefs/nodes/blockcache"
	"lorefs/protocol"
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
	// Grown looks whether the log has grown. If so it returns the recording as it is then, and
	// the time of that. Default: it never does.
	Grown func(ctx context.Context) (*dissect.Recording, time.Time, error)
}

const defaultCache = 2 << 20

// Tree is a session and its definitions as a tree. It is safe for parallel use.
type Tree struct {
	lib   *protocol.Library
	opts  Options
	cache *blockcache.View

	// now is the recording; nil if there is none.
	now      atomic.Pointer[session]
	measured measured
	picture  picture
	digits   int // of a packet's number

	top  []topEntry
	defs files
	maps files

	following sync.WaitGroup // of Watch
	stop      context.CancelFunc
}

var (
	_ nodes.Tree     = (*Tree)(nil)
	_ nodes.Changing = (*Tree)(nil)
	_ nodes.Capable  = (*Tree)(nil)
	_ nodes.Streamer = (*Tree)(nil)
)

// topEntry is a name in the root.
type topEntry struct {
	name string
	id   nodes.ID
}

// linesName is the name of the file with all packets.
const linesName = "packets" + linesEnd

// New makes the tree of a session and a library. Either may be nil: the tree then has no
// packets, or no definitions.
func New(recording *dissect.Recording, lib *protocol.Library, opts Options) *Tree {
	if opts.Check == nil {
		opts.Check = func() error { return nil }
	}
	if opts.Cache == nil {
		opts.Cache = blockcache.New(defaultCache)
	}
	t := &Tree{lib: lib, opts: opts, cache: opts.Cache.View()}
	t.measured.init()
	if recording != nil {
		s := newSession(recording, opts.ModTime, nil)
		t.now.Store(s)
		t.digits = max(6, len(fmt.Sprint(s.len()-1)))
	}
	t.listDefinitions()
	t.listMaps()
	t.listTop()
	return t
}

func (t *Tree) listTop() {
	if t.now.Load() != nil {
		t.top = append(t.top, topEntry{"packets", packetsID}, topEntry{linesName, linesID}, topEntry{"by-name", byNameID})
	}
	if t.lib != nil {
		t.top = append(t.top, topEntry{"definitions", definitionsID}, topEntry{"maps", mapsID})
	}
	if t.now.Load() != nil {
		t.top = append(t.top, topEntry{"summary.json", summaryID}, topEntry{pictureName, pictureID})
	}
}

// topEntry describes entry i of the root. With lazy set, its size may be left out.
func (t *Tree) topEntry(ctx context.Context, i int, lazy bool) (nodes.Entry, error) {
	e := nodes.Entry{Name: t.top[i].name, ID: t.top[i].id, Kind: nodes.Dir}
	s := t.now.Load()
	var err error
	switch e.ID {
	case definitionsID, mapsID:
		e.ModTime = t.opts.ModTime
	case linesID:
		e, err = t.linesEntry(ctx, s, linesID, lazy)
	case summaryID:
		e.Kind, e.Size = nodes.File, nodes.UnknownSize
		if !lazy {
			var text []byte
			text, err = t.summaryText(ctx)
			e.Size = int64(len(text))
		}
	case pictureID:
		e.Kind, e.Size = nodes.File, pictureSize
	}
	return e, err
}

// Usage returns the size of the source and the number of files.
func (t *Tree) Usage() nodes.Usage {
	u := nodes.Usage{Bytes: t.opts.SourceSize, Nodes: int64(1 + len(t.top) + len(t.defs.names) + len(t.maps.names))}
	if s := t.now.Load(); s != nil {
		u.Nodes += 2*int64(s.len()) + int64(len(s.recording.Names()))
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
	case packetsID, byNameID:
		return t.now.Load() != nil
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
	if s := t.now.Load(); s != nil && id != definitionsID && id != mapsID {
		attr.ModTime = s.modTime
	}
	if t.isDir(id) {
		return attr, nil
	}
	e, err := t.entry(ctx, id, false)
	attr.Kind, attr.Size = nodes.File, e.Size
	if !e.ModTime.IsZero() {
		attr.ModTime = e.ModTime
	}
	return attr, err
}

// entry returns the entry of a file, without a cursor. With lazy set, its size may be left out.
func (t *Tree) entry(ctx context.Context, id nodes.ID, lazy bool) (nodes.Entry, error) {
	k, i := split(id)
	s := t.now.Load()
	switch {
	case t.isLines(s, id):
		return t.linesEntry(ctx, s, id, lazy)
	case (id == summaryID || id == pictureID) && s != nil:
		return t.topEntry(ctx, slices.IndexFunc(t.top, func(e topEntry) bool { return e.id == id }), lazy)
	case (k == kindJSON || k == kindBin) && s != nil && i < s.len():
		return t.packetEntry(s, k, i, lazy)
	case k == kindDefinition && i < len(t.defs.names):
		return t.fileEntry(&t.defs, k, i)
	case k == kindMap && i < len(t.maps.names):
		return t.fileEntry(&t.maps, k, i)
	}
	return nodes.Entry{}, nodes.NotExist(id)
}

// notDir returns the error for an ID that is no directory.
func (t *Tree) notDir(ctx context.Context, id nodes.ID) error {
	if _, err := t.entry(ctx, id, true); err != nil {
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
	s := t.now.Load()
	if t.isLines(s, id) {
		return t.readLines(ctx, id, p, off)
	}
	var content []byte
	var err error
	switch {
	case id == summaryID && s != nil:
		content, err = t.summaryText(ctx)
	case id == pictureID && s != nil:
		content, err = t.pictureText(ctx)
	default:
		content, err = t.cached(ctx, id)
	}
	if err != nil {
		return 0, notEnd(err)
	}
	return nodes.ReadContent(content, p, off)
}

// cached returns the content of a file. If several ask at once it is made once, and all of
// them wait for that: it takes a moment.
func (t *Tree) cached(ctx context.Context, id nodes.ID) ([]byte, error) {
	return t.cache.Block(context.WithoutCancel(ctx), uint64(id), func(context.Context, uint64) ([]byte, error) { return t.content(id) })
}

// notEnd keeps an end of the source from being taken for the end of a file.
func notEnd(err error) error {
	if errors.Is(err, io.EOF) {
		return fmt.Errorf("%w: %v", io.ErrUnexpectedEOF, err) //nolint:errorlint // it must not match io.EOF
	}
	return err
}

// content makes the whole content of a file.
func (t *Tree) content(id nodes.ID) ([]byte, error) {
	k, i := split(id)
	s := t.now.Load()
	switch {
	case (k == kindJSON || k == kindBin) && s != nil && i < s.len():
		return t.packetContent(s, k, i)
	case k == kindDefinition && i < len(t.defs.names):
		return t.defs.content(i)
	case k == kindMap && i < len(t.maps.names):
		return t.maps.content(i)
	}
	return nil, nodes.NotExist(id)
}
