package kinds

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"path"
	"path/filepath"

	"lorefs/cmd/internal/pattern"
	"lorefs/nodes"
)

// Pattern compiles a pattern for paths of the tree. It ignores case if the tree does.
func (s *Source) Pattern(text string) (*pattern.Pattern, error) {
	p, err := pattern.Compile(filepath.ToSlash(text), s.Kind.IgnoresCase)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", text, err)
	}
	return p, nil
}

// Glob yields all that a pattern matches, in the order of the tree, by the paths that match.
// Sizes may be unknown. It follows links, but not to find what ** stands for.
func (s *Source) Glob(ctx context.Context, p *pattern.Pattern) iter.Seq2[Found, error] {
	return func(yield func(Found, error) bool) {
		base, err := s.Find(ctx, p.Base())
		switch {
		case errors.Is(err, nodes.ErrNotExist) || errors.Is(err, nodes.ErrNotDir):
			return
		case err != nil:
			yield(base, err)
			return
		case base.Kind != nodes.Dir:
			return
		}
		base.Path = p.Base()
		enter := func(f *Found) bool { return p.Below(f.Path) && (f.Kind == nodes.Dir || p.Spelled(f.Path)) }
		for f, err := range s.Walk(ctx, base, enter) {
			if err == nil {
				if !p.Match(f.Path) {
					continue
				}
				f, err = s.leadsTo(ctx, f)
			}
			if !yield(f, err) || err != nil {
				return
			}
		}
	}
}

// leadsTo returns what a link leads to, by the link's path.
func (s *Source) leadsTo(ctx context.Context, f Found) (Found, error) {
	if f.Kind != nodes.Link {
		return f, nil
	}
	to, err := s.Find(ctx, f.Path)
	to.Path = f.Path
	return to, err
}

// Walk yields everything below a directory, but not the directory itself: each directory before
// its entries, and entries in the order of the tree. Sizes may be unknown. It lists a directory,
// or what a link leads to, if enter wants it. If it can't, it yields an error instead of what is in
// there, and goes on.
func (s *Source) Walk(ctx context.Context, dir Found, enter func(f *Found) bool) iter.Seq2[Found, error] {
	return func(yield func(Found, error) bool) {
		w := walker{s, enter, yield}
		w.below(ctx, &dir)
	}
}

type walker struct {
	source *Source
	enter  func(f *Found) bool
	yield  func(Found, error) bool
}

// below reports whether to go on.
func (w *walker) below(ctx context.Context, dir *Found) bool {
	for e, err := range w.source.Tree.ReadDir(ctx, dir.ID, 0) {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return w.yield(*dir, fmt.Errorf("list %q: %w", "/"+dir.Path, err)) && ctx.Err() == nil
		}
		if e.ModTime.IsZero() {
			e.ModTime = dir.ModTime
		}
		f := Found{Entry: e, Path: path.Join(dir.Path, e.Name)}
		if !w.yield(f, nil) {
			return false
		}
		if e.Kind == nodes.File || !w.enter(&f) {
			continue
		}
		if f, err = w.source.leadsTo(ctx, f); err != nil {
			if !w.yield(f, err) || ctx.Err() != nil {
				return false
			}
			continue
		}
		if f.Kind == nodes.Dir && !w.below(ctx, &f) {
			return false
		}
	}
	return true
}
