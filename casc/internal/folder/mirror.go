package folder

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"log/slog"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"

	"lorefs/casc/config"
	"lorefs/casc/index"
	"lorefs/casc/internal/format"
	"lorefs/casc/internal/store"
	"lorefs/casc/keys"
	"lorefs/internal/cache"
)

// Mirror is a folder as CDNs have it: data/ab/cd/KEY for archives and loose files,
// data/ab/cd/KEY.index for the indexes of archives.
type Mirror struct {
	fsys iofs.FS
	dir  string
	// cdns are the CDN configurations, which list the archives of groups.
	cdns []*config.Config
	// group has the entries of all indexes. here says which of its archives are local.
	group *index.Group
	here  []bool
	// files are all local archives and loose files, by the first bytes of their keys, since
	// manifests may have only those.
	files map[keys.Short]keys.Key
	// indexed are the files that have an index, valid or not.
	indexed map[keys.Key]bool
	faults  []error

	mu sync.Mutex // guards open
	// open has archives that have been needed, up to maxOpen.
	open map[keys.Key]*file

	replaced replacedFiles
}

// indexSuffix ends the name of an index, behind that of its archive.
const indexSuffix = ".index"

// maxOpen is how many archives are kept open.
const maxOpen = 256

// openMirror looks for all files of a folder, and reads the indexes. store may be nil.
func openMirror(fsys iofs.FS, dir string, cdns []*config.Config, store cache.Store, log *slog.Logger) *Mirror {
	m := &Mirror{
		fsys: fsys, dir: dir, cdns: cdns,
		files: map[keys.Short]keys.Key{}, indexed: map[keys.Key]bool{}, open: map[keys.Key]*file{},
	}
	var indexes []indexFile
	fault := func(err error) { m.faults = append(m.faults, err) }
	walkKeys(fsys, dir, func(name string) {
		text, index := strings.CutSuffix(path.Base(name), indexSuffix)
		key, err := keys.Parse(text)
		switch {
		case err != nil:
			return
		case !index:
			m.files[key.Short()] = key
			return
		}
		m.indexed[key] = true
		st, err := stampOf(fsys, name)
		if err != nil {
			fault(err)
			return
		}
		indexes = append(indexes, indexFile{path: name, name: key, Stamp: st})
	}, fault)
	m.loadGroup(indexes, store, log)
	m.here = make([]bool, len(m.group.Archives))
	for i, a := range m.group.Archives {
		_, m.here[i] = m.file(a[:])
		m.indexed[a] = true
	}
	return m
}

func (m *Mirror) path(key keys.Key) string {
	return path.Join(path.Dir(m.dir), config.Path(path.Base(m.dir), key))
}

// file looks for an archive or loose file by its key or the first bytes of it.
func (m *Mirror) file(key []byte) (keys.Key, bool) {
	f, ok := m.files[keys.Short(key)]
	return f, ok && bytes.HasPrefix(f[:], key)
}

// Has implements [store.Archives].
func (m *Mirror) Has(key []byte) (bool, error) {
	for i := range m.group.Find(keys.Short(key)) {
		if m.here[m.group.Entry(i).Archive] {
			return true, nil
		}
	}
	_, ok := m.file(key)
	return ok, nil
}

// Find returns the first place that can hold the file.
func (m *Mirror) Find(_ context.Context, key []byte) (store.File, error) {
	var first error
	for i := range m.group.Find(keys.Short(key)) {
		e := m.group.Entry(i)
		if !m.here[e.Archive] {
			continue
		}
		p, err := m.placeOf(e)
		if err == nil {
			return p, nil
		}
		first = cmp.Or(first, err)
	}
	if _, ok := m.file(key); ok || first == nil {
		return m.findLoose(key)
	}
	return store.File{}, fmt.Errorf("encoding key %x: %w", key, first)
}

// Others implements [store.Archives].
func (m *Mirror) Others(key []byte) (all []store.File) {
	for i := range m.group.Find(keys.Short(key)) {
		if e := m.group.Entry(i); m.here[e.Archive] {
			if p, err := m.placeOf(e); err == nil {
				all = append(all, p)
			}
		}
	}
	if p, err := m.findLoose(key); err == nil {
		all = append(all, p)
	}
	return all[min(1, len(all)):]
}

// placeOf returns the place of an entry of an index.
func (m *Mirror) placeOf(e index.GroupEntry) (store.File, error) {
	archive := m.group.Archives[e.Archive]
	f, err := m.archive(archive)
	if err != nil {
		return store.File{}, err
	}
	if e.Off > f.Size || e.Size > f.Size-e.Off {
		return store.File{}, &format.Error{
			Format: "archive " + archive.String(), Off: e.Off,
			What: fmt.Sprintf("a file of %d bytes, the archive has %d", e.Size, f.Size),
		}
	}
	return store.File{
		ReaderAt: io.NewSectionReader(f, e.Off, e.Size), Size: e.Size, In: m.path(archive), Off: e.Off,
	}, nil
}

