package treecopy

import (
	"context"
	"errors"
	"math"
	"os"
	"sync"
	"syscall"

	"lorefs/nodes"
)

// Amount is how much a copy would write.
type Amount struct {
	// Files is how many files will be written, without existing files that stay.
	Files int64
	// Bytes is the size of their content, as far as it exceeds what it replaces, or
	// [math.MaxInt64] if that is more than a disk could have. It is [nodes.UnknownSize] if
	// Options.SizesLater leaves a size unknown.
	Bytes int64
}

// maxPath is the longest path that is followed, since all directories on it are open at
// once.
const maxPath = 1 << 13

// ErrTooMany means that a tree has too many files to count them beforehand.
var ErrTooMany = errors.New("there are too many files to count them first")

// Measure returns how much [Copy] would write. If there are more than most files and
// directories the error is [ErrTooMany].
func Measure(ctx context.Context, tree nodes.Tree, from nodes.Entry, to string, most int, o Options) (Amount, error) {
	m := &measuring{overwrite: o.Overwrite, later: o.SizesLater, readable: o.Readable, most: most}
	root, err := os.OpenRoot(to)
	switch {
	case err == nil:
		defer root.Close()
		m.root = root
	case !errors.Is(err, os.ErrNotExist):
		if info, statErr := os.Stat(to); statErr == nil && !info.IsDir() {
			err = &os.PathError{Op: "open", Path: to, Err: syscall.ENOTDIR} // os.Root's own has only its text
		}
		return Amount{}, err
	}
	w := &walk{tree: tree, dir: m.dir, unlisted: func(string, error) {}} // copying it says why
	w.ctx, w.cancel = context.WithCancelCause(ctx)
	defer w.cancel(nil)
	w.file = func(j job, _ *worker) {
		if err := m.file(w.ctx, tree, j); err != nil {
			w.cancel(err)
		}
	}
	w.run(from, o)
	if m.unknown {
		m.amount.Bytes = nodes.UnknownSize
	}
	return m.amount, context.Cause(w.ctx)
}

type measuring struct {
	// root is the folder, nil if it does not exist yet.
	root      *os.Root
	overwrite bool
	later     bool
	readable  func(context.Context, nodes.ID) error
	most      int

	// mu guards the fields below.
	mu      sync.Mutex
	seen    int
	unknown bool // whether a size is
	amount  Amount
}

// count counts one more file or directory.
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

func (m *measuring) file(ctx context.Context, tree nodes.Tree, j job) error {
	e := j.entry
	if !m.later {
		var err error
		if e, err = nodes.WithSize(ctx, tree, e); err != nil {
			return m.count() // copying it says why it can't be read
		}
	}
	size, unknown := max(e.Size, 0), e.Size == nodes.UnknownSize
	if m.root != nil {
		if info, err := m.root.Lstat(j.path); err == nil {
			if !m.overwrite {
				return m.count()
			}
			size = max(size-info.Size(), 0)
		}
	}
	if j.entry.Kind == nodes.File && m.readable != nil && m.readable(ctx, j.entry.ID) != nil {
		return m.count()
	}
	m.mu.Lock()
	m.amount.Files++
	m.unknown = m.unknown || unknown
	m.amount.Bytes += min(size, math.MaxInt64-m.amount.Bytes)
	m.mu.Unlock()
	return m.count()
}
