// Package treeput puts the files of a folder on the disk into a [nodes.Mutable], as programs do that copy
// them into a mount: it is the way back of package treecopy.
//
// All files are compared before the first is put: a tree may show the same twice, and what was not changed in
// the folder must not undo what was. A file whose content the tree has already is left alone. What the tree refuses is
// told, and the rest is put.
package treeput

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	iofs "io/fs"
	"path"
	"slices"
	"strings"

	"lorefs/nodes"
)

// Options say what is put.
type Options struct {
	// Takes reports whether a file of the folder is put, by its slash-separated path there. What it has not
	// to do with the tree stays out. Nil takes all but hidden files.
	Takes func(file string) bool
	// First reports whether a file is put before the others of its directory. It may be nil.
	First func(file string) bool
	// Removes reports whether a file of the tree is removed that the folder lacks, in a directory that it
	// has. Nil removes none.
	Removes func(file string) bool
	// Done is called after each file that was compared, with how many were. It may be nil.
	Done func(files int64)
}

// Report says what was done, by paths.
type Report struct {
	Changed, Made, Removed []string
	// Same is how many files the tree had already.
	Same int64
	// Fixed has the files that differ in the folder, and that can't be changed in the tree.
	Fixed []string
	// Problems has an error for each file that the tree refused.
	Problems []error
}

// Put puts the files of a folder into a directory of a tree. An error that is none of a single file ends it, and
// with it ctx.
func Put(ctx context.Context, tree nodes.Mutable, dir nodes.ID, from iofs.FS, o Options) (*Report, error) {
	p := &putting{ctx: ctx, tree: tree, from: from, Options: o, report: &Report{}, buf: make([]byte, piece), now: make([]byte, piece), shown: map[put]uint64{}, seed: maphash.MakeSeed()}
	if err := p.dir(dir, "."); err != nil {
		return p.report, err
	}
	return p.report, p.all()
}

// piece is how many bytes are read at once.
const piece = 256 << 10

// putting is a run of Put. buf is for what is read, and now for what the tree has.
type putting struct {
	ctx  context.Context
	tree nodes.Mutable
	from iofs.FS
	Options
	report   *Report
	buf, now []byte
	done     int64
	puts     []put
	removals []put
	// shown has the hash of what the tree shows of each file right after it was put.
	shown map[put]uint64
	seed  maphash.Seed
}

// put is a file that is to be put, or removed. id is 0 if the tree does not have it.
type put struct {
	dir, id nodes.ID
	name    string
}

// dir compares the files of a directory of the folder.
func (p *putting) dir(to nodes.ID, name string) error {
	entries, err := iofs.ReadDir(p.from, name)
	if err != nil {
		return err
	}
	has := map[string]bool{}
	for _, e := range entries {
		if err := p.ctx.Err(); err != nil {
			return err
		}
		file := path.Join(name, e.Name())
		has[e.Name()] = true
		switch {
		case strings.HasPrefix(e.Name(), "."):
		case e.IsDir():
			err = p.enter(to, file)
		case p.Takes == nil || p.Takes(file):
			err = p.problem(file, p.file(to, file))
			if p.done++; p.Done != nil {
				p.Done(p.done)
			}
		}
		if err != nil {
			return err
		}
	}
	if p.Removes == nil {
		return nil
	}
	return p.remove(to, name, has)
}

// rank orders files: those that are put first have the lowest.
func (p *putting) rank(file string) int {
	if p.First != nil && p.First(file) {
		return 0
	}
	return 1
}

// problem notes the error of a file. It returns an error that ends all.
func (p *putting) problem(file string, err error) error {
	switch {
	case p.ctx.Err() != nil:
		return p.ctx.Err()
	case errors.Is(err, nodes.ErrReadOnly):
		p.report.Fixed = append(p.report.Fixed, file)
	case err != nil:
		p.report.Problems = append(p.report.Problems, fmt.Errorf("%s: %w", file, err))
	}
	return nil
}

// enter compares a directory, which is made if something in it is put.
func (p *putting) enter(in nodes.ID, name string) error {
	some, err := p.some(name)
	if err != nil || !some {
		return err
	}
	e, err := p.tree.Lookup(p.ctx, in, path.Base(name))
	if errors.Is(err, nodes.ErrNotExist) {
		e, err = p.tree.Mkdir(p.ctx, in, path.Base(name))
	}
	if err == nil && e.Kind != nodes.Dir {
		err = nodes.ErrNotDir
	}
	if err != nil {
		return p.problem(name, err)
	}
	return p.dir(e.ID, name)
}

// some reports whether something in a directory is put.
func (p *putting) some(dir string) (some bool, err error) {
	err = iofs.WalkDir(p.from, dir, func(file string, e iofs.DirEntry, err error) error {
		hidden := strings.HasPrefix(e.Name(), ".")
		switch {
		case err != nil:
			return err
		case e.IsDir() && hidden:
			return iofs.SkipDir
		case !e.IsDir() && !hidden && (p.Takes == nil || p.Takes(file)):
			some = true
			return iofs.SkipAll
		}
		return nil
	})
	return some, err
}

