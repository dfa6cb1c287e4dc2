package bundle

import (
	"context"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"iter"
	"os"

	"lorefs/nodes"
)

// Changed is the folder as it was when a save began, which becomes a new file.
type Changed struct {
	// Size is the size of the file that is replaced, Edits the number of edits.
	Size, Edits int64

	edits *edits
	alone func(func() error) error
	files []saved
	// written is the file that Compare has seen last.
	written Files
}

// saved is a file of the folder as it was when a save began.
type saved struct {
	name  string
	place uint64
	*content
}

// Save calls store with the folder as it is, if it was edited. store puts the new file in its place
// by Replace. Users may go on editing meanwhile.
func (e *Editable) Save(_ context.Context, store func(c *Changed) error) error {
	c := &Changed{Size: e.Usage().Bytes, edits: e.edits, alone: e.Alone}
	_ = e.Alone(func() error { c.begin(); return nil }) // the function returns no error
	defer func() { _ = e.Alone(func() error { c.end(); return nil }) }()
	if c.Edits == 0 {
		return nil
	}
	return store(c)
}

func (c *Changed) begin() {
	e := c.edits
	e.mu.RLock()
	defer e.mu.RUnlock()
	e.isSaving, e.since, c.Edits = true, nil, int64(len(e.differs))
	c.files = make([]saved, len(e.list))
	for i, m := range e.list {
		c.files[i] = saved{m.name, m.place, m.content}
	}
}

func (c *Changed) end() { c.edits.isSaving, c.edits.since = false, nil }

// Write writes the new file.
func (c *Changed) Write(ctx context.Context, w io.Writer) error {
	return c.edits.format.Write(w, c.inputs(ctx))
}

func (c *Changed) inputs(ctx context.Context) iter.Seq[Input] {
	return func(yield func(Input) bool) {
		for _, f := range c.files {
			if !yield(Input{Name: f.name, Size: f.size, Content: f.reader(ctx)}) {
				return
			}
		}
	}
}

// Compare returns an error unless a file holds what Write wrote. Replace goes on with the file.
func (c *Changed) Compare(ctx context.Context, f *os.File) error {
	files, err := c.edits.opts.Reopen(f)
	if err == nil {
		err = Compare(ctx, files, len(c.files), c.inputs(ctx))
	}
	if err != nil {
		return fmt.Errorf("reading back what was written: %w", err)
	}
	c.written = files
	return nil
}

// errDiffers means that a file was not written as it should be.
var errDiffers = errors.New("it reads back differently")

// Compare returns an error unless files are the n that were written.
func Compare(ctx context.Context, files Files, n int, written iter.Seq[Input]) error {
	if files.Len() != n {
		return fmt.Errorf("%w: %d files, want %d", errDiffers, files.Len(), n)
	}
	i := 0
	for in := range written {
		if files.Name(i) != in.Name || files.Size(i) != in.Size {
			return fmt.Errorf("%w: file %d is %q of %d bytes, want %q of %d", errDiffers, i, files.Name(i), files.Size(i), in.Name, in.Size)
		}
		same, err := sameBytes(fileContent(files, i).reader(ctx), in.Content, in.Size)
		if err != nil {
			return fmt.Errorf("%s: %w", in.Name, err)
		}
		if !same {
			return fmt.Errorf("%w: %s", errDiffers, in.Name)
		}
		i++
	}
	return nil
}

// Replace calls put, which puts the new file in its place, while nobody edits. later has the records
// of edits that were made since the save began and are not in the new file, and can be replayed on
// it. edits is the number of edits that they make together. put returns the new file's FileInfo, or
// nil if the file is not in its place.
func (c *Changed) Replace(put func(later [][]byte, edits int64) (iofs.FileInfo, error)) error {
	return c.alone(func() error {
		next := c.rebased()
		info, err := put(c.edits.since, int64(len(next.differs)))
		if info != nil {
			c.edits.become(next, info)
		}
		return err
	})
}

// rebased is the folder on top of the new file.
type rebased struct {
	base map[string]original
	// contents are those of the new file, by the ones that they were written from.
	contents map[*content]*content
	differs  map[string]struct{}
}

// rebased finds out what will differ from the new file.
func (c *Changed) rebased() rebased {
	e := c.edits
	e.mu.RLock()
	defer e.mu.RUnlock()
	r := rebased{
		base: make(map[string]original, len(c.files)), contents: make(map[*content]*content, len(c.files)), differs: map[string]struct{}{},
	}
	for i, f := range c.files {
		next := r.contents[f.content]
		if next == nil {
			next = fileContent(c.written, i)
			r.contents[f.content] = next
		}
		r.base[f.name] = original{content: next, place: f.place}
	}
	for _, m := range e.list {
		b := r.base[m.name]
		if b.content == nil || b.content != r.contents[m.content] {
			r.differs[m.name] = struct{}{}
		}
	}
	for name := range r.base {
		if e.byName[name] == nil {
			r.differs[name] = struct{}{}
		}
	}
	return r
}

// become goes on with the new file. What was put is read from there, so that memory is freed.
func (e *edits) become(r rebased, info iofs.FileInfo) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, m := range e.list {
		if next := r.contents[m.content]; next != nil {
			e.inMemory -= int64(len(m.content.bytes))
			m.content = next
		}
		if b, held := r.base[m.name]; held {
			b.modTime = m.modTime
			r.base[m.name] = b
		}
	}
	e.base, e.differs, e.gone = r.base, r.differs, map[string]nodes.ID{}
	e.size = info.Size()
}
