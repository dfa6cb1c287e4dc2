package worldtree

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"sync"

	"golang.org/x/sync/errgroup"

	"lorefs/geometry"
)

// Changed is a file of an [Editable] with edits.
type Changed struct {
	// File is the name in the folder, Size the size of the file there.
	File string
	Size int64
	// Same is set if the edits have restored the content of the file.
	Same bool

	// source has the content of version, or that of a later edit. alone calls a function while
	// nobody edits.
	source  *source
	version *version
	alone   func(func() error) error
	image   []byte
	encode  geometry.EncodeOptions
	// packed is the new file, or nil if it is not packed yet.
	packed []byte
}

// Write writes the new file.
func (c *Changed) Write(ctx context.Context, w io.Writer) error {
	if err := c.pack(ctx); err != nil {
		return err
	}
	_, err := w.Write(c.packed)
	return err
}

// pack packs the new file for Write.
func (c *Changed) pack(ctx context.Context) error {
	if c.packed != nil {
		return nil
	}
	var file bytes.Buffer
	if err := c.encodeTo(ctx, &file); err != nil {
		return err
	}
	c.packed = file.Bytes()
	return nil
}

func (c *Changed) encodeTo(ctx context.Context, w io.Writer) error {
	if c.source.kind == zone {
		z, err := geometry.ZoneOfImage(c.image)
		if err != nil {
			return err
		}
		return z.Encode(ctx, w, c.encode)
	}
	a, err := geometry.AreaOfImage(c.image)
	if err != nil {
		return err
	}
	return a.Encode(ctx, w, c.encode)
}

// Compare returns an error unless the file that r reads has the content that Write wrote.
func (c *Changed) Compare(r io.Reader) error {
	data, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	if err != nil {
		return err
	}
	image, _, err := decodeFile(c.source.kind, data)
	if err != nil {
		return fmt.Errorf("reading back what was written: %w", err)
	}
	if !bytes.Equal(image, c.image) {
		return errors.New("the written file reads back differently")
	}
	return nil
}

// Replace calls put, which puts the new file in its place, while nobody edits. later has the
// records of edits that were made since the save began and are not in the new file. They can be
// replayed on it, because a record has what an edit makes, not what was there before. put
// returns the new file's FileInfo, or nil if the file is not in its place.
func (c *Changed) Replace(put func(later [][]byte) (iofs.FileInfo, error)) error {
	return c.alone(func() error {
		info, err := put(c.source.since)
		if info == nil {
			return err
		}
		next := *c.source.now()
		if c.source.now() == c.version {
			next.edit = nil
		}
		next.size, next.modTime = info.Size(), info.ModTime()
		c.source.current.Store(&next)
		return err
	})
}

// Save calls store for each edited file. store puts the file in its place by Replace; if the
// file is the Same, it has nothing to put, and nobody edits meanwhile. If a file fails, the
// others are still saved.
//
// Packing takes the most time, so [geometry.Parallel] files are packed at once. store is called
// for one file at a time, in the order in which they are ready.
func (e *Editable) Save(ctx context.Context, store func(c *Changed) error) error {
	saver := saver{edits: e.edits, alone: e.Alone, store: store}
	errs := make([]error, len(e.edits.sources)+1)
	var group errgroup.Group
	group.SetLimit(geometry.Parallel())
	for i, s := range e.edits.sources {
		if s.now().edit == nil {
			continue
		}
		if errs[len(errs)-1] = ctx.Err(); ctx.Err() != nil {
			break
		}
		group.Go(func() error {
			if err := saver.save(ctx, s); err != nil {
				errs[i] = fmt.Errorf("%s: %w", s.file, err)
			}
			return nil
		})
	}
	return errors.Join(group.Wait(), errors.Join(errs...))
}

// saver saves sources.
type saver struct {
	*edits
	alone func(func() error) error
	store func(c *Changed) error
	// storing is held while store runs.
	storing sync.Mutex
}

func (e *saver) save(ctx context.Context, s *source) error {
	var now *version
	note := func(since [][]byte) {
		_ = e.alone(func() error { now, s.since = s.now(), since; return nil }) // the function returns no error
	}
	note([][]byte{})
	defer note(nil)
	image, err := e.image(ctx, now)
	if err != nil {
		return err
	}
	c := &Changed{File: s.file, Size: now.size, source: s, version: now, alone: e.alone, image: image, encode: e.opts.Encode}
	// If the file can't be read any more, store will most likely refuse to replace it.
	if data, err := now.read(e.fsys); err == nil {
		before, _, err := decodeFile(s.kind, data)
		if c.Same = err == nil && bytes.Equal(before, image); c.Same {
			return e.settle(c)
		}
		if err := c.pack(ctx); err != nil {
			return err
		}
	}
	e.storing.Lock()
	defer e.storing.Unlock()
	return e.store(c)
}

// settle stores a file that is the Same and drops its edit, unless it was edited since.
func (e *saver) settle(c *Changed) error {
	e.storing.Lock()
	defer e.storing.Unlock()
	return e.alone(func() error {
		if c.source.now() != c.version {
			return nil
		}
		if err := e.store(c); err != nil {
			return err
		}
		next := *c.version
		next.edit = nil
		c.source.current.Store(&next)
		return nil
	})
}
