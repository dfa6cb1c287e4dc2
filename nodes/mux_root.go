package nodes

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"time"
)

// muxRoot is the mux's own tree: its root and its files. The mux lists the root itself.
type muxRoot struct {
	mtime  time.Time
	mounts []Mount
}

// firstMount is the ID in a muxRoot of the first mount.
const firstMount = Root + 1

// maxNameLen is the longest name that file systems allow, in bytes.
const maxNameLen = 255

// newMuxRoot checks that the mounts have names that can stand in one directory.
func newMuxRoot(mtime time.Time, mounts []Mount) (*muxRoot, error) {
	names := make(map[string]bool)
	for _, mt := range mounts {
		n := mt.Name
		if n == "" || n == "." || n == ".." || len(n) > maxNameLen || strings.ContainsAny(n, "/\x00") {
			return nil, fmt.Errorf("nodes: bad name %q in a root", n)
		}
		if names[n] {
			return nil, fmt.Errorf("nodes: two mounts called %q in a root", n)
		}
		names[n] = true
	}
	return &muxRoot{mtime, mounts}, nil
}

// content returns the content of a file.
func (r *muxRoot) content(id ID) (string, error) {
	i := int64(id) - int64(firstMount)
	switch {
	case id == Root:
		return "", ErrIsDir
	case i < 0 || i >= int64(len(r.mounts)) || r.mounts[i].Tree != nil:
		return "", NotExist(fmt.Sprintf("node %d", id))
	}
	return r.mounts[i].Content, nil
}

func (r *muxRoot) Attr(_ context.Context, id ID) (Attr, error) {
	if id == Root {
		return Attr{Kind: Dir, ModTime: r.mtime}, nil
	}
	content, err := r.content(id)
	if err != nil {
		return Attr{}, err
	}
	return Attr{Kind: File, Size: int64(len(content)), ModTime: r.mtime}, nil
}

func (r *muxRoot) Lookup(context.Context, ID, string) (Entry, error) { return Entry{}, ErrNotDir }

func (r *muxRoot) ReadDir(context.Context, ID, uint64) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) { yield(Entry{}, ErrNotDir) }
}

func (r *muxRoot) ReadAt(_ context.Context, file ID, p []byte, off int64) (int, error) {
	content, err := r.content(file)
	if err != nil {
		return 0, err
	}
	return ReadContent(content, p, off)
}

// Usage counts the root and its files, not the mounted trees.
func (r *muxRoot) Usage() Usage {
	u := Usage{Nodes: 1}
	for _, mt := range r.mounts {
		if mt.Tree == nil {
			u.Nodes++
			u.Bytes += int64(len(mt.Content))
		}
	}
	return u
}
