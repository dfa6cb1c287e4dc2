package casc

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
)

// mirrorArchives is a folder as CDNs have it: data/ab/cd/KEY for archives and
// loose files, data/ab/cd/KEY.index for the indexes of archives.
type mirrorArchives struct {
	fsys    iofs.FS
	dir     string
	indexes []mirrorIndex
	// cdns are the CDN configurations, which say what archives groups are of.
	cdns []*Config
	// files are all archives and loose files that are there, by the beginnings of
	// their keys, for manifests may have no more.
	files  map[ShortKey]Key
	faults []error

	mu sync.Mutex // guards open
	// open has the archives that were needed so far, up to maxOpen.
	open map[Key]*file

	replaced replacedFiles
}

// maxOpen is how many archives are kept open.
const maxOpen = 256

// mirrorIndex is an index with the archive it is of.
type mirrorIndex struct {
	*ArchiveIndex
	archive Key
	// group are the archives, for an index of a group.
	group []Key
}

// openMirror reads all indexes of a folder.
func openMirror(fsys iofs.FS, dir string, cdns []*Config) (*mirrorArchives, error) {
	m := &mirrorArchives{fsys: fsys, dir: dir, cdns: cdns, files: map[ShortKey]Key{}, open: map[Key]*file{}}
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
		m.files[key.Short()] = key
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
	x, err := parseNamedIndex(data, key)
	if err != nil {
		m.faults = append(m.faults, fmt.Errorf("%s: its files count as not local: %w", name, err))
		return nil
	}
	var group []Key
	switch x.OffsetBytes {
	case 0, localOffsetBytes:
		return nil // loose files are found by their name
	case groupOffsetBytes:
		if group, err = m.groupOf(key); err != nil {
			m.faults = append(m.faults, fmt.Errorf("%s: the index is not used: %w", name, err))
			return nil
		}
	}
	m.indexes = append(m.indexes, mirrorIndex{ArchiveIndex: x, archive: key, group: group})
	return nil
}

// groupOf gives the archives that an index is of: those of the CDN configuration that
// names it, or of the only one.
func (m *mirrorArchives) groupOf(name Key) ([]Key, error) {
	for _, c := range m.cdns {
		groups, err := c.Keys("archive-group")
		if err == nil && slices.Contains(groups, name) || len(m.cdns) == 1 {
			return c.Keys("archives")
		}
	}
	return nil, fmt.Errorf("none of %d CDN configurations says which archives it is of", len(m.cdns))
}

// mirrorEntry is where an index says that a file is.
type mirrorEntry struct {
	ArchiveEntry
	archive Key
}

// entries are the places of a file of which the archive is there.
func (m *mirrorArchives) entry(key []byte) (mirrorEntry, bool) {
	for i := range m.indexes {
		x := &m.indexes[i]
		e, _, ok := x.Find(key)
		if !ok {
			continue
		}
		if archive, ok := m.archiveOf(x, e); ok {
			return mirrorEntry{e, archive}, true
		}
	}
	return mirrorEntry{}, false
}

func (m *mirrorArchives) path(key Key) string {
	return path.Join(path.Dir(m.dir), ConfigPath(path.Base(m.dir), key))
}

// file looks for an archive or loose file by its key, or by the beginning of it.
func (m *mirrorArchives) file(key []byte) (Key, bool) {
	f, ok := m.files[ShortKey(key)]
	return f, ok && bytes.HasPrefix(f[:], key)
}

func (m *mirrorArchives) has(key []byte) (bool, error) {
	if _, ok := m.entry(key); ok {
		return true, nil
	}
	_, ok := m.file(key)
	return ok, nil
}

func (m *mirrorArchives) find(key []byte) (place, error) {
	e, ok := m.entry(key)
	if !ok {
		return m.findLoose(key)
	}
	p, err := m.placeOf(e)
	if err != nil {
		return place{}, fmt.Errorf("encoding key %x: %w", key, err)
	}
	return p, nil
}

