package mirror

import (
	"crypto/rand"
	"errors"
	"fmt"
	iofs "io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"lorefs/internal/disk"
	"lorefs/internal/diskspace"
	"lorefs/internal/filelock"
	"lorefs/internal/readat"
)

const (
	// DefaultLimit is how many bytes a cache keeps by default.
	DefaultLimit = 10 << 30

	mirrorDir   = "mirror"
	piecesDir   = "pieces"
	versionsDir = "versions"
	holdsDir    = "holds"
	tmpDir      = "tmp"

	dirPerm = 0o700

	// pause is how long nothing is kept after a file could not be written.
	pause = time.Minute
	// fresh is how old the note of a file's last use may be before it is renewed.
	fresh = time.Minute
	// trims is how often a cache is trimmed while as much is written as it may keep.
	trims = 64
	// maxRead bounds a file that is read as a whole, in bytes.
	maxRead = 1 << 30
)

// Options are options for a cache. The zero value is right.
type Options struct {
	// Limit is how many bytes are kept. Default: DefaultLimit.
	Limit int64
	// Disk is the file system; nil is the real one.
	Disk disk.FS
	// Logger is told if nothing can be kept. Default: none.
	Logger *slog.Logger
}

// Cache is a folder with objects of remote storages. It is safe for parallel use, also by
// several processes.
type Cache struct {
	dir   string
	limit int64
	disk  disk.FS
	space *diskspace.Guard
	log   *slog.Logger

	// hold is the lock of the keys file, nil if files can't be locked.
	hold *filelock.Lock
	keys string

	trimming sync.WaitGroup

	mu sync.Mutex
	// own are the keys that must stay.
	own map[[16]byte]bool
	// kept is how many bytes of pieces an object has, as far as this process knows.
	kept map[Object]int64
	// written is how many bytes were written since the cache was trimmed.
	written int64
	// trimmer is whether this process trims just now.
	trimmer bool
	// trouble is why nothing is kept until a time.
	trouble error
	until   time.Time
}

// Open opens the cache in a folder, which it makes if needed.
func Open(dir string, o Options) (*Cache, error) {
	c := &Cache{
		dir: dir, limit: o.Limit, disk: disk.Or(o.Disk), space: diskspace.NewGuard(dir), log: o.Logger,
		own: map[[16]byte]bool{}, kept: map[Object]int64{},
	}
	if c.limit <= 0 {
		c.limit = DefaultLimit
	}
	if c.log == nil {
		c.log = slog.New(slog.DiscardHandler)
	}
	for _, sub := range []string{mirrorDir, piecesDir, versionsDir, holdsDir, tmpDir} {
		if err := os.MkdirAll(filepath.Join(dir, sub), dirPerm); err != nil {
			return nil, fmt.Errorf("cache: %w", err)
		}
	}
	name := filepath.Join(dir, holdsDir, rand.Text())
	c.keys = name + keysSuffix
	var err error
	if c.hold, err = filelock.Acquire(name+lockSuffix, dir); err != nil {
		c.log.Warn("other processes may remove from the cache what this one needs", "error", err)
	}
	return c, nil
}

// Close lets other processes remove what this one held. The files stay.
func (c *Cache) Close() error {
	c.trimming.Wait()
	if c.hold == nil {
		return nil
	}
	err := c.hold.Close()
	c.hold = nil
	for _, name := range []string{c.keys, lockOf(c.keys)} {
		if e := os.Remove(name); !errors.Is(e, iofs.ErrNotExist) {
			err = errors.Join(err, e)
		}
	}
	return err
}

// Trouble returns why nothing is kept at the moment, or nil.
func (c *Cache) Trouble() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.trouble
}

func (c *Cache) whole(o Object) string {
	return filepath.Join(c.dir, mirrorDir, filepath.FromSlash(o.String()))
}

func (c *Cache) pieces(o Object) string {
	return filepath.Join(c.dir, piecesDir, filepath.FromSlash(o.String()))
}

// Whole returns an object that is there as a whole, and that check finds right.
func (c *Cache) Whole(o Object, check func([]byte) error) ([]byte, bool) {
	return c.read(c.whole(o), nil, check)
}

// Range returns size bytes of an object from off on, if they are there, and if check finds
// them right.
func (c *Cache) Range(o Object, off, size int64, check func([]byte) error) ([]byte, bool) {
	want := span{off, size}
	if data, ok := c.read(c.whole(o), &want, check); ok {
		return data, true
	}
	dir := c.pieces(o)
	part := span{0, size}
	if data, ok := c.read(filepath.Join(dir, want.String()), &part, check); ok {
		return data, true
	}
	for _, s := range c.spans(o) {
		if s == want || !s.contains(want) {
			continue
		}
		part := span{off - s.off, size}
		if data, ok := c.read(filepath.Join(dir, s.String()), &part, check); ok {
			return data, true
		}
	}
	return nil, false
}

// Begin returns the first size bytes of an object or, if they are not there, a piece with
// fewer of them, if check finds them right.
func (c *Cache) Begin(o Object, size int64, check func([]byte) error) ([]byte, bool) {
	if data, ok := c.read(c.whole(o), &span{0, size}, check); ok {
		return data, true
	}
	best := span{}
	for _, s := range c.spans(o) {
		if s.off == 0 && s.size > best.size {
			best = s
		}
	}
	if best.size == 0 {
		return nil, false
	}
	return c.read(filepath.Join(c.pieces(o), best.String()), &span{0, min(size, best.size)}, check)
}

