package casckind

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"

	"lorefs/casc"
	"lorefs/casc/config"
	"lorefs/casc/far"
	"lorefs/casc/index"
	"lorefs/casc/keys"
	"lorefs/cmd/internal/kinds"
	"lorefs/internal/filelock"
	"lorefs/internal/readat"
	"lorefs/nodes"
)

// FetchOptions say what Fetch fetches.
type FetchOptions struct {
	// Patterns are paths or patterns of files. Default: all files.
	Patterns []string
	// Archives fetches all of each archive that has a file, with its index, and the index of loose
	// files, as other programs read a mirror. Default: each file by itself.
	Archives bool
	// Progress is called with how many of all objects are done; it may be nil.
	Progress func(done, total int64)
}

// Fetched tells what Fetch has done. Its fields are printed in this order, and scripts rely on
// their names.
type Fetched struct {
	// Objects are the files of the mirror that were written, and Bytes their size. Had are those
	// that were there.
	Objects int64 `json:"objects"`
	Bytes   int64 `json:"bytes"`
	Had     int64 `json:"had"`
	// Left is how many are not there yet, and Problems why, for the first of them.
	Left     int64    `json:"left"`
	Problems []string `json:"problems"`
	// Absent is how many a storage in a folder does not have, which is no failure.
	Absent int64 `json:"absent"`
}

// ErrNotFetched means that a source is none that can be fetched in this way.
var ErrNotFetched = errors.New("only a source cdn:PRODUCT or the folder of a CASC storage can be fetched")

// Fetch makes a mirror of a build in a folder, or goes on making it. What is there already is
// not fetched again. If ctx ends, what is left is in the result as well.
func Fetch(ctx context.Context, s *kinds.Source, dir string, o FetchOptions) (*Fetched, error) {
	c, ok := s.Archive.(*cascStorage)
	switch {
	case !ok, c.cdn == nil && c.storage.IsRemote():
		return nil, kinds.Errorf("%w", ErrNotFetched)
	case c.cdn == nil && o.Archives:
		return nil, kinds.Errorf("%w with --archives: an installed game has no archives of a CDN", ErrNotFetched)
	case c.cdn == nil && sameFolder(dir, c.path):
		return nil, kinds.Errorf("%w to a folder outside of it, and %s is inside", ErrNotFetched, dir)
	}
	f := &fetching{source: s, storage: c.storage, dir: dir, opts: o, done: &Fetched{Problems: []string{}}}
	if err := os.MkdirAll(dir, fetchedDir); err != nil {
		return nil, kinds.Unreadable(dir, err)
	}
	lock, err := filelock.Acquire(filepath.Join(dir, fetchLock), dir)
	if err != nil {
		return nil, &kinds.Error{Err: err}
	}
	defer lock.Close()
	jobs, err := f.plan(ctx)
	if err != nil {
		return nil, err
	}
	if err := f.run(ctx, jobs); err != nil {
		return nil, err
	}
	return f.done, ctx.Err()
}

// sameFolder reports whether two paths lead to one folder, or the first to what is in the second.
func sameFolder(dir, source string) bool {
	of, err := os.Stat(source)
	if err != nil {
		return false
	}
	for {
		if info, err := os.Stat(dir); err == nil && os.SameFile(info, of) {
			return true
		}
		abs, err := filepath.Abs(dir)
		up := filepath.Dir(abs)
		if err != nil || up == abs {
			return false
		}
		dir = up
	}
}

const (
	fetchedDir = 0o755
	// fetchLock is held by who writes a mirror, and partSuffix ends the names of files that are
	// being written.
	fetchLock  = ".lorefs-fetch.lock"
	partSuffix = ".part"
	// fetchedAtOnce is how many objects are fetched at the same time.
	fetchedAtOnce = 16
	// maxFailedInRow is how many objects fail in a row until no more are tried: the hosts are
	// down, and each object would wait for all of them.
	maxFailedInRow = 32
	// maxFetchProblems is how many problems are listed.
	maxFetchProblems = 10
	// fetchedPart is how many bytes of an object are read at once.
	fetchedPart = 8 << 20
)

