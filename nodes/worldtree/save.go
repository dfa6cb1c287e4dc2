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

	kind   kind
	image  []byte
	encode geometry.EncodeOptions
	// packed is the new file, nil until it is made.
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
	if c.kind == zone {
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
	image, _, err := decodeFile(c.kind, data)
	if err != nil {
		return fmt.Errorf("reading back what was written: %w", err)
	}
	if !bytes.Equal(image, c.image) {
		return errors.New("what was written reads back as something else")
	}
	return nil
}

// Save calls store with each changed file. store replaces the file and returns the new
// file's info, or nil if the old file stays because it is the Same. A failure does not keep
// the other files from being saved. Nothing can be changed meanwhile.
//
// [geometry.Parallel] files are packed at once, since that takes the time. store is called
// for one file after the other, in the order in which they are ready.
func (e *Editable) Save(ctx context.Context, store func(c *Changed) (iofs.FileInfo, error)) error {
	return e.Alone(func() error { return e.edits.saveAll(ctx, store) })
}

func (e *edits) saveAll(ctx context.Context, store func(c *Changed) (iofs.FileInfo, error)) error {
	errs := make([]error, len(e.sources)+1)
	var storing sync.Mutex
	var group errgroup.Group
	group.SetLimit(geometry.Parallel())
	for i, s := range e.sources {
		if s.now().edit == nil {
			continue
		}
		if errs[len(e.sources)] = ctx.Err(); ctx.Err() != nil {
			break
		}
		group.Go(func() error {
			if err := e.save(ctx, s, &storing, store); err != nil {
				errs[i] = fmt.Errorf("%s: %w", s.file, err)
			}
			return nil
		})
	}
	return errors.Join(group.Wait(), errors.Join(errs...))
}

func (e *edits) save(ctx context.Context, s *source, storing *sync.Mutex, store func(c *Changed) (iofs.FileInfo, error)) error {
	now := s.now()
	image, err := e.image(ctx, now)
	if err != nil {
		return err
	}
	c := &Changed{File: s.file, Size: now.size, kind: s.kind, image: image, encode: e.opts.Encode}
	// If the file can't be read any more, store will most likely refuse.
	if data, err := now.read(e.fsys); err == nil {
		before, _, err := decodeFile(s.kind, data)
		if c.Same = err == nil && bytes.Equal(before, image); !c.Same {
			if err := c.pack(ctx); err != nil {
				return err
			}
		}
	}
	storing.Lock()
	info, err := store(c)
	storing.Unlock()
	if info == nil && (err != nil || !c.Same) {
		return err
	}
	next := *now
	next.edit = nil
	if info != nil {
		next.size, next.modTime = info.Size(), info.ModTime()
	}
	s.current.Store(&next)
	return err
}