// findLoose looks for a loose file.
func (m *Mirror) findLoose(key []byte) (store.File, error) {
	loose, ok := m.file(key)
	if !ok {
		return store.File{}, fmt.Errorf("encoding key %x: %w", key, format.ErrNotLocal)
	}
	f := reopened{m.fsys, m.path(loose)}
	info, err := iofs.Stat(f.fsys, f.name)
	if err != nil {
		return store.File{}, fmt.Errorf("encoding key %x: %w", key, err)
	}
	return store.File{ReaderAt: f, Size: info.Size(), In: f.name}, nil
}

// reopened is a file that is open only while it is read, because there may be many.
type reopened struct {
	fsys iofs.FS
	name string
}

func (r reopened) ReadAt(p []byte, off int64) (int, error) {
	f, err := openFile(r.fsys, r.name)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	return f.ReadAt(p, off)
}

// archive opens an archive when it is first needed.
func (m *Mirror) archive(key keys.Key) (*file, error) {
	m.mu.Lock()
	f, ok := m.open[key]
	m.mu.Unlock()
	if ok {
		return f, nil
	}
	f, err := openFile(m.fsys, m.path(key))
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	other, ok := m.open[key]
	if !ok && len(m.open) < maxOpen {
		m.open[key] = f
		m.mu.Unlock()
		return f, nil
	}
	m.mu.Unlock()
	if !ok {
		other = &file{ReaderAt: reopened{m.fsys, m.path(key)}, Stamp: f.Stamp}
	}
	return other, f.Close()
}

// Refresh lets go of archives that were written to. It does not look for files that came or
// went, because a CDN never changes what it has under a key.
func (m *Mirror) Refresh() (bool, error) {
	m.mu.Lock()
	open := maps.Clone(m.open)
	m.mu.Unlock()
	changed := false
	for key, f := range open {
		if now, err := stampOf(m.fsys, m.path(key)); err == nil && now.Same(f.Stamp) {
			continue
		}
		changed = true
		m.mu.Lock()
		if m.open[key] == f {
			delete(m.open, key)
			m.replaced.add(f)
		}
		m.mu.Unlock()
	}
	return changed, nil
}

// Spans returns the files of all local archives, and then the loose files.
func (m *Mirror) Spans(context.Context) (all []store.Entry, faults []error) {
	local := slices.SortedFunc(maps.Values(m.files), keys.Key.Compare)
	number := make(map[keys.Key]int, len(local))
	for i, k := range local {
		number[k] = i
	}
	for i := range m.group.Len() {
		e := m.group.Entry(i)
		if !m.here[e.Archive] {
			continue
		}
		at := index.Location{Archive: number[m.group.Archives[e.Archive]], Off: e.Off, Size: e.Size}
		all = append(all, store.Entry{KeySize: len(e.Key), Index: i, Location: at})
		copy(all[len(all)-1].Key[:], e.Key[:])
	}
	for i, k := range local {
		if !m.indexed[k] {
			all = append(all, store.Entry{Key: k, KeySize: len(k), Index: store.Loose, Location: index.Location{Archive: len(local) + i}})
		}
	}
	store.Sort(all)
	return all, nil
}

// At implements [store.Archives].
func (m *Mirror) At(_ context.Context, e *store.Entry) (store.File, error) {
	if e.Index == store.Loose {
		return m.findLoose(e.Key[:e.KeySize])
	}
	return m.placeOf(m.group.Entry(e.Index))
}

// Shmem implements [store.Archives].
func (m *Mirror) Shmem() (*index.Shmem, error) {
	return nil, fmt.Errorf("casc: a mirror has no shmem: %w", iofs.ErrNotExist)
}

// IndexNames implements [store.Archives].
func (m *Mirror) IndexNames() ([]keys.Key, error) {
	return slices.SortedFunc(slices.Values(m.group.Indexes), keys.Key.Compare), nil
}

// ReadIndex implements [store.Archives].
func (m *Mirror) ReadIndex(_ context.Context, name keys.Key) (*index.Archive, error) {
	return readNamedIndex(m.fsys, m.path(name)+indexSuffix, name)
}

// DiskSize implements [store.Archives].
func (m *Mirror) DiskSize() int64 { return sizeOf(m.fsys, m.dir) }

// Problems implements [store.Archives].
func (m *Mirror) Problems() []error { return m.faults }

// Close implements [io.Closer].
func (m *Mirror) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	var errs []error
	for key, f := range m.open {
		errs = append(errs, f.Close())
		delete(m.open, key)
	}
	return errors.Join(append(errs, m.replaced.Close())...)
}
