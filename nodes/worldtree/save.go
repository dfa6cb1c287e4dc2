package worldtree

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"

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
}

// Write writes what the file is to hold.
func (c *Changed) Write(ctx context.Context, w io.Writer) error {
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
func (e *Editable) Save(ctx context.Context, store func(c *Changed) (iofs.FileInfo, error)) error {
	e.editing.Lock()
	defer e.editing.Unlock()
	var errs []error
	for _, s := range e.sources {
		if s.now().edit == nil {
			continue
		}
		if err := e.save(ctx, s, store); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", s.file, err))
		}
		if ctx.Err() != nil {
			break
		}
	}
	return errors.Join(errs...)
}

func (e *Editable) save(ctx context.Context, s *source, store func(c *Changed) (iofs.FileInfo, error)) error {
	now := s.now()
	image, err := e.image(ctx, now)
	if err != nil {
		return err
	}
	if now, err = e.pack(ctx, now, image); err != nil {
		return err
	}
	c := &Changed{File: s.file, Size: now.size, kind: s.kind, image: image, encode: e.opts.Encode}
	if data, err := now.read(e.fsys); err == nil {
		before, _, err := decodeFile(s.kind, data)
		c.Same = err == nil && bytes.Equal(before, image)
	}
	info, err := store(c)
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

// pack makes a version independent of the file, which is about to be another one.
func (e *Editable) pack(ctx context.Context, now *version, image []byte) (*version, error) {
	if now.edit.packed != nil {
		return now, nil
	}
	z, err := geometry.ZoneOfImage(image)
	if err != nil {
		return nil, err
	}
	c, err := wholeChange(ctx, image, z.Encode)
	if err != nil {
		return nil, err
	}
	next := *now
	next.edit = c.edit
	now.current.Store(&next)
	return &next, nil
}
