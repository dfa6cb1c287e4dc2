package casc

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"iter"
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"lorefs/blte"
	"lorefs/casc/index"
	"lorefs/casc/internal/format"
	"lorefs/casc/keys"
)

// localArchives are the archives data.NNN of an installed game with their index. The game
// may write to both meanwhile.
type localArchives struct {
	fsys iofs.FS
	dir  string
	// blocks and numbers are for the index. blocks may be nil.
	blocks  blte.BlockCache
	numbers *blockNumbers
	now     atomic.Pointer[localState]
	// refreshing is held while the folder is looked at again. Whoever waits for it uses the
	// result.
	refreshing sync.Mutex
	replaced   replacedFiles
}

// localState is the state of the folder when it was last looked at.
type localState struct {
	fsys    iofs.FS
	dir     string
	indexes [index.Buckets]*localIdx
	faults  []error
	// open has the archives that have been needed so far.
	open [index.MaxArchives]atomic.Pointer[file]
}

// absent stands for an archive that is missing.
var absent = &file{}

// localIdx is an index file and its open file.
type localIdx struct {
	*index.Idx
	idxFile
	stamp
	src *file
}

// idxFile is the parsed name of an index file.
type idxFile struct {
	name            string
	bucket, version int
}

// openLocal opens the index files of a folder.
func openLocal(fsys iofs.FS, dir string, blocks blte.BlockCache, numbers *blockNumbers) (*localArchives, error) {
	l := &localArchives{fsys: fsys, dir: dir, blocks: blocks, numbers: numbers}
	s, err := l.look(&localState{})
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(s.indexes[:], func(x *localIdx) bool { return x != nil }) {
		return nil, errors.Join(s.faults...)
	}
	l.now.Store(s)
	return l, nil
}

// look opens those index files of the folder that have changed. Of each bucket the highest
// version counts. If that is damaged, look notes the fault and takes the next lower one.
func (l *localArchives) look(before *localState) (*localState, error) {
	files, err := idxFiles(l.fsys, l.dir)
	if err != nil {
		return nil, err
	}
	s := &localState{fsys: l.fsys, dir: l.dir}
	for _, f := range files {
		if s.indexes[f.bucket] != nil {
			continue
		}
		x, err := l.openIdx(f, before.indexes[f.bucket])
		if err != nil {
			s.faults = append(s.faults, err)
			continue
		}
		for _, p := range x.Problems {
			s.faults = append(s.faults, fmt.Errorf("%s: %w", f.name, p))
		}
		s.indexes[f.bucket] = x
	}
	for b, x := range s.indexes {
		switch {
		case x != nil:
		case before.indexes[b] != nil:
			// The game is writing the index, or has removed it. The old one is the best
			// there is.
			s.indexes[b] = before.indexes[b]
		default:
			s.faults = append(s.faults, fmt.Errorf("casc: bucket %x has no index: its files count as not local", b))
		}
	}
	return s, nil
}

// idxFiles lists the index files of a folder, the highest version first.
func idxFiles(fsys iofs.FS, dir string) ([]idxFile, error) {
	entries, err := readDir(fsys, dir)
	if err != nil {
		return nil, err
	}
	var files []idxFile
	for _, e := range entries {
		if b, v, ok := index.ParseIdxName(e.Name()); ok {
			files = append(files, idxFile{e.Name(), b, v})
		}
	}
	slices.SortStableFunc(files, func(a, b idxFile) int { return b.version - a.version })
	return files, nil
}

// openIdx opens an index file, unless it is the one that was open before.
func (l *localArchives) openIdx(f idxFile, before *localIdx) (*localIdx, error) {
	name := path.Join(l.dir, f.name)
	// Take the stamp first, so that a later write is noticed the next time.
	st, err := stampOf(l.fsys, name)
	if err != nil {
		return nil, err
	}
	if before != nil && before.idxFile == f && before.same(st) {
		return before, nil
	}
	src, err := openFile(l.fsys, name)
	if err != nil {
		return nil, err
	}
	x, err := index.NewIdx(src, src.size, index.IdxOptions{Blocks: l.blocks, FirstBlock: l.numbers.fresh()})
	if err == nil && x.Bucket != f.bucket {
		err = index.IdxFormat.Bad(10, "bucket %x", x.Bucket)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", name, err), src.Close())
	}
	return &localIdx{x, f, st, src}, nil
}

