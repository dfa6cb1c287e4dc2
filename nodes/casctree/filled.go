package casctree

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"

	"lorefs/casc"
	"lorefs/nodes"
)

// HasID reports whether a file with an ID can be read, as far as listings tell.
func (t *Tree) HasID(id uint32) bool {
	return slices.ContainsFunc(t.filesOf(id), t.shown)
}

// ReadFilled reads the file that by-id/ has for an ID, of at most most bytes. It has zeros for chunks
// whose key is not known.
func (t *Tree) ReadFilled(ctx context.Context, id uint32, most int64) ([]byte, error) {
	e, err := t.findByID(strconv.FormatUint(uint64(id), 10))
	if err != nil {
		return nil, err
	}
	t.look()
	if e.Size > most {
		return nil, fmt.Errorf("%d bytes, want at most %d", e.Size, most)
	}
	c, err := t.openRef(casc.Filled(ctx), e.ID)
	if err != nil {
		return nil, t.treeError(ctx, e.ID, 0, err)
	}
	data := make([]byte, e.Size)
	if n, err := c.ReadAtContext(casc.Filled(ctx), data, 0); n < len(data) {
		if err == nil || err == io.EOF { //nolint:errorlint // it is the end itself
			err = nodes.ErrChanged
		}
		return nil, t.treeError(ctx, e.ID, int64(n), err)
	}
	return data, nil
}
