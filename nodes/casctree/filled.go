package casctree

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"strconv"

	"lorefs/casc"
	"lorefs/casc/keys"
	"lorefs/nodes"
)

// HasID reports whether a file with an ID can be read, as far as listings tell.
func (t *Tree) HasID(id uint32) bool {
	return slices.ContainsFunc(t.filesOf(id), t.shown)
}

// KeyOf returns a text that only files of one content have, for the file that [Tree.ReadFilled] reads. It
// is empty if there is none.
func (t *Tree) KeyOf(id uint32) string {
	e, err := t.findByID(strconv.FormatUint(uint64(id), 10))
	if err != nil {
		return ""
	}
	forms, _, err := t.formsOfID(context.Background(), e.ID)
	if err != nil || len(forms) == 0 {
		return ""
	}
	h := sha256.New()
	for _, s := range forms[0].Spans {
		fmt.Fprintf(h, "%x %d %d\n", s.EKey[:keys.ShortSize], s.Off, s.Size)
	}
	return hex.EncodeToString(h.Sum(nil))
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
