package folder

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
	"lorefs/casc/internal/store"
	"lorefs/casc/keys"
)

// Installed are the archives data.NNN of an installed game with their index. The game
// may write to both meanwhile.
type Installed struct {
	fsys iofs.FS
	dir  string
	// blocks and numbers are for the index. blocks may be nil.
	blocks  blte.BlockCache
	numbers *store.Numbers
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
	store.Stamp
	src *file
}

// idxFile is the parsed name of an index file.
type idxFile struct {
	name            string
	bucket, version int
}

// openLocal opens the index files of a folder.
func openLocal(fsys iofs.FS, dir string, blocks blte.BlockCache, numbers *store.Numbers) (*Installed, error) {
	l := &Installed{fsys: fsys, dir: dir, blocks: blocks, numbers: numbers}
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
func (l *Installed) look(before *localState) (*localState, error) {
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
func (l *Installed) openIdx(f idxFile, before *localIdx) (*localIdx, error) {
	name := path.Join(l.dir, f.name)
	// Take the stamp first, so that a later write is noticed the next time.
	st, err := stampOf(l.fsys, name)
	if err != nil {
		return nil, err
	}
	if before != nil && before.idxFile == f && before.Same(st) {
		return before, nil
	}
	src, err := openFile(l.fsys, name)
	if err != nil {
		return nil, err
	}
	x, err := index.NewIdx(src, src.Size, index.IdxOptions{Blocks: l.blocks, FirstBlock: l.numbers.Fresh()})
	if err == nil && x.Bucket != f.bucket {
		err = index.IdxFormat.Bad(10, "bucket %x", x.Bucket)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", name, err), src.Close())
	}
	return &localIdx{x, f, st, src}, nil
}

// Refresh looks at the folder again. It returns false if nothing has changed.
func (l *Installed) Refresh() (bool, error) {
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
		if (err != nil) != (f == absent) || err == nil && !now.Same(f.Stamp) {
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

// Has implements [store.Archives].
func (l *Installed) Has(key []byte) (bool, error) {
	s := l.now.Load()
	for e, err := range s.entries(key) {
		if err == nil {
			_, err = s.archive(e.Archive)
		}
		if !errors.Is(err, format.ErrNotLocal) {
			return err == nil, err
		}
	}
	return false, nil
}

// Find returns the newest place that can hold the file.
func (l *Installed) Find(_ context.Context, key []byte) (store.File, error) {
	s := l.now.Load()
	var first error
	for e, err := range s.entries(key) {
		var p store.File
		if err == nil {
			p, err = s.place(e.Location)
		}
		if err == nil {
			return p, nil
		}
		first = cmp.Or(first, err)
	}
	if b := index.Bucket(keys.Short(key)); first == nil && s.indexes[b] == nil {
		first = fmt.Errorf("bucket %x has no index: %w", b, format.ErrNotLocal)
	}
	return store.File{}, fmt.Errorf("encoding key %x: %w", key, cmp.Or(first, format.ErrNotLocal))
}

// Others implements [store.Archives].
func (l *Installed) Others(key []byte) (all []store.File) {
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
func (s *localState) place(at index.Location) (store.File, error) {
	f, err := s.archive(at.Archive)
	if err != nil {
		return store.File{}, err
	}
	if at.Off > f.Size || at.Size > f.Size-at.Off {
		return store.File{}, &format.Error{
			Format: archiveName(at.Archive), Off: at.Off,
			What: fmt.Sprintf("a span of %d bytes, the archive has %d", at.Size, f.Size),
		}
	}
	size := at.Size - index.SpanHeaderSize
	return store.File{
		ReaderAt: io.NewSectionReader(f, at.Off+index.SpanHeaderSize, size), Size: size,
		In: archiveName(at.Archive), Off: at.Off + index.SpanHeaderSize,
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
		return nil, fmt.Errorf("no %s: %w", archiveName(n), format.ErrNotLocal)
	}
	return f, nil
}

// Spans implements [store.Archives].
func (l *Installed) Spans(context.Context) (all []store.Entry, faults []error) {
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
				s := store.Entry{KeySize: len(e.Key), Location: e.Location}
				copy(s.Key[:], e.Key[:])
				all = append(all, s)
			}
		}
	}
	store.Sort(all)
	return all, faults
}

// At implements [store.Archives].
func (l *Installed) At(_ context.Context, e *store.Entry) (store.File, error) {
	return l.now.Load().place(e.Location)
}

// Open yields the index files in use, by bucket.
func (l *Installed) Open() iter.Seq2[int, *index.Idx] {
	return func(yield func(int, *index.Idx) bool) {
		for b, x := range l.now.Load().indexes {
			if x != nil && !yield(b, x.Idx) {
				return
			}
		}
	}
}

// Shmem implements [store.Archives].
func (l *Installed) Shmem() (*index.Shmem, error) {
	data, err := readFile(l.fsys, path.Join(l.dir, "shmem"), format.MaxText)
	if err != nil {
		return nil, err
	}
	return index.ParseShmem(data)
}

// indices looks for the folder of the CDN's indexes, which lies beside that of the archives. It
// returns "" if there is none.
func (l *Installed) indices() (string, error) {
	name := path.Join(path.Dir(l.dir), "indices")
	if has, err := Exists(l.fsys, name); !has || err != nil {
		return "", err
	}
	return name, nil
}

// IndexNames implements [store.Archives].
func (l *Installed) IndexNames() ([]keys.Key, error) {
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

// ReadIndex implements [store.Archives].
func (l *Installed) ReadIndex(_ context.Context, name keys.Key) (*index.Archive, error) {
	dir, err := l.indices()
	if err != nil {
		return nil, err
	}
	file := path.Join(dir, name.String()+indexSuffix)
	if has, err := Exists(l.fsys, file); dir == "" || !has || err != nil {
		return nil, cmp.Or(err, fmt.Errorf("index %v: %w", name, format.ErrNotFound))
	}
	return readNamedIndex(l.fsys, file, name)
}

// DiskSize implements [store.Archives].
func (l *Installed) DiskSize() int64 { return sizeOf(l.fsys, l.dir) }

// Problems implements [store.Archives].
func (l *Installed) Problems() []error { return l.now.Load().faults }

// Close implements [io.Closer].
func (l *Installed) Close() error {
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