// refresh looks at the folder again. It returns false if nothing has changed.
func (l *localArchives) refresh() (bool, error) {
	l.refreshing.Lock()
	defer l.refreshing.Unlock()
	before := l.now.Load()
	s, err := l.look(before)
	if err != nil {
		return false, err
	}
	if s.indexes == before.indexes && !before.written() {
		return false, nil
	}
	l.now.Store(s)
	l.replaced.add(before.filesBut(s)...)
	return true, nil
}

// filesBut returns the open files, except for the indexes that now uses too.
func (s *localState) filesBut(now *localState) (files []*file) {
	for b, x := range s.indexes {
		if x != nil && x != now.indexes[b] {
			files = append(files, x.src)
		}
	}
	for n := range s.open {
		if f := s.open[n].Load(); f != nil && f != absent {
			files = append(files, f)
		}
	}
	return files
}

// written reports whether an archive in use has been written to.
func (s *localState) written() bool {
	for n := range s.open {
		f := s.open[n].Load()
		if f == nil {
			continue
		}
		now, err := stampOf(s.fsys, path.Join(s.dir, archiveName(n)))
		if (err != nil) != (f == absent) || err == nil && !now.same(f.stamp) {
			return true
		}
	}
	return false
}

// entries yields the entries of a key that lead to data, the newest first. It looks in the bucket
// of the key, then in others that have keys which should not be there, because an entry is not
// always where it should be. It ignores other buckets that can't be read: one damaged index must
// not make the files of the others unreadable.
func (s *localState) entries(key []byte) iter.Seq2[index.IdxEntry, error] {
	return func(yield func(index.IdxEntry, error) bool) {
		short := keys.Short(key)
		own := index.Bucket(short)
		for i := range index.Buckets {
			x := s.indexes[(own+i)%index.Buckets]
			if x == nil || !x.MayHave(short) {
				continue
			}
			for e, err := range x.All(short) {
				if err != nil && i == 0 {
					yield(index.IdxEntry{}, fmt.Errorf("%s: %w", x.name, err))
					return
				}
				if err != nil || e.Status == index.IdxDeleted {
					break // older entries of a file that was removed don't count
				}
				if e.Local() && !yield(e, nil) {
					return
				}
			}
		}
	}
}

func (l *localArchives) has(key []byte) (bool, error) {
	s := l.now.Load()
	for e, err := range s.entries(key) {
		if err == nil {
			_, err = s.archive(e.Archive)
		}
		if !errors.Is(err, ErrNotLocal) {
			return err == nil, err
		}
	}
	return false, nil
}

// find returns the newest place that can hold the file.
func (l *localArchives) find(_ context.Context, key []byte) (place, error) {
	s := l.now.Load()
	var first error
	for e, err := range s.entries(key) {
		var p place
		if err == nil {
			p, err = s.place(e.Location)
		}
		if err == nil {
			return p, nil
		}
		first = cmp.Or(first, err)
	}
	if b := index.Bucket(keys.Short(key)); first == nil && s.indexes[b] == nil {
		first = fmt.Errorf("bucket %x has no index: %w", b, ErrNotLocal)
	}
	return place{}, fmt.Errorf("encoding key %x: %w", key, cmp.Or(first, ErrNotLocal))
}

func (l *localArchives) others(key []byte) (all []place) {
	s := l.now.Load()
	for e, err := range s.entries(key) {
		if err != nil {
			continue
		}
		if p, err := s.place(e.Location); err == nil {
			all = append(all, p)
		}
	}
	return all[min(1, len(all)):]
}

// place returns the place that an entry of the index leads to.
func (s *localState) place(at index.Location) (place, error) {
	f, err := s.archive(at.Archive)
	if err != nil {
		return place{}, err
	}
	if at.Off > f.size || at.Size > f.size-at.Off {
		return place{}, &FormatError{
			Format: archiveName(at.Archive), Off: at.Off,
			What: fmt.Sprintf("a span of %d bytes, the archive has %d", at.Size, f.size),
		}
	}
	size := at.Size - index.SpanHeaderSize
	return place{
		ReaderAt: io.NewSectionReader(f, at.Off+index.SpanHeaderSize, size), size: size,
		file: archiveName(at.Archive), off: at.Off + index.SpanHeaderSize,
	}, nil
}

