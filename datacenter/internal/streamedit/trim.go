package streamedit

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"lorefs/internal/cores"
)

// check returns an error if edits of size bytes are not as Edit says.
func check(edits []Edit, size int64) error {
	end := int64(0)
	for _, e := range edits {
		if e.Off < end || e.Len < 0 || e.Len > size-e.Off {
			return fmt.Errorf("splice: BUG: an edit of %d bytes at %d of %d, behind one that ends at %d", e.Len, e.Off, size, end)
		}
		end = e.Off + e.Len
	}
	return nil
}

// trim returns edits of only what changes, since the tokens of all other data stay. It reads what
// they replace on all cores: each may be in a part of the data that has to be inflated first.
func (s *Stream) trim(ctx context.Context, edits []Edit) ([]Edit, error) {
	trimmed := make([][]Edit, len(edits))
	group, ctx := errgroup.WithContext(ctx)
	var next atomic.Int64
	for range min(cores.Count(), len(edits)) {
		group.Go(func() (err error) {
			var old []byte // scratch
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= len(edits) {
					return nil
				}
				if trimmed[i], old, err = s.trimOne(edits[i], old); err != nil {
					return err
				}
			}
			return ctx.Err()
		})
	}
	err := group.Wait()
	return slices.Concat(trimmed...), err
}

// trimOne trims one edit. It returns old, with more room if that was too small.
func (s *Stream) trimOne(e Edit, old []byte) ([]Edit, []byte, error) {
	if int64(cap(old)) < e.Len {
		old = make([]byte, e.Len)
	}
	old = old[:e.Len]
	if err := s.Data(e.Off, old); err != nil {
		return nil, old, err
	}
	if len(old) == len(e.New) {
		return appendChanges(nil, e, old), old, nil
	}
	return []Edit{trimEnds(e, old)}, old, nil
}

// appendChanges splits an edit that keeps the length. It does not split it for the sake of a few
// equal bytes.
func appendChanges(list []Edit, e Edit, old []byte) []Edit {
	const least = minMatch
	for i := 0; i < len(old); i++ {
		if old[i] == e.New[i] {
			continue
		}
		end := i + 1
		for k := end; k < len(old) && k < end+least; k++ {
			if old[k] != e.New[k] {
				end = k + 1
			}
		}
		list = append(list, Edit{Off: e.Off + int64(i), Len: int64(end - i), New: e.New[i:end]})
		i = end
	}
	return list
}

// trimEnds cuts equal bytes at both ends of an edit.
func trimEnds(e Edit, old []byte) Edit {
	for len(old) > 0 && len(e.New) > 0 && old[0] == e.New[0] {
		e.Off++
		old, e.New = old[1:], e.New[1:]
	}
	for len(old) > 0 && len(e.New) > 0 && old[len(old)-1] == e.New[len(e.New)-1] {
		old, e.New = old[:len(old)-1], e.New[:len(e.New)-1]
	}
	e.Len = int64(len(old))
	return e
}
