package kinds

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path"
	"strings"

	"lorefs/casc/root"
	"lorefs/internal/shown"
	"lorefs/nodes/casctree"
)

// lists returns functions that open the list files. It returns an error at once if one of
// them does not exist.
func (o *CASCOptions) lists() (lists []casctree.ListFile, err error) {
	for _, name := range o.ListFiles {
		if _, err := os.Stat(name); err != nil {
			return nil, Unreadable(name, err)
		}
		lists = append(lists, casctree.ListFile{Name: name, Open: func() (io.ReadCloser, error) { return os.Open(name) }})
	}
	return lists, nil
}

// names reads all list files as one. The first name that they give a file counts. It returns
// nil if there are no list files.
func (o *CASCOptions) names() (names *root.ListFile, err error) {
	if len(o.ListFiles) == 0 {
		return nil, nil
	}
	var parts []io.Reader
	size := int64(0)
	for _, name := range o.ListFiles {
		file, err := os.Open(name)
		if err != nil {
			return nil, Unreadable(name, err)
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
		err = &Error{Option: "listfile", Err: err}
	}
	return names, err
}

// namesHint returns the lines of what to tell somebody who looks for names in a storage that has
// few. It returns nothing for others.
func (c *cascStorage) namesHint() (lines []string) {
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

// NamesHint returns what to tell somebody who looks for names at a path, if the source has numbers
// in place of names; nothing otherwise.
func (s *Source) NamesHint(name string) string {
	c, ok := s.archive.(*cascStorage)
	if top, _, _ := strings.Cut(strings.Trim(path.Clean(name), "/"), "/"); !ok || top != "" && top != "." && !strings.EqualFold(top, "files") {
		return ""
	}
	return strings.Join(c.namesHint(), " ")
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
