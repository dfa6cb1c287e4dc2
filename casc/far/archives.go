package far

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	iofs "io/fs"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"lorefs/casc/config"
	"lorefs/casc/encoding"
	"lorefs/casc/index"
	"lorefs/casc/internal/format"
	"lorefs/casc/internal/store"
	"lorefs/casc/keys"
	"lorefs/internal/cache"
	"lorefs/internal/flight"
)

// Archives finds encoded files that are far away: in archives, or loose.
type Archives struct {
	from    Remote
	indexes *remoteIndexes
	chunks  *chunkCache
	// named are the files that the build configuration names, which are looked for without
	// the indexes first. It is complete when the storage is open.
	named map[keys.Short]namedFile
	// rows are the files that will be read soon.
	rows   remoteRows
	strays strays
	// Encoded looks a key up in the encoding file; nil until that is open.
	Encoded func(ctx context.Context, prefix []byte) (encoding.EncodedEntry, error)
}

// namedFile is a file that the build configuration names. size is 0 if it does not state it.
type namedFile struct {
	key  keys.Key
	size int64
}

func newRemoteArchives(r *Objects, cdn *config.Config, opts store.Options) (*Archives, error) {
	x := &remoteIndexes{from: r.From, progress: r.Progress, store: opts.Index, log: opts.Log}
	var err error
	if x.names, err = cdn.Keys("archives"); err != nil {
		return nil, err
	}
	loose, err := cdn.Keys("file-index")
	if err != nil {
		return nil, err
	}
	if len(loose) > 0 {
		x.loose = loose[0]
	}
	if x.parsed, err = lru.New[keys.Key, *index.Archive](maxParsed); err != nil {
		panic(fmt.Sprintf("casc: BUG: %v", err))
	}
	return &Archives{from: r.From, indexes: x, chunks: newChunkCache(r.atOnce(), r.Whole), named: map[keys.Short]namedFile{}}, nil
}

// Name notes a file that the build configuration names. size is 0 if it does not state it.
func (a *Archives) Name(key keys.Key, size int64) {
	a.named[key.Short()] = namedFile{key, size}
}

// Load reads the indexes, unless they have been read.
func (a *Archives) Load(ctx context.Context) error {
	_, err := a.indexes.get(ctx)
	return err
}

// Find opens the file, too, since only that tells whether it is there.
func (a *Archives) Find(ctx context.Context, key []byte) (store.File, error) {
	f, err := a.Open(ctx, key)
	if err != nil {
		return store.File{}, err
	}
	return f.Place(), nil
}

// Others returns nothing: file has tried all places.
func (a *Archives) Others([]byte) []store.File { return nil }

// Open opens the file whose encoding key begins with key: loose if it is named, from an
// archive, or loose. A place that fails is not the end while there is another one: a host may
// refuse what it does not have, or be down while only the others have it elsewhere.
func (a *Archives) Open(ctx context.Context, key []byte) (*Object, error) {
	if n, ok := a.namedBy(key); ok && a.indexes.table.Load() == nil {
		f, err := a.openLoose(ctx, File{Key: n.key, Size: n.size, Own: true, Guess: true})
		if err == nil {
			f.Guess = false // it was right
			return f, nil
		}
		if ctx.Err() != nil {
			return nil, a.fail(key, err)
		}
	}
	t, err := a.indexes.get(ctx)
	if err != nil {
		return nil, a.fail(key, err)
	}
	var why error
	for i := range t.group.Find(keys.Short(key)) {
		f, err := a.openEntry(ctx, key, t.group.Archives, t.group.Entry(i))
		if f != nil || ctx.Err() != nil {
			return f, a.fail(key, err)
		}
		why = tellingMore(why, err)
	}
	why = tellingMore(why, t.unread())
	f, err := a.unlisted(ctx, t, key, why)
	if err == nil || ctx.Err() != nil {
		return f, a.fail(key, err)
	}
	return nil, a.fail(key, tellingMore(why, err))
}

// namedBy returns the named file whose key begins with key.
func (a *Archives) namedBy(key []byte) (namedFile, bool) {
	n, ok := a.named[keys.Short(key)]
	return n, ok && bytes.HasPrefix(n.key[:], key)
}

// tellingMore returns the error of two places that says more of a file: what is not at one of
// them may be at the other, which could not be asked.
func tellingMore(err, other error) error {
	if err == nil || IsGone(err) && other != nil && !IsGone(other) {
		return other
	}
	return err
}

