package treecopy

import (
	"context"
	"errors"
	"iter"
	"os"

	"lorefs/nodes"
)

// Filter selects what is copied, by paths below the folder. Its functions are called in parallel.
// The zero value takes everything.
type Filter struct {
	// Dir tells whether to look into a directory. Default: into all.
	Dir func(path string) bool
	// File tells whether to take a file or a link. If it is set, a directory is only made for
	// a file in it. Default: all are taken, and all directories made.
	File func(path string) bool
}

func (f *Filter) enters(dir string) bool { return f.Dir == nil || f.Dir(dir) }
func (f *Filter) takes(file string) bool { return f.File == nil || f.File(file) }

// Foretell counts what [Copy] would do, in the order of the tree, and calls would for each file
// that it would write. It looks for no damage but what Options.Readable knows of. If a size is
// unknown, so is [Report.Bytes]: it is [nodes.UnknownSize] then.
func Foretell(ctx context.Context, o Options, to string, files iter.Seq2[Planned, error], would func(p Planned) error) (r Report, err error) {
	root, err := os.OpenRoot(to)
	switch {
	case err == nil:
		defer root.Close()
	case !os.IsNotExist(err):
		return r, err
	}
	unknown := false
	for p, err := range files {
		if errors.Is(err, context.Canceled) {
			return r, err
		}
		if err != nil { // Copy would go on, too
			r.add(ReasonOf(err))
			continue
		}
		if !o.Filter.takes(p.Path) {
			continue
		}
		if root != nil && !o.Overwrite {
			if _, err := root.Lstat(p.Path); err == nil {
				r.add(Present)
				continue
			}
		}
		if p.Entry.Kind == nodes.File && o.Readable != nil {
			if err := o.Readable(ctx, p.Entry.ID); err != nil {
				r.add(ReasonOf(err))
				continue
			}
		}
		unknown = unknown || p.Entry.Size == nodes.UnknownSize
		r.Files++
		r.Bytes += p.Entry.Size
		if err := would(p); err != nil {
			return r, err
		}
	}
	if unknown {
		r.Bytes = nodes.UnknownSize
	}
	return r, nil
}

// Planned is a file that would be copied.
type Planned struct {
	Path  string
	Entry nodes.Entry
}
