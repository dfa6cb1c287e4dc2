package casctree

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"slices"

	"lorefs/casc"
	"lorefs/casc/keys"
	"lorefs/nodes"
)

// HasID reports whether a file with an ID can be read, as far as listings tell.
func (t *Tree) HasID(id uint32) bool {
	return slices.ContainsFunc(t.filesOf(id), t.shown)
}

// KeyOf returns a text that only files of one content have. It is empty if there is none.
func (t *Tree) KeyOf(file nodes.ID) string {
	forms, _, err := t.formsOfID(context.Background(), file)
	if err != nil || len(forms) == 0 {
		return ""
	}
	h := sha256.New()
	for _, s := range forms[0].Spans {
		fmt.Fprintf(h, "%x %d %d\n", s.EKey[:keys.ShortSize], s.Off, s.Size)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// ReadFilled reads a file of at most most bytes. It has zeros for chunks whose key is not known.
func (t *Tree) ReadFilled(ctx context.Context, file nodes.Entry, most int64) ([]byte, error) {
	t.look()
	if file.Size > most {
		return nil, fmt.Errorf("%d bytes, want at most %d", file.Size, most)
	}
	c, err := t.openRef(casc.Filled(ctx), file.ID)
	if err != nil {
		return nil, t.treeError(ctx, file.ID, 0, err)
	}
	data := make([]byte, file.Size)
	if n, err := c.ReadAtContext(casc.Filled(ctx), data, 0); n < len(data) {
		if err == nil || err == io.EOF { //nolint:errorlint // it is the end itself
			err = nodes.ErrChanged
		}
		return nil, t.treeError(ctx, file.ID, int64(n), err)
	}
	return data, nil
}
