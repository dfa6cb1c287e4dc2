package kinds

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"path"
	"path/filepath"
	"strings"

	"lorefs/cmd/internal/pattern"
	"lorefs/nodes"
)

// Found is an entry of the tree with its path from the root.
type Found struct {
	nodes.Entry
	Path string
	By   By
}

// By says what has found an entry.
type By uint8

const (
	// ByPath means that the user named it.
	ByPath By = iota
	// ByQuery means that a query describes it.
	ByQuery
	// ByPattern means that a pattern matches it.
	ByPattern
)

// maxLinks is how many links are followed on the way to one entry.
const maxLinks = 40

// Find returns the entry at a path in the tree, with its size; "/" is the root. It follows
// links. On Windows a backslash separates names, unless it is part of one. In CASC storages one
// always does, and paths may be those of the game, which begin below files/.
func (s *Source) Find(ctx context.Context, name string) (Found, error) {
	f, err := s.findSpelled(ctx, name)
	slashed := filepath.ToSlash(name)
	ways := []string{slashed}
	if s.Kind.GamePaths {
		slashed = strings.ReplaceAll(name, `\`, "/")
		ways = []string{slashed, path.Join(s.Kind.Plain, slashed)}
	}
	for _, way := range ways {
		if !errors.Is(err, nodes.ErrNotExist) {
			break
		}
		if way == name {
			continue
		}
		if other, otherErr := s.findSpelled(ctx, way); !errors.Is(otherErr, nodes.ErrNotExist) {
			return other, otherErr
		}
	}
	return f, err
}

func (s *Source) findSpelled(ctx context.Context, name string) (f Found, err error) {
	f.Path = strings.TrimPrefix(path.Clean("/"+name), "/")
	for range maxLinks {
		var next string
		if f.Entry, next, err = s.find(ctx, f.Path); err != nil {
			return f, fmt.Errorf("%s: %w", name, err)
		}
		if next == "" {
			f.Entry, err = nodes.WithSize(ctx, s.Tree, f.Entry)
			return f, err
		}
		f.Path = next
	}
	return f, fmt.Errorf("%s: more than %d links", name, maxLinks)
}

// find returns the entry at a path or, if there is a link on the way, the path to which that
// leads.
func (s *Source) find(ctx context.Context, at string) (e nodes.Entry, next string, err error) {
	e = nodes.Entry{Name: "/", ID: nodes.Root, Kind: nodes.Dir, ModTime: s.ModTime()}
	for done, rest := 0, at; rest != ""; {
		if e.Kind != nodes.Dir { // the tree's error would name it by a number
			return e, "", nodes.ErrNotDir
		}
		var part string
		part, rest, _ = strings.Cut(rest, "/")
		next, err := s.Tree.Lookup(ctx, e.ID, part)
		if errors.Is(err, nodes.ErrNotExist) {
			return e, "", s.missing(ctx, e.ID, strings.TrimSuffix(at[:done], "/"), part)
		}
		if err != nil {
			return e, "", err
		}
		if next.ModTime.IsZero() {
			next.ModTime = e.ModTime
		}
		if next.Kind == nodes.Link {
			target, err := nodes.Readlink(ctx, s.Tree, next.ID)
			return e, path.Join(at[:done], target, rest), err
		}
		e = next
		done += len(part) + 1
	}
	return e, "", nil
}

// NoMatchError means that a query finds nothing.
type NoMatchError struct {
	Expr string
	// Unknown are the names in the query that the data center doesn't have, and Names all those
	// that it has.
	Unknown, Names []string
}

func (e *NoMatchError) Error() string {
	return e.Expr + ": there is no such path, and as a query it finds nothing"
}

// FindAll yields the entry at a path. If there is none, it takes the path for a query if it begins
// with / and the source is a data center, else for a pattern if it has characters of one, and
// yields all that is found. Sizes may be unknown. An error comes last: a [NoMatchError] if a query
// finds nothing. The source must not be edited, because queries are answered by its file.
func (s *Source) FindAll(ctx context.Context, name string) iter.Seq2[Found, error] {
	return func(yield func(Found, error) bool) {
		f, err := s.Find(ctx, name)
		d, ok := s.Archive.(queried)
		switch {
		case !errors.Is(err, nodes.ErrNotExist):
			yield(f, err)
		case ok && strings.HasPrefix(name, "/"):
			d.Query(ctx, s, name, yield)
		case pattern.Is(name):
			s.match(ctx, name, yield)
		default:
			yield(f, err)
		}
	}
}

// match yields what a pattern matches.
func (s *Source) match(ctx context.Context, name string, yield func(Found, error) bool) {
	p, err := s.Pattern(name)
	if err != nil {
		yield(Found{}, err)
		return
	}
	found := false
	for f, err := range s.Glob(ctx, p) {
		found, f.By = true, ByPattern
		if !yield(f, err) {
			return
		}
	}
	if !found {
		yield(Found{}, fmt.Errorf("%s: %w", name, ErrNoMatch))
	}
}

// ErrNoMatch means that a pattern matches nothing.
var ErrNoMatch = nodes.Mark(errors.New("there is no such path, and as a pattern it matches nothing"), nodes.ErrNotExist)

// queried is an archive that answers queries.
type queried interface {
	// Query yields what a query finds in the source, which is the archive's.
	Query(ctx context.Context, s *Source, name string, yield func(Found, error) bool)
}