// fail adds the key to an error. What is nowhere counts as not local.
func (a *Archives) fail(key []byte, err error) error {
	switch {
	case err == nil:
		return nil
	case IsGone(err):
		return fmt.Errorf("encoding key %x: %w: %w", key, format.ErrNowhere, err)
	}
	return fmt.Errorf("encoding key %x: %w", key, err)
}

// openEntry opens the file of an entry of an index, or returns nil if that has another key: the
// group has only the beginnings of keys.
func (a *Archives) openEntry(ctx context.Context, key []byte, archives []keys.Key, e index.GroupEntry) (*Object, error) {
	archive := archives[e.Archive]
	x, err := a.indexes.read(ctx, archive)
	if err != nil {
		return nil, err
	}
	entry, _, ok := x.Find(key)
	if !ok {
		return nil, nil //nolint:nilnil // another file whose key begins alike
	}
	row, err := a.bring(ctx, archive, e)
	if err != nil {
		return nil, err
	}
	_, named := a.named[keys.Short(key)]
	tried := row != nil && row.failed.Load()
	f, err := openRemoteFile(ctx, a.from, a.chunks, File{Key: entry.Key, Archive: archive, Off: e.Off, Size: e.Size, Own: named, Guess: tried})
	if err != nil {
		return nil, err
	}
	f.Guess = false
	if row != nil {
		row.setLast(f)
	}
	return f, nil
}

// unlisted opens a file that no index of an archive has. The build configuration has its size,
// the index of loose files, or else the encoding file. why is the error of a place that it should
// be at: where all loose files are listed, it is not among them then.
func (a *Archives) unlisted(ctx context.Context, t *remoteTable, key []byte, why error) (*Object, error) {
	if n, ok := a.namedBy(key); ok {
		return a.openLoose(ctx, File{Key: n.key, Size: n.size, Own: true})
	}
	if t.loose != nil {
		if e, _, ok := t.loose.Find(key); ok {
			return a.openLoose(ctx, File{Key: e.Key, Size: e.Size})
		}
	}
	if t.loose != nil && why != nil {
		return nil, why
	}
	if a.Encoded == nil {
		return nil, iofs.ErrNotExist
	}
	e, err := a.Encoded(ctx, key)
	if errors.Is(err, format.ErrNotFound) {
		err = fmt.Errorf("%w: %w", err, iofs.ErrNotExist)
	}
	if err != nil {
		return nil, err
	}
	if a.strays.hopeless(t) {
		return nil, fmt.Errorf("no index lists it: %w", iofs.ErrNotExist)
	}
	f, err := a.openLoose(ctx, File{Key: e.EKey, Size: e.Size})
	a.strays.count(err)
	return f, err
}

// strays are files that no index lists. Those of an archive whose index is lost may lie loose on some
// host, as in a mirror that has no indexes at all, so each is looked for.
type strays struct{ missed, found atomic.Int64 }

// maxMissed is how many strays are looked for where the hosts have indexes, and not one was found.
const maxMissed = 64

func (s *strays) count(err error) {
	switch {
	case err == nil:
		s.found.Add(1)
	case IsGone(err):
		s.missed.Add(1)
	}
}

// hopeless reports whether the hosts have archives with their indexes, and no strays.
func (s *strays) hopeless(t *remoteTable) bool {
	return t.group.Len() > 0 && s.found.Load() == 0 && s.missed.Load() >= maxMissed
}

// Lists reports whether an index lists a file.
func (a *Archives) Lists(ctx context.Context, key []byte) bool {
	t, err := a.indexes.get(ctx)
	if err != nil {
		return false
	}
	if _, ok := t.group.First(key); ok {
		return true
	}
	if t.loose == nil {
		return false
	}
	_, _, ok := t.loose.Find(key)
	return ok
}

// openLoose opens a loose file. Without a size it fetches all of it.
func (a *Archives) openLoose(ctx context.Context, f File) (*Object, error) {
	if f.Size > 0 {
		return openRemoteFile(ctx, a.from, a.chunks, f)
	}
	data, err := a.from.Loose(ctx, f, func(b []byte) error { return proveWhole(b, f.Key) })
	if err != nil {
		return nil, err
	}
	if f.Size = int64(len(data)); f.Size == 0 {
		return nil, blteFormat.Bad(0, "loose file %v has no bytes", f.Key)
	}
	a.chunks.put(f.Key, whole, data)
	return &Object{File: f, from: a.from, chunks: a.chunks}, nil
}

