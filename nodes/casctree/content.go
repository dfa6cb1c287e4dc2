package casctree

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"

	"lorefs/casc"
	"lorefs/casc/encoding"
	"lorefs/casc/keys"
	"lorefs/nodes"
)

// contentDirs is the number of directories in content/, one for each first byte of a key.
const contentDirs = 256

func contentDirEntry(b int) nodes.Entry {
	return nodes.Entry{Name: fmt.Sprintf("%02x", b), ID: makeID(kindContentDir, b), Kind: nodes.Dir}
}

func (t *Tree) findContentDir(name string) (nodes.Entry, error) {
	b, err := strconv.ParseUint(name, 16, 8)
	if err != nil || len(name) != 2 {
		return nodes.Entry{}, nodes.NotExist(strconv.Quote(name))
	}
	return contentDirEntry(int(b)), nil
}

func listContentDirs(cursor uint64, yield func(nodes.Entry, error) bool) {
	for i := min(cursor, contentDirs); i < contentDirs; i++ {
		e := contentDirEntry(int(i))
		e.Next = i + 1
		if !yield(e, nil) {
			return
		}
	}
}

// findContent finds the file of a content key, whether it is local or not, so that a user
// can find out why it can't be read.
func (t *Tree) findContent(ctx context.Context, dir int, name string) (nodes.Entry, error) {
	key, err := keys.Parse(name)
	if err != nil || int(key[0]) != dir {
		return nodes.Entry{}, nodes.NotExist(strconv.Quote(name))
	}
	row, at, err := t.st.Encoding().FindRow(ctx, key)
	if errors.Is(err, casc.ErrNotFound) {
		return nodes.Entry{}, nodes.NotExist(strconv.Quote(name))
	}
	if err != nil {
		return nodes.Entry{}, err
	}
	id, ok := rowID(at)
	if !ok {
		return nodes.Entry{}, fmt.Errorf("content key %v: %w: page %d of the encoding file", key, casc.ErrUnsupported, at.Page)
	}
	return nodes.Entry{Name: hex.EncodeToString(key[:]), ID: id, Kind: nodes.File, Size: row.Size()}, nil
}

// row returns the row of a content file in the encoding file.
func (t *Tree) row(ctx context.Context, id nodes.ID) (encoding.ContentRow, error) {
	_, value := splitID(id)
	row, err := t.st.Encoding().Row(ctx, rowOf(value))
	if errors.Is(err, casc.ErrNotFound) {
		return nil, nodes.NotExist(id)
	}
	return row, err
}
