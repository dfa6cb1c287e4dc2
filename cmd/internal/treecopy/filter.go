package treecopy

import (
	"context"
	"errors"
	"io"
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
	f := foretelling{o: o, r: &r}
	for _, open := range []struct {
		dir  string
		root **os.Root
	}{{to, &f.root}, {o.Since, &f.old}} {
		if open.dir == "" {
			continue
		}
		root, err := os.OpenRoot(open.dir)
		switch {
		case err == nil:
			defer root.Close()
			*open.root = root
		case !os.IsNotExist(err):
			return r, err
		}
	}
	if o.Update {
		f.old = f.root
	}
	unknown := false
	for p, err := range files {
		if errors.Is(err, context.Canceled) {
			return r, err
		}
		if !f.writes(ctx, &p, err) {
			continue
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

// foretelling counts what would not be written. Each of its folders is nil if it does not exist.
type foretelling struct {
	o         Options
	root, old *os.Root
	r         *Report
}

// writes reports whether a file would be written. err is that of finding it.
func (f *foretelling) writes(ctx context.Context, p *Planned, err error) bool {
	if err != nil { // Copy would go on, too
		f.r.add(ReasonOf(err))
		return false
	}
	if !f.o.Filter.takes(p.Path) {
		return false
	}
	if f.o.Seen != nil {
		f.o.Seen(p.Path)
	}
	if f.old != nil && f.o.unchanged(ctx, f.old, p) {
		f.r.Same++
		return false
	}
	if f.root != nil && !f.o.Overwrite && !f.o.Update {
		if _, err := f.root.Lstat(p.Path); err == nil {
			f.r.add(Present)
			return false
		}
	}
	if p.Entry.Kind == nodes.File && f.o.Readable != nil {
		if err := f.o.Readable(ctx, p.Entry.ID); err != nil {
			f.r.add(ReasonOf(err))
			return false
		}
	}
	return true
}

// Planned is a file that would be copied.
type Planned struct {
	Path  string
	Entry nodes.Entry
	// Content writes the content of a file, or the target of a link. It is needed for Options.Update and Since.
	Content func(w io.Writer) error
}