// file compares a file, and notes it if it is to be put.
func (p *putting) file(in nodes.ID, name string) error {
	e, err := p.tree.Lookup(p.ctx, in, path.Base(name))
	same := false
	if err == nil {
		same, err = p.same(e.ID, name)
	}
	switch {
	case errors.Is(err, nodes.ErrNotExist):
		p.puts = append(p.puts, put{dir: in, name: name})
		return nil
	case same:
		p.report.Same++
	case err == nil:
		p.puts = append(p.puts, put{dir: in, id: e.ID, name: name})
	}
	return err
}

// all puts and removes what is to be.
func (p *putting) all() error {
	slices.SortStableFunc(p.puts, func(a, b put) int { return cmp.Compare(p.rank(a.name), p.rank(b.name)) })
	for _, x := range p.puts {
		if err := p.problem(x.name, p.put(x)); err != nil {
			return err
		}
	}
	if err := p.recheck(); err != nil {
		return err
	}
	for _, x := range p.removals {
		err := p.tree.Remove(p.ctx, x.dir, path.Base(x.name), nodes.File)
		if err == nil {
			p.report.Removed = append(p.report.Removed, x.name)
		}
		if err := p.problem(x.name, err); err != nil {
			return err
		}
	}
	return nil
}

// put puts a file.
func (p *putting) put(x put) error {
	if x.id != 0 {
		err := p.write(x.id, x.name)
		if err == nil {
			p.report.Changed = append(p.report.Changed, x.name)
			p.shown[x], err = p.sum(x.id)
		}
		return err
	}
	e, err := p.tree.Create(p.ctx, x.dir, path.Base(x.name))
	if err == nil {
		err = p.write(e.ID, x.name)
	}
	if err == nil {
		p.report.Made = append(p.report.Made, x.name)
	}
	return err
}

// recheck notes files that another one has changed which was put after them.
func (p *putting) recheck() error {
	for _, x := range p.puts {
		was, ok := p.shown[x]
		if !ok {
			continue
		}
		sum, err := p.sum(x.id)
		if err == nil && sum != was {
			err = errors.New("another file that was put after it shows the same, and has other values")
		}
		if err := p.problem(x.name, err); err != nil {
			return err
		}
	}
	return nil
}

// sum returns a hash of what the tree shows of a file.
func (p *putting) sum(id nodes.ID) (uint64, error) {
	var h maphash.Hash
	h.SetSeed(p.seed)
	for off := int64(0); ; {
		n, err := p.readAt(id, p.now, off)
		_, _ = h.Write(p.now[:n]) // it never fails
		if off += int64(n); err != nil || n < len(p.now) {
			return h.Sum64(), err
		}
	}
}

// same reports whether the tree has the content of a file. It never asks the tree how long its own file is:
// to find that out may take long.
func (p *putting) same(id nodes.ID, name string) (bool, error) {
	f, err := p.from.Open(name)
	if err != nil {
		return false, err
	}
	defer f.Close()
	for off := int64(0); ; {
		n, err := io.ReadFull(f, p.buf)
		last := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
		if err != nil && !last {
			return false, err
		}
		want := p.now[:n]
		if last {
			want = p.now[:n+1] // the tree may have more
		}
		m, err := p.readAt(id, want, off)
		if err != nil || m != n || !bytes.Equal(p.now[:n], p.buf[:n]) {
			return false, err
		}
		if off += int64(n); last {
			return true, nil
		}
	}
}

// readAt reads as much of a file of the tree as there is.
func (p *putting) readAt(id nodes.ID, b []byte, off int64) (n int, err error) {
	for n < len(b) && err == nil {
		var m int
		m, err = p.tree.ReadAt(p.ctx, id, b[n:], off+int64(n))
		n += m
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return n, err
}

// write gives a file of the tree the content of one of the folder.
func (p *putting) write(id nodes.ID, name string) (err error) {
	f, err := p.from.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	w, err := p.tree.OpenWrite(p.ctx, id)
	if err != nil {
		return err
	}
	released := false
	defer func() {
		if !released {
			err = errors.Join(err, w.Release())
		}
	}()
	if err := w.Truncate(p.ctx, 0); err != nil {
		return err
	}
	for off := int64(0); ; {
		n, err := f.Read(p.buf)
		if n > 0 {
			if _, err := w.WriteAt(p.ctx, p.buf[:n], off); err != nil {
				return err
			}
			off += int64(n)
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
	}
	if err := w.Flush(p.ctx); err != nil {
		return err
	}
	released = true
	return w.Release()
}

// remove notes the files of a directory of the tree that the folder lacks.
func (p *putting) remove(dir nodes.ID, name string, has map[string]bool) error {
	for e, err := range p.tree.ReadDir(p.ctx, dir, 0) {
		if err != nil {
			return err
		}
		file := path.Join(name, e.Name)
		if e.Kind == nodes.File && !has[e.Name] && p.Removes(file) {
			p.removals = append(p.removals, put{dir: dir, id: e.ID, name: file})
		}
	}
	return nil
}
