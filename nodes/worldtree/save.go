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

// Changed is a file of an [Editable] that differs from the one in the folder.
type Changed struct {
	// File is the name in the folder, Size the size of the file there.
	File string
	Size int64
	// Edits is the number of edits that it has, see [Editable.Pending].
	Edits int64

	// source has the content of version, or that of a later edit. edits makes versions, and alone
	// calls a function while nobody edits.
	source  *source
	version *version
	edits   *edits
	alone   func(func() error) error
	image   []byte
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
		return z.Encode(ctx, w, c.edits.opts.Encode)
	}
	a, err := geometry.AreaOfImage(c.image)
	if err != nil {
		return err
	}
	return a.Encode(ctx, w, c.edits.opts.Encode)
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
// replayed on it, because a record has what an edit makes, not what was there before. edits is
// the number of edits that they make together. put returns the new file's FileInfo, or nil if
// the file is not in its place.
func (c *Changed) Replace(put func(later [][]byte, edits int64) (iofs.FileInfo, error)) error {
	return c.alone(func() error {
		next, err := c.rebased()
		if err != nil {
			return err
		}
		info, err := put(c.source.since, next.net.count())
		if info == nil {
			return err
		}
		for _, v := range []*version{next, next.saved()} {
			v.size, v.modTime = info.Size(), info.ModTime()
		}
		c.source.current.Store(next)
		return err
	})
}

// rebased returns the version that its source will have once the new file is in its place. The
// caller sets the size and time of that file.
func (c *Changed) rebased() (*version, error) {
	now, saved := c.source.now(), *c.version
	saved.edit, saved.net, saved.base, saved.logged = nil, nil, nil, false
	if now == c.version {
		return &saved, nil
	}
	image, err := c.edits.image(context.Background(), now)
	if err != nil {
		return nil, err
	}
	next := *now
	if next.net = netBetween(c.source.kind, c.image, image); next.net == nil {
		next = saved
		next.logged, next.shown = true, now.shown
		return &next, nil
	}
	if next.base = &saved; next.edit == nil { // it was reverted to the file that is about to go
		data, err := now.read(c.edits.fsys)
		if err != nil {
			return nil, err
		}
		next.edit = &edit{packed: data}
	}
	return &next, nil
}

// Save calls store for each file with edits, which puts the file in its place by Replace. If a
// file fails, the others are still saved.
//
// Packing takes the most time, so [geometry.Parallel] files are packed at once. store is called
// for one file at a time, in the order in which they are ready.
func (e *Editable) Save(ctx context.Context, store func(c *Changed) error) error {
	saver := saver{edits: e.edits, alone: e.Alone, store: store}
	errs := make([]error, len(e.edits.sources)+1)
	var group errgroup.Group
	group.SetLimit(geometry.Parallel())
	for i, s := range e.edits.sources {
		if s.now().net == nil {
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
	if now.net == nil {
		return nil // it was taken back just now
	}
	image, err := e.image(ctx, now)
	if err != nil {
		return err
	}
	c := &Changed{File: s.file, Size: now.size, Edits: now.net.count(), source: s, version: now, edits: e.edits, alone: e.alone, image: image}
	if now.check(e.fsys) == nil { // else store will most likely refuse to replace it
		if err := c.pack(ctx); err != nil {
			return err
		}
	}
	e.storing.Lock()
	defer e.storing.Unlock()
	return e.store(c)
}
