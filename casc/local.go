package casc

import (
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"path"
	"slices"
	"sync"
)

// localArchives are the archives data.NNN with their index, as installs have them.
type localArchives struct {
	fsys    iofs.FS
	dir     string
	indexes [Buckets]*Idx
	faults  []error

	mu sync.Mutex // guards open
	// open has the archives that were needed so far; nil is one that is not there.
	open map[int]*file
}

// idxFile is the name of an index file, taken apart.
type idxFile struct {
	name            string
	bucket, version int
}

// openLocal reads the index files of a folder. Of each bucket the highest version
// counts; if that is damaged the next lower one is taken, and the fault kept.
func openLocal(fsys iofs.FS, dir string) (*localArchives, error) {
	files, err := idxFiles(fsys, dir)
	if err != nil {
		return nil, err
	}
	l := &localArchives{fsys: fsys, dir: dir, open: map[int]*file{}}
	for _, f := range files {
		if l.indexes[f.bucket] != nil {
			continue
		}
		x, err := readIdx(fsys, path.Join(dir, f.name), f.bucket)
		if err != nil {
			l.faults = append(l.faults, err)
			continue
		}
		for _, p := range x.Problems {
			l.faults = append(l.faults, fmt.Errorf("%s: %w", f.name, p))
		}
		l.indexes[f.bucket] = x
	}
	found := 0
	for b, x := range l.indexes {
		if x == nil {
			l.faults = append(l.faults, fmt.Errorf("casc: bucket %x has no index: its files count as not local", b))
		} else {
			found++
		}
	}
	if found == 0 {
		return nil, errors.Join(l.faults...)
	}
	return l, nil
}

// idxFiles lists the index files of a folder, the highest version first.
func idxFiles(fsys iofs.FS, dir string) ([]idxFile, error) {
	entries, err := iofs.ReadDir(fsys, dir)
	if err != nil {
		return nil, fmt.Errorf("casc: %w", err)
	}
	var files []idxFile
	for _, e := range entries {
		if b, v, ok := ParseIdxName(e.Name()); ok {
			files = append(files, idxFile{e.Name(), b, v})
		}
	}
	slices.SortStableFunc(files, func(a, b idxFile) int { return b.version - a.version })
	return files, nil
}

func readIdx(fsys iofs.FS, name string, bucket int) (*Idx, error) {
	data, err := readFile(fsys, name, maxTable)
	if err != nil {
		return nil, err
	}
	x, err := ParseIdx(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if x.Bucket != bucket {
		return nil, fmt.Errorf("%s: %w", name, idx.bad(10, "bucket %x", x.Bucket))
	}
	return x, nil
}

// entry looks in the bucket of the key, then in the others: an entry is not
// always where it should be.
func (l *localArchives) entry(key []byte) (IdxEntry, bool) {
	short := ShortKey(key)
	own := Bucket(short)
	for i := range Buckets {
		x := l.indexes[(own+i)%Buckets]
		if x == nil {
			continue
		}
		if e, ok := x.Find(short); ok && e.Local() {
			return e, true
		}
	}
	return IdxEntry{}, false
}

func (l *localArchives) has(key []byte) bool {
	e, ok := l.entry(key)
	if !ok {
		return false
	}
	_, err := l.archive(e.Archive)
	return !errors.Is(err, ErrNotLocal) // another error is for whoever reads it
}

func (l *localArchives) find(key []byte) (place, error) {
	e, ok := l.entry(key)
	if !ok {
		if b := Bucket(ShortKey(key)); l.indexes[b] == nil {
			return place{}, fmt.Errorf("encoding key %x: bucket %x has no index: %w", key, b, ErrNotLocal)
		}
		return place{}, fmt.Errorf("encoding key %x: %w", key, ErrNotLocal)
	}
	f, err := l.archive(e.Archive)
	if err != nil {
		return place{}, fmt.Errorf("encoding key %x: %w", key, err)
	}
	if e.Off > f.size || e.Size > f.size-e.Off {
		return place{}, fmt.Errorf("encoding key %x: %w", key, &FormatError{
			Format: archiveName(e.Archive), Off: e.Off,
			What: fmt.Sprintf("a span of %d bytes, the archive has %d", e.Size, f.size),
		})
	}
	size := e.Size - SpanHeaderSize
	return place{
		ReaderAt: io.NewSectionReader(f, e.Off+SpanHeaderSize, size), size: size,
		file: archiveName(e.Archive), off: e.Off + SpanHeaderSize,
		number: uint64(e.Archive)<<idxOffsetBits | uint64(e.Off),
	}, nil
}

func archiveName(n int) string { return fmt.Sprintf("data.%03d", n) }

// archive opens an archive when it is first needed.
func (l *localArchives) archive(n int) (*file, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f, known := l.open[n]
	if !known {
		var err error
		f, err = openFile(l.fsys, path.Join(l.dir, archiveName(n)))
		if err != nil && !errors.Is(err, iofs.ErrNotExist) {
			return nil, err
		}
		l.open[n] = f
	}
	if f == nil {
		return nil, fmt.Errorf("no %s: %w", archiveName(n), ErrNotLocal)
	}
	return f, nil
}

func (l *localArchives) problems() []error { return l.faults }

func (l *localArchives) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	var errs []error
	for n, f := range l.open {
		if f != nil {
			errs = append(errs, f.Close())
		}
		delete(l.open, n)
	}
	return errors.Join(errs...)
}