func archiveName(n int) string { return fmt.Sprintf("data.%03d", n) }

// archive opens an archive when it is first needed.
func (s *localState) archive(n int) (*file, error) {
	f := s.open[n].Load()
	if f == nil {
		var err error
		f, err = openFile(s.fsys, path.Join(s.dir, archiveName(n)))
		switch {
		case errors.Is(err, iofs.ErrNotExist):
			f = absent
		case err != nil:
			return nil, err
		}
		if !s.open[n].CompareAndSwap(nil, f) {
			// Another goroutine was faster.
			if f != absent {
				if err := f.Close(); err != nil {
					return nil, err
				}
			}
			f = s.open[n].Load()
		}
	}
	if f == absent {
		return nil, fmt.Errorf("no %s: %w", archiveName(n), ErrNotLocal)
	}
	return f, nil
}

func (l *localArchives) spans(context.Context) (all []spanEntry, faults []error) {
	for _, x := range l.now.Load().indexes {
		if x == nil {
			continue
		}
		for e, err := range x.Entries() {
			if err != nil {
				faults = append(faults, fmt.Errorf("%s: %w", x.name, err))
				break
			}
			if e.Local() {
				s := spanEntry{keySize: len(e.Key), at: Place{e.Archive, e.Off}, size: e.Size}
				copy(s.key[:], e.Key[:])
				all = append(all, s)
			}
		}
	}
	sortSpans(all)
	return all, faults
}

func (l *localArchives) at(_ context.Context, e *spanEntry) (place, error) {
	return l.now.Load().place(index.Location{Archive: e.at.Archive, Off: e.at.Off, Size: e.size})
}

func (l *localArchives) shmem() (*index.Shmem, error) {
	data, err := readFile(l.fsys, path.Join(l.dir, "shmem"), format.MaxText)
	if err != nil {
		return nil, err
	}
	return index.ParseShmem(data)
}

// indices looks for the folder of the CDN's indexes, which lies beside that of the archives. It
// returns "" if there is none.
func (l *localArchives) indices() (string, error) {
	name := path.Join(path.Dir(l.dir), "indices")
	if has, err := exists(l.fsys, name); !has || err != nil {
		return "", err
	}
	return name, nil
}

func (l *localArchives) indexNames() ([]keys.Key, error) {
	dir, err := l.indices()
	if err != nil || dir == "" {
		return nil, err
	}
	entries, err := readDir(l.fsys, dir)
	if err != nil {
		return nil, err
	}
	var names []keys.Key
	for _, e := range entries {
		text, index := strings.CutSuffix(e.Name(), indexSuffix)
		if key, err := keys.Parse(text); index && err == nil {
			names = append(names, key)
		}
	}
	slices.SortFunc(names, keys.Key.Compare)
	return names, nil
}

func (l *localArchives) readIndex(_ context.Context, name keys.Key) (*index.Archive, error) {
	dir, err := l.indices()
	if err != nil {
		return nil, err
	}
	file := path.Join(dir, name.String()+indexSuffix)
	if has, err := exists(l.fsys, file); dir == "" || !has || err != nil {
		return nil, cmp.Or(err, fmt.Errorf("index %v: %w", name, ErrNotFound))
	}
	return readNamedIndex(l.fsys, file, name)
}

func (l *localArchives) diskSize() int64 { return sizeOf(l.fsys, l.dir) }

func (l *localArchives) problems() []error { return l.now.Load().faults }

func (l *localArchives) Close() error {
	s := l.now.Load()
	var errs []error
	for _, x := range s.indexes {
		if x != nil {
			errs = append(errs, x.src.Close())
		}
	}
	for n := range s.open {
		if f := s.open[n].Swap(absent); f != nil && f != absent {
			errs = append(errs, f.Close())
		}
	}
	return errors.Join(append(errs, l.replaced.Close())...)
}