// Has takes every file for present.
func (a *Archives) Has([]byte) (bool, error) { return true, nil }

// Refresh implements [store.Archives].
func (a *Archives) Refresh() (bool, error) { return false, nil }

// Spans returns the files of all builds that the archives have.
func (a *Archives) Spans(ctx context.Context) (all []store.Entry, faults []error) {
	t, err := a.indexes.get(ctx)
	if err != nil {
		return nil, []error{err}
	}
	for i := range t.group.Len() {
		e := t.group.Entry(i)
		s := store.Entry{KeySize: len(e.Key), Location: index.Location{Archive: e.Archive, Off: e.Off, Size: e.Size}}
		copy(s.Key[:], e.Key[:])
		all = append(all, s)
	}
	if t.loose != nil {
		n := len(t.group.Archives)
		for e := range t.loose.Entries() {
			all = append(all, store.Entry{Key: e.Key, KeySize: len(e.Key), Index: store.Loose, Location: index.Location{Archive: n, Size: e.Size}})
			n++
		}
	}
	store.Sort(all)
	return all, slices.Concat(t.faults, t.failed)
}

// At implements [store.Archives].
func (a *Archives) At(ctx context.Context, e *store.Entry) (store.File, error) {
	t, err := a.indexes.get(ctx)
	if err != nil {
		return store.File{}, err
	}
	key := e.Key[:e.KeySize]
	var f *Object
	if e.Index == store.Loose {
		f, err = a.openLoose(ctx, File{Key: e.Key, Size: e.Size})
	} else {
		f, err = a.openEntry(ctx, key, t.group.Archives, index.GroupEntry{Key: keys.Short(key), Archive: e.Archive, Off: e.Off, Size: e.Size})
	}
	if err == nil && f == nil {
		err = format.ErrNotFound
	}
	if err != nil {
		return store.File{}, a.fail(key, err)
	}
	return f.Place(), nil
}

// Shmem implements [store.Archives].
func (a *Archives) Shmem() (*index.Shmem, error) {
	return nil, fmt.Errorf("casc: a remote storage has no shmem: %w", iofs.ErrNotExist)
}

// IndexNames implements [store.Archives].
func (a *Archives) IndexNames() ([]keys.Key, error) {
	return slices.SortedFunc(slices.Values(a.indexes.names), keys.Key.Compare), nil
}

// ReadIndex implements [store.Archives].
func (a *Archives) ReadIndex(ctx context.Context, name keys.Key) (*index.Archive, error) {
	return a.indexes.read(ctx, name)
}

// DiskSize implements [store.Archives].
func (a *Archives) DiskSize() int64 { return 0 }

// Problems implements [store.Archives].
func (a *Archives) Problems() []error { return nil }

// Close implements [io.Closer].
func (a *Archives) Close() error { return nil }

// remoteIndexes are the indexes of archives, read when first needed and made one table.
type remoteIndexes struct {
	from     Remote
	progress func(done, total int)
	store    cache.Store
	log      *slog.Logger
	// names are the archives, and loose is the index of loose files or zero.
	names []keys.Key
	loose keys.Key
	reads flight.Group[struct{}, *remoteTable]
	table atomic.Pointer[remoteTable]
	// parsed are the indexes that were read last.
	parsed *lru.Cache[keys.Key, *index.Archive]
}

// remoteTable is the table of all indexes but those that are nowhere, which are faults, and those
// that could not be read when it was made.
type remoteTable struct {
	group          *index.Group
	loose          *index.Archive
	faults, failed []error
	made           time.Time
}

// unread returns why something that is not in the table may be in an archive all the same.
func (t *remoteTable) unread() error {
	if len(t.failed) == 0 {
		return nil
	}
	return t.failed[0]
}

// stale reports whether it is time to read what could not be read before.
func (t *remoteTable) stale() bool { return len(t.failed) > 0 && time.Since(t.made) > failedStays }

const (
	// failedStays is how long an index that could not be read is not asked for again.
	failedStays = 30 * time.Second
	// maxParsed is how many parsed indexes are kept, of some 100 KB each.
	maxParsed = 64
	// indexesAtOnce is how many indexes are fetched at the same time.
	indexesAtOnce = 16
)

