package casc

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"path"
	"strings"
	"sync"
)

// mirrorArchives is a folder as CDNs have it: data/ab/cd/KEY for archives and
// loose files, data/ab/cd/KEY.index for the indexes of archives.
type mirrorArchives struct {
	fsys    iofs.FS
	dir     string
	indexes []mirrorIndex
	// archives are those of the CDN configuration, for groups.
	archives []Key
	// files are all archives and loose files that are there, by the beginnings of
	// their keys, for manifests may have no more.
	files  map[ShortKey]mirrorFile
	faults []error

	mu sync.Mutex // guards open
	// open has the archives that were needed so far, up to maxOpen.
	open map[Key]*file
}

// mirrorFile is an archive or a loose file.
type mirrorFile struct {
	key    Key
	number uint64
}

// maxOpen is how many archives are kept open.
const maxOpen = 256

// mirrorIndex is an index with the archive it is of.
type mirrorIndex struct {
	*ArchiveIndex
	archive Key
	// first is the number of its first entry among those of all indexes.
	first uint64
}

// openMirror reads all indexes of a folder. cdn may be nil.
func openMirror(fsys iofs.FS, dir string, cdn *Config) (*mirrorArchives, error) {
	m := &mirrorArchives{fsys: fsys, dir: dir, files: map[ShortKey]mirrorFile{}, open: map[Key]*file{}}
	if cdn != nil {
		var err error
		if m.archives, err = cdn.Keys("archives"); err != nil {
			return nil, err
		}
	}
	err := iofs.WalkDir(fsys, dir, func(name string, e iofs.DirEntry, err error) error {
		if err != nil {
			return fmt.Errorf("casc: %w", err)
		}
		text, index := strings.CutSuffix(e.Name(), ".index")
		key, bad := ParseKey(text)
		switch {
		case e.IsDir() || bad != nil:
			return nil
		case index:
			return m.addIndex(name, key)
		}
		m.files[key.Short()] = mirrorFile{key, looseNumbers + uint64(len(m.files))}
		return nil
	})
	return m, err
}

// addIndex reads an index; one that is damaged is a fault that the others live
// with.
func (m *mirrorArchives) addIndex(name string, key Key) error {
	data, err := readFile(m.fsys, name, maxTable)
	if err != nil {
		return err
	}
	x, err := ParseArchiveIndex(data)
	if err != nil {
		m.faults = append(m.faults, fmt.Errorf("%s: its files count as not local: %w", name, err))
		return nil
	}
	switch x.OffsetBytes {
	case 0, localOffsetBytes:
		return nil // loose files are found by their name
	}
	first := uint64(0)
	if n := len(m.indexes); n > 0 {
		first = m.indexes[n-1].first + uint64(m.indexes[n-1].Len())
	}
	m.indexes = append(m.indexes, mirrorIndex{ArchiveIndex: x, archive: key, first: first})
	return nil
}

// mirrorEntry is where an index says that a file is.
type mirrorEntry struct {
	ArchiveEntry
	archive Key
	number  uint64
}

// entries are the places of a file of which the archive is there.
func (m *mirrorArchives) entry(key []byte) (mirrorEntry, bool) {
	for i := range m.indexes {
		x := &m.indexes[i]
		e, n, ok := x.Find(key)
		if !ok {
			continue
		}
		archive := x.archive
		if x.OffsetBytes == groupOffsetBytes {
			if e.Archive >= len(m.archives) {
				continue
			}
			archive = m.archives[e.Archive]
		}
		if _, ok := m.file(archive[:]); ok {
			return mirrorEntry{e, archive, x.first + uint64(n)}, true
		}
	}
	return mirrorEntry{}, false
}

func (m *mirrorArchives) path(key Key) string {
	return path.Join(path.Dir(m.dir), ConfigPath(path.Base(m.dir), key))
}

// file looks for an archive or loose file by its key, or by the beginning of it.
func (m *mirrorArchives) file(key []byte) (mirrorFile, bool) {
	f, ok := m.files[ShortKey(key)]
	return f, ok && bytes.HasPrefix(f.key[:], key)
}

func (m *mirrorArchives) has(key []byte) bool {
	if _, ok := m.entry(key); ok {
		return true
	}
	_, ok := m.file(key)
	return ok
}

func (m *mirrorArchives) find(key []byte) (place, error) {
	e, ok := m.entry(key)
	if !ok {
		return m.findLoose(key)
	}
	f, err := m.archive(e.archive)
	if err != nil {
		return place{}, fmt.Errorf("encoding key %x: %w", key, err)
	}
	if e.Off > f.size || e.Size > f.size-e.Off {
		return place{}, fmt.Errorf("encoding key %x: %w", key, &FormatError{
			Format: "archive " + e.archive.String(), Off: e.Off,
			What: fmt.Sprintf("a file of %d bytes, the archive has %d", e.Size, f.size),
		})
	}
	return place{
		ReaderAt: io.NewSectionReader(f, e.Off, e.Size), size: e.Size, file: m.path(e.archive), off: e.Off, number: e.number,
	}, nil
}

// looseNumbers is above all numbers of entries.
const looseNumbers = 1 << 39

// findLoose looks for a file of its own.
func (m *mirrorArchives) findLoose(key []byte) (place, error) {
	loose, ok := m.file(key)
	if !ok {
		return place{}, fmt.Errorf("encoding key %x: %w", key, ErrNotLocal)
	}
	f := reopened{m.fsys, m.path(loose.key)}
	info, err := iofs.Stat(f.fsys, f.name)
	if err != nil {
		return place{}, fmt.Errorf("encoding key %x: %w", key, err)
	}
	return place{ReaderAt: f, size: info.Size(), file: f.name, number: loose.number}, nil
}

// reopened is a file that is open only while it is read: there may be many.
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
func (m *mirrorArchives) archive(key Key) (*file, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if f, ok := m.open[key]; ok {
		return f, nil
	}
	f, err := openFile(m.fsys, m.path(key))
	if err != nil {
		return nil, err
	}
	if len(m.open) < maxOpen {
		m.open[key] = f
		return f, nil
	}
	return &file{ReaderAt: reopened{m.fsys, m.path(key)}, size: f.size}, f.Close()
}

func (m *mirrorArchives) problems() []error { return m.faults }

func (m *mirrorArchives) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	var errs []error
	for key, f := range m.open {
		errs = append(errs, f.Close())
		delete(m.open, key)
	}
	return errors.Join(errs...)
}