// placeOf is where an index says that a file is.
func (m *mirrorArchives) placeOf(e mirrorEntry) (place, error) {
	f, err := m.archive(e.archive)
	if err != nil {
		return place{}, err
	}
	if e.Off > f.size || e.Size > f.size-e.Off {
		return place{}, &FormatError{
			Format: "archive " + e.archive.String(), Off: e.Off,
			What: fmt.Sprintf("a file of %d bytes, the archive has %d", e.Size, f.size),
		}
	}
	return place{
		ReaderAt: io.NewSectionReader(f, e.Off, e.Size), size: e.Size, file: m.path(e.archive), off: e.Off,
	}, nil
}

// findLoose looks for a file of its own.
func (m *mirrorArchives) findLoose(key []byte) (place, error) {
	loose, ok := m.file(key)
	if !ok {
		return place{}, fmt.Errorf("encoding key %x: %w", key, ErrNotLocal)
	}
	f := reopened{m.fsys, m.path(loose)}
	info, err := iofs.Stat(f.fsys, f.name)
	if err != nil {
		return place{}, fmt.Errorf("encoding key %x: %w", key, err)
	}
	return place{ReaderAt: f, size: info.Size(), file: f.name}, nil
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
		other = &file{ReaderAt: reopened{m.fsys, m.path(key)}, stamp: f.stamp}
	}
	return other, f.Close()
}

// refresh lets go of archives that were written to. Files that came or went are not
// looked for: what a CDN has under a key never changes.
func (m *mirrorArchives) refresh() (bool, error) {
	m.mu.Lock()
	open := maps.Clone(m.open)
	m.mu.Unlock()
	changed := false
	for key, f := range open {
		if now, err := stampOf(m.fsys, m.path(key)); err == nil && now.same(f.stamp) {
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

// spans are the files of all archives that are there, and then the loose ones.
func (m *mirrorArchives) spans() (all []spanEntry, faults []error) {
	keys := slices.SortedFunc(maps.Values(m.files), Key.Compare)
	number := make(map[Key]int, len(keys))
	for i, k := range keys {
		number[k] = i
	}
	inArchive := map[Key]bool{}
	for i := range m.indexes {
		x := &m.indexes[i]
		for e := range x.Entries() {
			archive, ok := m.archiveOf(x, e)
			if !ok {
				continue
			}
			inArchive[archive] = true
			all = append(all, spanEntry{key: e.Key, keySize: len(e.Key), index: i, at: Place{number[archive], e.Off}, size: e.Size})
		}
	}
	for i, k := range keys {
		if !inArchive[k] {
			all = append(all, spanEntry{key: k, keySize: len(k), index: loose, at: Place{len(keys) + i, 0}})
		}
	}
	sortSpans(all)
	return all, nil
}

// loose stands for no index.
const loose = -1

func (m *mirrorArchives) at(e *spanEntry) (place, error) {
	key := e.key[:e.keySize]
	if e.index == loose {
		return m.findLoose(key)
	}
	x := &m.indexes[e.index]
	entry, _, ok := x.Find(key)
	archive, there := m.archiveOf(x, entry)
	if !ok || !there {
		return place{}, fmt.Errorf("encoding key %x: %w", key, ErrNotLocal)
	}
	return m.placeOf(mirrorEntry{entry, archive})
}

// archiveOf is the archive that an entry of an index leads to, if it is there.
func (m *mirrorArchives) archiveOf(x *mirrorIndex, e ArchiveEntry) (Key, bool) {
	archive := x.archive
	if x.OffsetBytes == groupOffsetBytes {
		if e.Archive >= len(x.group) {
			return Key{}, false
		}
		archive = x.group[e.Archive]
	}
	return m.file(archive[:])
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
	return errors.Join(append(errs, m.replaced.Close())...)
}
