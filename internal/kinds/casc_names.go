package kinds

import (
	"bufio"
	"io"
	"os"
	"strings"

	"lorefs/casc"
)

// lists opens the list files when they are needed. That one is not there is told at
// once.
func (o *CASCOptions) lists() (lists []func() (io.ReadCloser, error), err error) {
	for _, name := range o.ListFiles {
		if _, err := os.Stat(name); err != nil {
			return nil, Unreadable(name, err)
		}
		lists = append(lists, func() (io.ReadCloser, error) { return os.Open(name) })
	}
	return lists, nil
}

// names reads all list files as one, of which the first that has a name counts. It is
// nil if there are none.
func (o *CASCOptions) names() (names *casc.ListFile, err error) {
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
		size += fileSize(".", name)
		parts = append(parts, withoutMark(file), strings.NewReader("\n"))
	}
	// A mount tells of lines that are left out; verify is about the storage.
	names, err = casc.ReadListFile(io.MultiReader(parts...), size, func(int, error) {})
	if err != nil {
		err = &Error{Option: "listfile", Err: err}
	}
	return names, err
}

// withoutMark takes a byte order mark off, which only the beginning of all may have.
func withoutMark(r io.Reader) io.Reader {
	b := bufio.NewReader(r)
	const mark = "\ufeff"
	if head, err := b.Peek(len(mark)); err == nil && string(head) == mark {
		_, _ = b.Discard(len(mark)) // they are there
	}
	return b
}
