package casckind

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"path"
	"strings"

	"lorefs/casc/keys"
	"lorefs/casc/root"
	"lorefs/cmd/internal/kinds"
	"lorefs/internal/shown"
	"lorefs/nodes"
	"lorefs/nodes/casctree"
	"lorefs/nodes/tabletree"
)

// listsOf returns functions that open the list files. It returns an error at once if one of
// them does not exist.
func listsOf(o *kinds.CASCOptions) (lists []casctree.ListFile, err error) {
	for _, name := range o.ListFiles {
		if _, err := os.Stat(name); err != nil {
			return nil, kinds.Unreadable(name, err)
		}
		lists = append(lists, casctree.ListFile{Name: name, Open: func() (io.ReadCloser, error) { return os.Open(name) }})
	}
	return lists, nil
}

// namesOf reads all list files as one. The first name that they give a file counts. It returns
// nil if there are no list files.
func namesOf(o *kinds.CASCOptions) (names *root.ListFile, err error) {
	if len(o.ListFiles) == 0 {
		return nil, nil
	}
	var parts []io.Reader
	size := int64(0)
	for _, name := range o.ListFiles {
		file, err := os.Open(name)
		if err != nil {
			return nil, kinds.Unreadable(name, err)
		}
		defer file.Close()
		if info, err := file.Stat(); err == nil { // only the progress needs it
			size += info.Size()
		}
		parts = append(parts, withoutMark(file), strings.NewReader("\n"))
	}
	// A mount logs lines that can't be read, but verify is only about the storage.
	names, err = root.ReadListFile(io.MultiReader(parts...), size, func(int, error) {})
	if err != nil {
		err = &kinds.Error{Option: "listfile", Err: err}
	}
	return names, err
}

// namesHints returns the lines of what to tell somebody who looks for names in a storage that has
// few. It returns nothing for others.
func (c *cascStorage) namesHints() (lines []string) {
	named, unnamed := c.tree.Named()
	switch {
	case c.tree.RootKind() != "wow" || named >= unnamed:
		return nil
	case c.lists == 0:
		return []string{
			"the storage has numbers in place of names: --listfile takes names from a list,",
			"such as that of https://github.com/wowdev/wow-listfile",
		}
	}
	return []string{fmt.Sprintf("the storage has numbers in place of names: --listfile names %d of its %s", named, shown.Plural(named+unnamed, "file"))}
}

// withoutMark skips a byte order mark. The list files are read as one text, and only its
// beginning may have one.
func withoutMark(r io.Reader) io.Reader {
	b := bufio.NewReader(r)
	const mark = "\ufeff"
	if head, err := b.Peek(len(mark)); err == nil && string(head) == mark {
		_, _ = b.Discard(len(mark)) // Peek has just returned them
	}
	return b
}

// NamesHint returns what [kinds.Source.NamesHint] does.
func (c *cascStorage) NamesHint(name string) string {
	if top, _, _ := strings.Cut(strings.Trim(path.Clean(name), "/"), "/"); top != "" && top != "." && !strings.EqualFold(top, "files") {
		return ""
	}
	return strings.Join(c.namesHints(), " ")
}

// FileID returns what [kinds.Source.FileID] does.
func (c *cascStorage) FileID(file nodes.ID) (id uint32, ok bool) { return c.tree.FileID(file) }

// Partial returns what [kinds.Source.Partial] does.
func (c *cascStorage) Partial(ctx context.Context) []string { return c.tree.Partial(ctx) }

// SameAs returns what [kinds.Source.SameAs] does.
func (c *cascStorage) SameAs(ctx context.Context, file nodes.ID, size int64, sum func(off, size int64) ([16]byte, error)) (bool, error) {
	if tabletree.IsBeside(file) {
		return false, nil
	}
	return c.tree.SameAs(ctx, file, size, func(off, size int64) (keys.Key, error) {
		s, err := sum(off, size)
		return s, err
	})
}