// fetching is a run of Fetch.
type fetching struct {
	source  *kinds.Source
	storage *casc.Storage
	dir     string
	opts    FetchOptions

	mu   sync.Mutex // guards done
	done *Fetched
}

// fetchJob is an object to fetch. of is the file that needs it, and key the beginning of its key
// if it is an encoded file.
type fetchJob struct {
	of    string
	key   []byte
	fetch func(context.Context) error
}

// plan lists what is to be fetched.
func (f *fetching) plan(ctx context.Context) (jobs []fetchJob, err error) {
	for _, cfg := range f.storage.Configs() {
		if !cfg.Key.IsZero() {
			jobs = append(jobs, fetchJob{of: cfg.Name, fetch: func(context.Context) error { return f.put(config.Path("config", cfg.Key), cfg.Data) }})
		}
	}
	named, err := f.storage.Named()
	if err != nil {
		return nil, err
	}
	for _, key := range named {
		jobs = append(jobs, fetchJob{of: "a table of the build", fetch: func(ctx context.Context) error { return f.file(ctx, key[:]) }})
	}
	if f.opts.Archives {
		loose, err := f.storage.CDNConfig.Keys("file-index")
		if err != nil {
			return nil, err
		}
		for _, name := range loose { // without which some programs open no mirror
			jobs = append(jobs, fetchJob{of: "the index of loose files", fetch: func(ctx context.Context) error { return f.index(ctx, name) }})
		}
	}
	patterns := f.opts.Patterns
	if len(patterns) == 0 {
		patterns = []string{"/"}
	}
	p := &fetchPlan{fetching: f, seen: map[keys.Short]bool{}, archives: map[keys.Key]bool{}, jobs: jobs}
	for _, name := range patterns {
		for found, err := range f.source.FindAll(ctx, name) {
			if err == nil {
				err = p.add(ctx, found)
			}
			if err != nil {
				return nil, err
			}
		}
	}
	return p.jobs, nil
}

// fetchPlan collects jobs. An encoded file that several files have is fetched once.
type fetchPlan struct {
	*fetching
	seen     map[keys.Short]bool
	archives map[keys.Key]bool
	jobs     []fetchJob
}

