package treecopy

import (
	"context"
	"errors"
	"math"
	"os"
	"sync"

	"lorefs/nodes"
)

// Amount is what a copy would write.
type Amount struct {
	// Files are those that will be written: not those that are there already and stay.
	Files int64
	// Bytes are their contents, as far as they take more room than what they replace. It is
	// [math.MaxInt64] if that is more than a disk could have.
	Bytes int64
}

// maxPath is the longest path that is followed: all directories on it are open at once.
const maxPath = 1 << 13

// ErrTooMany means that a tree has so many files that nobody has counted them.
var ErrTooMany = errors.New("there are too many files to count them first")

// Measure tells what [Copy] would write. The error is [ErrTooMany] if there are more files
// and directories than most.
func Measure(ctx context.Context, tree nodes.Tree, from nodes.Entry, to string, most int, o Options) (Amount, error) {
	m := &measuring{overwrite: o.Overwrite, most: most}
	root, err := os.OpenRoot(to)
	switch {
	case err == nil:
		defer root.Close()
		m.root = root
	case !errors.Is(err, os.ErrNotExist):
		return Amount{}, err
	}
	w := &walk{tree: tree, dir: m.dir}
	w.ctx, w.cancel = context.WithCancelCause(ctx)
	defer w.cancel(nil)
	w.file = func(j job, _ []byte) {
		if err := m.file(j); err != nil {
			w.cancel(err)
		}
	}
	w.run(from, o)
	return m.amount, context.Cause(w.ctx)
}

type measuring struct {
	// root is the folder, nil if it is not there yet.
	root      *os.Root
	overwrite bool
	most      int

	// mu guards the rest.
	mu     sync.Mutex
	seen   int
	amount Amount
}

// count takes one more thing in.
func (m *measuring) count() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.seen++; m.seen > m.most {
		return ErrTooMany
	}
	return nil
}

func (m *measuring) dir(path string) error {
	if len(path) > maxPath {
		return ErrTooMany
	}
	return m.count()
}

func (m *measuring) file(j job) error {
	size := j.entry.Size
	if size == nodes.UnknownSize {
		return ErrTooMany // to ask for it may take as long as to write the file
	}
	if m.root != nil {
		if info, err := m.root.Lstat(j.path); err == nil {
			if !m.overwrite {
				return m.count()
			}
			size = max(size-info.Size(), 0)
		}
	}
	m.mu.Lock()
	m.amount.Files++
	m.amount.Bytes += min(size, math.MaxInt64-m.amount.Bytes)
	m.mu.Unlock()
	return m.count()
}
