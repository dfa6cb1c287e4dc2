package remote

import (
	"context"
	"fmt"
	"math"

	"lorefs/internal/remote/mirror"
)

// partlyError is the error of a check that has found a part of an answer wrong and the rest right.
type partlyError struct{ err error }

func (e *partlyError) Error() string { return e.err.Error() }
func (e *partlyError) Unwrap() error { return e.err }

// Together returns files of an archive, in the order of their places, each as a whole. It takes
// one request for those that the cache does not have and that have no more than gap bytes between
// them, which is made again as it was if it fails. check proves file i. What no host sent right
// with the others is nil, also without an error: [Client.Range] asks for it alone, and another host
// first.
func (c *Client) Together(ctx context.Context, archive Key, files []File, gap int64, check func(i int, data []byte) error) ([][]byte, error) {
	t := &together{c: c, archive: archive, files: files, got: make([][]byte, len(files)), check: check}
	missing, err := t.cached()
	for len(missing) > 0 && err == nil {
		row, size := t.row(missing, gap)
		err = t.fetch(ctx, row, size)
		missing = missing[len(row):]
	}
	return t.got, err
}

// together is a call of Together.
type together struct {
	c       *Client
	archive Key
	files   []File
	got     [][]byte
	check   func(i int, data []byte) error
}

// cached takes what the cache has, and returns the numbers of the others.
func (t *together) cached() (missing []int, err error) {
	for i := range t.files {
		f := &t.files[i]
		if f.Archive != t.archive || f.Size <= 0 || f.Off < 0 || f.Off > math.MaxInt64-f.Size || i > 0 && f.Off < t.files[i-1].Off {
			return nil, fmt.Errorf("remote: encoding key %x: %d bytes at %d are no file behind the others", f.Key, f.Size, f.Off)
		}
		o := t.object(i)
		t.c.own(o, f.Own)
		if t.c.cache != nil {
			if data, ok := t.c.cache.Range(o, 0, f.Size, func(b []byte) error { return t.check(i, b) }); ok {
				t.got[i] = data
				t.c.hit(data)
				continue
			}
		}
		missing = append(missing, i)
	}
	return missing, nil
}

func (t *together) object(i int) mirror.Object {
	o, _, _ := t.c.place(t.files[i])
	return o
}

// row returns the first of the missing files that come with one request, and its size.
func (t *together) row(missing []int, gap int64) (row []int, size int64) {
	first := t.files[missing[0]].Off
	for n, i := range missing {
		f := &t.files[i]
		if n > 0 && (f.Off-first > size+gap || f.Off+f.Size-first > maxWhole) {
			return missing[:n], size
		}
		size = max(size, f.Off+f.Size-first)
	}
	return missing, size
}

// fetch fetches files with one request, and keeps those that are right.
func (t *together) fetch(ctx context.Context, row []int, size int64) error {
	from := mirror.Object{Path: t.c.path, Kind: mirror.Data, Key: t.archive}
	off := t.files[row[0]].Off
	r := request{path: from.String(), name: t.archive, off: off, size: size}
	r.check = func(data []byte) error { return t.prove(row, off, data) }
	if t.c.offline {
		return fmt.Errorf("remote: %s: %w", r.path, ErrOffline)
	}
	if err := t.c.known(&r); err != nil {
		return err
	}
	if _, err := t.c.fetch(ctx, r); err != nil {
		t.c.remember(&r, err)
		return err
	}
	t.c.came(&r)
	for _, i := range row {
		if t.got[i] != nil && t.c.caches(t.files[i].Own) {
			t.c.cache.PutPiece(t.object(i), t.files[i].Size, 0, t.got[i])
		}
	}
	return nil
}

// prove takes what is right of the bytes from off on.
func (t *together) prove(row []int, off int64, data []byte) (wrong error) {
	right := 0
	for _, i := range row {
		f := &t.files[i]
		part := data[f.Off-off:][:f.Size:f.Size]
		t.got[i] = nil
		if err := t.check(i, part); err != nil {
			wrong = fmt.Errorf("encoding key %x: %w", f.Key, err)
			continue
		}
		t.got[i] = part
		right++
	}
	if wrong != nil && right > 0 {
		return &partlyError{wrong}
	}
	return wrong
}
