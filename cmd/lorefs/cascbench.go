package main

import (
	"context"
	"crypto/md5"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"lorefs/internal/kinds"
	"lorefs/nodes"
)

const (
	unitBytes = "MB" + perSecond
	// benchReaders read at once, and maxBenchBytes at most of a storage.
	benchReaders  = 2
	maxBenchBytes = 4 << 30
)

// cascFiles are files of a storage that are measured by.
type cascFiles struct {
	list []nodes.WalkEntry
	// bytes is the size of all, and failed how many of them can't be read: such as
	// those that are encrypted with a key that is not known.
	bytes  int64
	failed atomic.Int64
}

// benchCASC measures how fast a storage is opened, listed, and read and hashed.
func benchCASC(ctx context.Context, b *benchRun) error {
	var listed []float64
	var files *cascFiles
	first, second, err := b.openings(ctx, nothing, func(s *kinds.Source) error {
		start := time.Now()
		all, n, err := b.listFiles(ctx, s)
		files, listed = all, append(listed, float64(n)/time.Since(start).Seconds())
		return err
	})
	if err != nil {
		return err
	}
	b.add("opening", "first open", unitSeconds, first)
	b.add("opening", "second open", unitSeconds, second)
	b.relate("first open")
	b.add("listing", "names and sizes of "+strings.Join(cascFolders, ", "), unitRate, listed)
	return b.readFiles(ctx, files)
}

// cascFolders are the directories whose files are measured.
var cascFolders = []string{"files", "unnamed"}

// listFiles walks all files, counts the entries, and gives those that are to be read.
func (b *benchRun) listFiles(ctx context.Context, s *kinds.Source) (*cascFiles, int, error) {
	files, n := &cascFiles{}, 0
	for _, folder := range cascFolders {
		top, err := s.Find(ctx, folder)
		if errors.Is(err, nodes.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, 0, err
		}
		for e, err := range nodes.Walk(ctx, s.Tree, top.ID) {
			if err != nil {
				return nil, 0, err
			}
			n++
			if e.Kind != nodes.File || files.bytes+e.Size > maxBenchBytes || int64(len(files.list)) == b.flags.entries {
				continue
			}
			e.Path = folder + "/" + e.Path
			files.list = append(files.list, e)
			files.bytes += e.Size
		}
	}
	return files, n, nil
}

// readFiles reads and hashes files with several readers, by way of the tree and
// through a mount.
func (b *benchRun) readFiles(ctx context.Context, files *cascFiles) error {
	if len(files.list) == 0 {
		return nil
	}
	table := fmt.Sprintf("read and MD5 of %d files of %d bytes, %d readers", len(files.list), files.bytes, benchReaders)
	var direct, through, rss []float64
	can, err := b.canMount()
	for range b.flags.repeat {
		var rate float64
		if err == nil {
			rate, err = b.readTree(ctx, files)
			direct = append(direct, rate)
		}
		if err != nil || !can {
			continue
		}
		err = b.mounted(ctx, nil, func(dir, pid string) error {
			rate, err := files.read(ctx, func(e *nodes.WalkEntry) (io.ReadCloser, error) {
				return os.Open(filepath.Join(dir, filepath.FromSlash(e.Path)))
			})
			through = append(through, rate)
			now, _ := residentMemory(pid)
			rss = append(rss, float64(now)/(1<<20))
			return err
		})
	}
	const withoutMount = "without a mount"
	b.add(table, withoutMount, unitBytes, direct)
	b.add(table, "through a mount", unitBytes, through)
	b.relate(withoutMount)
	b.add(table, "resident memory behind the mount", unitMemory, rss)
	if n := files.failed.Load(); n > 0 {
		b.log.Warn("files that can't be read are left out", "reads", n)
	}
	return err
}

// readTree opens the storage, so that nothing is in the cache, and reads from it.
func (b *benchRun) readTree(ctx context.Context, files *cascFiles) (rate float64, err error) {
	s, err := b.open(ctx)
	if err != nil {
		return 0, err
	}
	rate, err = files.read(ctx, func(e *nodes.WalkEntry) (io.ReadCloser, error) {
		return io.NopCloser(s.Content(ctx, e.Entry)), nil
	})
	return rate, errors.Join(err, s.Close())
}

// read reads all files, and gives how many megabytes a second that were.
func (f *cascFiles) read(ctx context.Context, open func(*nodes.WalkEntry) (io.ReadCloser, error)) (float64, error) {
	var next, done atomic.Int64
	var all sync.WaitGroup
	start := time.Now()
	for range benchReaders {
		all.Go(func() {
			sum, buf := md5.New(), make([]byte, 1<<20)
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= len(f.list) {
					return
				}
				n, err := hashFile(sum, buf, &f.list[i], open)
				done.Add(n)
				if err != nil {
					f.failed.Add(1)
				}
			}
		})
	}
	all.Wait()
	return float64(done.Load()) / 1e6 / time.Since(start).Seconds(), context.Cause(ctx)
}

// hashFile reads one file to its end.
func hashFile(sum hash.Hash, buf []byte, e *nodes.WalkEntry, open func(*nodes.WalkEntry) (io.ReadCloser, error)) (int64, error) {
	r, err := open(e)
	if err != nil {
		return 0, err
	}
	sum.Reset()
	// Only the methods of these that read and write: others would choose another buffer.
	n, err := io.CopyBuffer(struct{ io.Writer }{sum}, struct{ io.Reader }{r}, buf)
	return n, errors.Join(err, r.Close())
}
