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
	// File is its name in the folder, Size the size of its file.
	File string
	Size int64
	// Same is set if it was edited back to the file's content.
	Same bool

	// source holds version, or what was edited since. alone lets nobody edit.
	source  *source
	version *version
	alone   func(func() error) error
	image   []byte
	encode  geometry.EncodeOptions
	// packed is what the file is to hold, nil as long as nobody has made it.
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

// pack makes what Write writes.
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

// Compare compares r with what Write wrote.
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

// Replace lets nobody edit while put puts the new file in its place, and tells it of the
// records of edits that were made since: the file holds them no less than the others, as
// records are about what they make, not about what was there. put gives what the new file
// looks like, or nil if it is not in its place.
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

// Save has store put each file that was changed in its place by Replace, or settle that it is
// the Same, while nobody edits. One that fails does not keep the others from being saved.
//
// [geometry.Parallel] files are packed at once, as that is what takes time; store is
// called for one after the other, for whichever is ready.
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
		_ = e.alone(func() error { now, s.since = s.now(), since; return nil }) // it can't fail
	}
	note([][]byte{})
	defer note(nil)
	image, err := e.image(ctx, now)
	if err != nil {
		return err
	}
	c := &Changed{File: s.file, Size: now.size, source: s, version: now, alone: e.alone, image: image, encode: e.opts.Encode}
	// Where the file can't be read any more, store will most likely refuse.
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

// settle notes that a file holds what it is to hold, if nobody has edited it since.
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
