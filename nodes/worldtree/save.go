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

// Changed is a file that holds something else in an [Editable].
type Changed struct {
	// File is its name in the folder, Size its size as it is there.
	File string
	Size int64
	// Same tells that it was edited back to what the file holds.
	Same bool

	kind   kind
	image  []byte
	encode geometry.EncodeOptions
	// packed is what the file is to hold, nil as long as nobody has made it.
	packed []byte
}

// Write writes what the file is to hold.
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

// Compare reads a file and compares it with what Write was to write.
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

// Save has store put each file that was changed in its place; it returns what the
// new file looks like, or nil if there is none because the old one is the Same. One
// that fails does not keep the others from being saved. Nothing can be changed
// meanwhile.
//
// [geometry.Parallel] files are packed at once, as that is what takes time; store is
// called for one after the other, for whichever is ready.
func (e *Editable) Save(ctx context.Context, store func(c *Changed) (iofs.FileInfo, error)) error {
	return e.Alone(func() error { return e.edits.saveAll(ctx, store) })
}

// saveAll is Save.
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
	// Where the file can't be read any more, store will most likely refuse.
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