// get returns the table, and makes it first if needed.
func (x *remoteIndexes) get(ctx context.Context) (*remoteTable, error) {
	if t := x.table.Load(); t != nil && !t.stale() {
		return t, nil
	}
	return x.reads.Do(ctx, struct{}{}, func(ctx context.Context) (*remoteTable, error) {
		// Another caller may have made it between our look and our turn.
		old := x.table.Load()
		if old != nil && !old.stale() {
			return old, nil
		}
		t, err := x.load(ctx)
		switch {
		case err == nil:
			x.table.Store(t)
		case old != nil && ctx.Err() == nil:
			return old, nil
		}
		return t, err
	})
}

// read returns an index.
func (x *remoteIndexes) read(ctx context.Context, name keys.Key) (*index.Archive, error) {
	if index, ok := x.parsed.Get(name); ok {
		return index, nil
	}
	index, err := x.fetch(ctx, name)
	if err == nil {
		x.parsed.Add(name, index)
	}
	return index, err
}

func (x *remoteIndexes) fetch(ctx context.Context, name keys.Key) (*index.Archive, error) {
	check := func(data []byte) error {
		_, err := index.ParseNamed(data, name)
		return err
	}
	data, err := x.from.Index(ctx, name, check)
	if err != nil {
		return nil, fmt.Errorf("index of archive %v: %w", name, err)
	}
	return index.ParseNamed(data, name)
}

// load makes the table, or takes it from the store.
func (x *remoteIndexes) load(ctx context.Context) (*remoteTable, error) {
	t := &remoteTable{made: time.Now()}
	if !x.loose.IsZero() {
		var err error
		t.loose, err = x.fetch(ctx, x.loose)
		if ctx.Err() != nil {
			return nil, err
		}
		t.lacks(err)
	}
	id := cache.ID{Kind: index.GroupKind, Of: x.key()}
	if t.group = x.stored(id); t.group != nil {
		return t, nil
	}
	b, lacking, err := x.build(ctx)
	if err != nil {
		return nil, err
	}
	for _, err := range lacking {
		x.log.Warn("files of an archive can't be found", slog.Any("err", err))
		t.lacks(err)
	}
	sealed := b.Finish(id)
	t.group = &b.Group
	// What is nowhere now may come.
	if x.store != nil && len(lacking) == 0 {
		if err := id.Save(x.store, sealed); err != nil {
			x.log.Warn("the table of archives can't be kept", slog.Any("err", err))
		}
	}
	return t, nil
}

// lacks notes why an index is not in the table, unless err is nil.
func (t *remoteTable) lacks(err error) {
	switch {
	case err == nil:
	case IsGone(err):
		t.faults = append(t.faults, err)
	default:
		t.failed = append(t.failed, err)
	}
}

// key returns a hash of what the table is made from: the names, which prove the content.
func (x *remoteIndexes) key() [32]byte {
	h := sha256.New()
	fmt.Fprintln(h, "remote")
	for i := range x.names {
		h.Write(x.names[i][:])
	}
	return [32]byte(h.Sum(nil))
}

// stored returns the table that the store has, or nil.
func (x *remoteIndexes) stored(id cache.ID) *index.Group {
	if x.store == nil {
		return nil
	}
	data, err := id.Load(x.store)
	var g *index.Group
	if err == nil {
		g, err = index.ParseGroup(data)
	}
	if err != nil && !errors.Is(err, iofs.ErrNotExist) {
		x.log.Warn("the table of archives is damaged and made anew", slog.Any("err", err))
	}
	return g
}

// build fetches all indexes. lacking says which could not be had. If those are all, or many in a
// row, the hosts are down: that is an error, and what could be fetched comes from the cache the
// next time.
func (x *remoteIndexes) build(ctx context.Context) (b *index.GroupBuilder, lacking []error, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	b = index.NewGroupBuilder()
	for i, name := range x.names { // in their order, so that places are the same each time
		b.Numbers[name] = i
	}
	b.Archives = slices.Clone(x.names)
	var mu sync.Mutex // guards b, lacking, inRow and done
	done, inRow := 0, 0
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(indexesAtOnce, len(x.names)) {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(x.names) && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				index, err := x.fetch(ctx, x.names[i])
				mu.Lock()
				if err == nil {
					err = b.Add(x.names[i], index, nil)
				}
				if err != nil {
					lacking = append(lacking, err)
				}
				if inRow++; err == nil || IsGone(err) {
					inRow = 0
				}
				if inRow >= min(indexesAtOnce, len(x.names)) {
					cancel(err)
				}
				done++
				if x.progress != nil && ctx.Err() == nil {
					x.progress(done, len(x.names))
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if ctx.Err() != nil {
		return nil, nil, context.Cause(ctx)
	}
	return b, lacking, nil
}