// spans returns the pieces of an object.
func (c *Cache) spans(o Object) (all []span) {
	entries, _ := os.ReadDir(c.pieces(o)) // a folder that can't be read has none
	for _, e := range entries {
		if s, ok := parseSpan(e.Name()); ok {
			all = append(all, s)
		}
	}
	return all
}

// read reads a file, or part of it, and removes it if it is wrong.
func (c *Cache) read(name string, part *span, check func([]byte) error) ([]byte, bool) {
	f, err := c.disk.Open(name, os.O_RDONLY)
	if err != nil {
		return nil, false
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, false
	}
	if part == nil {
		part = &span{0, info.Size()}
	}
	if part.end() > info.Size() {
		return nil, false // who asks may be wrong about the size
	}
	data, err := readPart(f, *part)
	if err != nil { // which says nothing of the bytes
		c.log.Warn("a file of the cache can't be read, and what it has is fetched again", "file", name, "error", err)
		return nil, false
	}
	if err := check(data); err != nil {
		c.log.Warn("a damaged file was removed from the cache", "file", name, "error", err)
		_ = c.disk.Remove(name) // if it stays, it is found to be wrong again
		return nil, false
	}
	if now := time.Now(); now.Sub(info.ModTime()) > fresh {
		_ = os.Chtimes(name, now, now) // without it the file is removed earlier
	}
	return data, true
}

func readPart(f disk.File, part span) ([]byte, error) {
	if part.size > maxRead {
		return nil, fmt.Errorf("%d bytes are too many", part.size)
	}
	data := make([]byte, part.size)
	return data, readat.Full(f, data, part.off)
}

// PutWhole keeps an object. If it can't, Trouble says why.
func (c *Cache) PutWhole(o Object, data []byte) {
	c.put(c.whole(o), data)
}

// PutPiece keeps a range of an object, which begins at off. size is the size of the object,
// or 0 if it is not known. When all of the object is there it becomes a whole one.
func (c *Cache) PutPiece(o Object, size, off int64, data []byte) {
	if off == 0 && int64(len(data)) == size {
		c.PutWhole(o, data)
		return
	}
	s := span{off, int64(len(data))}
	if !c.put(filepath.Join(c.pieces(o), s.String()), data) || size == 0 {
		return
	}
	if c.count(o, s.size) >= size {
		c.join(o, size)
	}
}

// count counts n bytes more of an object's pieces, and returns how many there are.
func (c *Cache) count(o Object, n int64) int64 {
	c.mu.Lock()
	sum, known := c.kept[o]
	c.mu.Unlock()
	if known {
		sum += n
	} else {
		for _, s := range c.spans(o) {
			sum += s.size
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.kept[o] = sum
	return sum
}

// put writes a file, and reports whether it could.
func (c *Cache) put(name string, data []byte) bool {
	return c.try(int64(len(data)), func() error {
		return c.write(name, func(f disk.File) error { return disk.WriteFull(f, data, 0) })
	})
}

// try writes n bytes, unless that failed a moment ago.
func (c *Cache) try(n int64, write func() error) bool {
	c.mu.Lock()
	paused := c.trouble != nil && time.Now().Before(c.until)
	c.mu.Unlock()
	if paused {
		return false
	}
	err := c.space.Take(n + diskspace.EntrySize)
	if err == nil {
		err = write()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil {
		if c.trouble == nil {
			c.log.Warn("nothing is kept in the cache: what is needed again is fetched again", "folder", c.dir, "error", err)
		}
		c.trouble, c.until = err, time.Now().Add(pause)
		if diskspace.IsFull(err) {
			c.trim()
		}
		return false
	}
	c.trouble = nil
	if c.written += n; c.written >= c.limit/trims {
		c.trim()
	}
	return true
}

// trim has the cache trimmed in the background. The caller holds mu.
func (c *Cache) trim() {
	if !c.trimmer {
		c.written, c.trimmer = 0, true
		c.trimming.Go(c.trimOnce)
	}
}

// trimOnce trims the cache in the background.
func (c *Cache) trimOnce() {
	if err := c.Trim(); err != nil {
		c.log.Warn("the cache may be larger than its limit", "error", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.trimmer = false
}

// write writes a file under another name, and renames it.
func (c *Cache) write(name string, content func(f disk.File) error) error {
	tmp := filepath.Join(c.dir, tmpDir, rand.Text()+tmpSuffix)
	f, err := c.disk.Open(tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL)
	if err != nil {
		return err
	}
	err = errors.Join(content(f), f.Close())
	if err == nil {
		err = c.rename(tmp, name)
	}
	if err != nil {
		return errors.Join(err, c.disk.Remove(tmp))
	}
	return nil
}

// rename renames a file into a folder, which it makes if needed. Somebody who trims the
// cache may remove an empty folder, so it makes it more than once.
func (c *Cache) rename(from, to string) error {
	const tries = 8
	err := c.disk.Rename(from, to)
	for range tries {
		if !errors.Is(err, iofs.ErrNotExist) {
			return err
		}
		if err := os.MkdirAll(filepath.Dir(to), dirPerm); err != nil && !errors.Is(err, iofs.ErrNotExist) {
			return err
		}
		err = c.disk.Rename(from, to)
	}
	return err
}