// add adds what is found, and all below it.
func (p *fetchPlan) add(ctx context.Context, found kinds.Found) error {
	if found.Kind != nodes.Dir {
		return p.addFile(ctx, found)
	}
	notRendered := func(d *kinds.Found) bool { return d.Path != "manifests" && d.Path != "content" && d.Path != "config" }
	for e, err := range p.source.Walk(ctx, found, notRendered) {
		if err == nil && e.Kind == nodes.File {
			err = p.addFile(ctx, e)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (p *fetchPlan) addFile(ctx context.Context, found kinds.Found) error {
	c := p.source.Archive.(*cascStorage) //nolint:forcetypeassert // Fetch has looked
	ekeys, err := c.tree.StoredKeys(ctx, found.ID)
	if err != nil { // reading it would fail alike
		p.jobs = append(p.jobs, fetchJob{of: found.Path, fetch: func(context.Context) error { return err }})
		return nil
	}
	for _, key := range ekeys {
		short := keys.Short(key)
		if p.seen[short] {
			continue
		}
		p.seen[short] = true
		if err := p.addKey(ctx, found.Path, key); err != nil {
			return err
		}
	}
	return nil
}

func (p *fetchPlan) addKey(ctx context.Context, of string, key []byte) error {
	if p.opts.Archives {
		archive, err := p.storage.ArchiveOf(ctx, key)
		if err != nil || p.archives[archive] {
			return err
		}
		if !archive.IsZero() {
			p.archives[archive] = true
			p.jobs = append(p.jobs, fetchJob{of: of, fetch: func(ctx context.Context) error { return p.archive(ctx, archive) }})
			return nil
		}
	}
	p.jobs = append(p.jobs, fetchJob{of, key, func(ctx context.Context) error { return p.file(ctx, key) }})
	return nil
}

// rows returns the numbers of jobs in rows of files that lie close to each other.
func (f *fetching) rows(ctx context.Context, jobs []fetchJob) (rows [][]int, err error) {
	if !f.storage.IsRemote() {
		for i := range jobs {
			rows = append(rows, []int{i})
		}
		return rows, nil
	}
	keys := make([][]byte, len(jobs))
	for i := range jobs {
		keys[i] = jobs[i].key
	}
	return f.storage.Rows(ctx, keys)
}

// missing returns the jobs of which the result is not there. It looks for encoded files before
// anything of them is fetched, and in the order of their places, which needs each index once.
func (f *fetching) missing(ctx context.Context, jobs []fetchJob) (left []fetchJob, err error) {
	if !f.storage.IsRemote() {
		return jobs, nil
	}
	rows, err := f.rows(ctx, jobs)
	if err != nil {
		return nil, err
	}
	for _, i := range slices.Concat(rows...) {
		j := &jobs[i]
		if len(j.key) > 0 {
			// What can't be found is missing, and fetching it says why.
			if at, err := f.storage.Locate(ctx, j.key); err == nil && f.has(config.Path("data", at.Key), at.Size) {
				continue
			}
		}
		left = append(left, *j)
	}
	return left, nil
}

// run fetches everything that is not there. What fails is left.
func (f *fetching) run(ctx context.Context, jobs []fetchJob) error {
	total := len(jobs)
	jobs, err := f.missing(ctx, jobs)
	if err != nil {
		return err
	}
	rows, err := f.rows(ctx, jobs)
	if err != nil {
		return err
	}
	var next, done, inRow atomic.Int64
	done.Store(int64(total - len(jobs)))
	one := func(j *fetchJob) {
		if err := j.fetch(ctx); err != nil {
			f.fail(ctx, j.of, err)
			if !errors.Is(err, casc.ErrNotLocal) {
				inRow.Add(1)
			}
			return
		}
		inRow.Store(0)
		if n := done.Add(1); f.opts.Progress != nil {
			f.opts.Progress(n, int64(total))
		}
	}
	var wg sync.WaitGroup
	for range min(fetchedAtOnce, len(rows)) {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(rows); i = int(next.Add(1)) - 1 {
				for _, n := range rows[i] {
					if ctx.Err() != nil || inRow.Load() >= maxFailedInRow {
						return
					}
					one(&jobs[n])
				}
			}
		})
	}
	wg.Wait()
	f.done.Left = int64(total) - done.Load()
	return nil
}

func (f *fetching) fail(ctx context.Context, of string, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if ctx.Err() == nil && len(f.done.Problems) < maxFetchProblems {
		f.done.Problems = append(f.done.Problems, fmt.Sprintf("%s: %v", of, err))
	}
}

// here copies an encoded file of a storage in a folder. What is not installed is only counted.
func (f *fetching) here(ctx context.Context, key []byte) error {
	if !f.storage.Has(key) {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.done.Absent++
		return nil
	}
	whole, err := f.storage.WholeKey(ctx, key)
	if err != nil {
		return err
	}
	name := config.Path("data", whole)
	if f.has(name, 0) {
		return nil
	}
	stored, err := f.storage.StoredHere(ctx, key)
	if err != nil {
		return err
	}
	return f.write(name, func(w *os.File) error {
		_, err := io.Copy(w, io.NewSectionReader(stored, 0, stored.Size))
		return err
	})
}

// file fetches an encoded file by itself.
func (f *fetching) file(ctx context.Context, key []byte) error {
	if !f.storage.IsRemote() {
		return f.here(ctx, key)
	}
	if full := keys.Key(slices.Concat(key, make([]byte, len(keys.Key{})-len(key)))); len(key) == len(full) && f.has(config.Path("data", full), 0) {
		return nil
	}
	stored, err := f.storage.Stored(ctx, key)
	if err != nil {
		return err
	}
	name := config.Path("data", stored.Key)
	if f.has(name, stored.Size) {
		return nil
	}
	return f.write(name, func(w *os.File) error {
		_, err := io.CopyBuffer(w, io.NewSectionReader(waits{ctx, stored}, 0, stored.Size), make([]byte, min(stored.Size, fetchedPart)))
		return err
	})
}

// waits is an encoded file as an io.ReaderAt.
type waits struct {
	ctx context.Context //nolint:containedctx // io.ReaderAt takes no context
	readat.Waiting
}

func (w waits) ReadAt(p []byte, off int64) (int, error) { return w.ReadAtContext(w.ctx, p, off) }

// archive fetches an archive and its index. A part of it that an earlier run has written counts
// as far as it can be proven.
func (f *fetching) archive(ctx context.Context, name keys.Key) error {
	found, err := f.storage.ReadIndex(ctx, name)
	if err != nil {
		return err
	}
	if err := f.index(ctx, name); err != nil {
		return err
	}
	to := config.Path("data", name)
	entries := slices.SortedFunc(found.Entries(), func(a, b index.ArchiveEntry) int { return cmp.Compare(a.Off, b.Off) })
	if len(entries) == 0 || f.has(to, entries[len(entries)-1].Off+entries[len(entries)-1].Size) {
		return nil
	}
	w, err := f.part(to)
	if err != nil {
		return err
	}
	if err = f.fill(ctx, w, name, entries[provenEntries(w, entries):]); err == nil {
		err = w.Sync()
	}
	if err = errors.Join(err, w.Close()); err != nil {
		return err // the part stays for the next run
	}
	return f.finish(w.Name(), to, entries[len(entries)-1].Off+entries[len(entries)-1].Size)
}

// index fetches the index of an archive or of loose files.
func (f *fetching) index(ctx context.Context, name keys.Key) error {
	data, err := f.storage.IndexData(ctx, name)
	if err != nil {
		return err
	}
	return f.put(config.Path("data", name)+".index", data)
}

// fill writes entries of an archive to their places, several at once.
func (f *fetching) fill(ctx context.Context, w io.WriterAt, archive keys.Key, entries []index.ArchiveEntry) error {
	for len(entries) > 0 {
		n := 1
		for n < len(entries) && entries[n].Off+entries[n].Size-entries[0].Off <= fetchedPart {
			n++
		}
		b, err := f.storage.ArchivePart(ctx, archive, entries[:n])
		if err == nil {
			_, err = w.WriteAt(b, entries[0].Off)
		}
		if err != nil {
			return err
		}
		entries = entries[n:]
	}
	return nil
}

// provenEntries returns how many entries, from the first on, r has.
func provenEntries(r io.ReaderAt, entries []index.ArchiveEntry) int {
	for i := range entries {
		b := make([]byte, entries[i].Size)
		if readat.Full(r, b, entries[i].Off) != nil || far.ProveFiles(b, entries[i].Off, entries[i:i+1]) != nil {
			return i
		}
	}
	return len(entries)
}

// put writes a small object.
func (f *fetching) put(name string, data []byte) error {
	if f.has(name, int64(len(data))) {
		return nil
	}
	return f.write(name, func(w *os.File) error { _, err := w.Write(data); return err })
}

func (f *fetching) path(name string) string { return filepath.Join(f.dir, filepath.FromSlash(name)) }

// has reports whether an object is there, with size bytes if that is not 0. A file has its name
// only when all of it is on the disk.
func (f *fetching) has(name string, size int64) bool {
	info, err := os.Stat(f.path(name))
	if err != nil || !info.Mode().IsRegular() || info.Size() == 0 || size > 0 && info.Size() != size {
		return false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.done.Had++
	return true
}

// part opens the file that an object is written to before it has its name. It keeps what is
// there.
func (f *fetching) part(name string) (*os.File, error) {
	if err := os.MkdirAll(filepath.Dir(f.path(name)), fetchedDir); err != nil {
		return nil, err
	}
	return os.OpenFile(f.path(name)+partSuffix, os.O_RDWR|os.O_CREATE, 0o644)
}

// write writes an object.
func (f *fetching) write(name string, content func(w *os.File) error) error {
	w, err := f.part(name)
	if err != nil {
		return err
	}
	if err = w.Truncate(0); err == nil {
		err = content(w)
	}
	if err == nil { // or a power cut could leave the name without the content
		err = w.Sync()
	}
	info, statErr := w.Stat()
	if err = errors.Join(err, statErr, w.Close()); err != nil {
		return errors.Join(err, os.Remove(w.Name()))
	}
	return f.finish(w.Name(), name, info.Size())
}

// finish gives an object its name.
func (f *fetching) finish(part, name string, size int64) error {
	if err := os.Rename(part, f.path(name)); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.done.Objects++
	f.done.Bytes += size
	return nil
}
