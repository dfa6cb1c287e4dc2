package treecopy

import (
	"context"
	"io"
	"iter"
	"sync"
	"time"
)

// File is a file to be written.
type File struct {
	// Path is its path below the folder.
	Path string
	// Write writes its content. Several files are written at the same time.
	Write func(ctx context.Context, w io.Writer) error
}

// Write writes files to the folder to, by the rules of [Copy]: each is written whole or not
// at all, and existing ones are left alone.
func Write(ctx context.Context, files iter.Seq[File], to string, o Options) (Report, error) {
	t, err := newTarget(ctx, to, o)
	if err != nil {
		return Report{}, err
	}
	defer t.close()
	jobs := make(chan File)
	var workers sync.WaitGroup
	for range workerCount(o) {
		workers.Go(func() {
			by := &worker{}
			defer by.close()
			for f := range jobs {
				t.add(f, by)
			}
		})
	}
	for f := range files {
		if t.ctx.Err() != nil {
			break
		}
		if o.Filter.takes(f.Path) {
			jobs <- f
		}
	}
	close(jobs)
	workers.Wait()
	return t.end()
}

// add writes a file, and makes its folder.
func (t *target) add(f File, by *worker) {
	if t.ctx.Err() != nil {
		return
	}
	if t.o.Seen != nil {
		t.o.Seen(f.Path)
	}
	if err := t.folderOf(f.Path); err != nil {
		t.done(f.Path, 0, err)
		return
	}
	t.file(by, f.Path, time.Time{}, func(w io.Writer) (int64, error) {
		counted := counter{w: w}
		err := f.Write(t.ctx, &counted)
		return counted.n, err
	})
}

// counter counts what is written.
type counter struct {
	w io.Writer
	n int64
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}
