package kinds

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"path"
	"strings"

	"lorefs/nodes"
	"lorefs/nodes/worldtree"
)

// Edits implements Session.
func (s *worldSession) Edits(ctx context.Context) iter.Seq2[Edit, error] {
	return func(yield func(Edit, error) bool) {
		for d, err := range s.tree.Edits(ctx) {
			if !yield(s.inMount(d), err) {
				return
			}
		}
	}
}

// WritePatch implements Session.
func (s *worldSession) WritePatch(context.Context, io.Writer) error { return ErrNoPatch }

// inMount gives an edit the path that it has in the mount.
func (s *worldSession) inMount(d worldtree.Edit) Edit {
	d.Path = s.at + d.Path
	return d
}

// Open implements Session.
func (s *worldSession) Open() []string { return s.openIn() }

func (s *worldSession) openIn(ids ...nodes.ID) []string { return s.allIn(s.tree.Unflushed(ids...)) }

// allIn puts the directory of the mount before paths.
func (s *worldSession) allIn(paths []string) []string {
	for i := range paths {
		paths[i] = s.at + paths[i]
	}
	return paths
}

// Revert implements Session. A path leads to one square, zone or area, or to a directory, so all
// does not matter.
func (s *worldSession) Revert(ctx context.Context, paths []string, _ bool) (r Reverted, err error) {
	var ids []nodes.ID
	for _, path := range paths {
		id, err := s.find(ctx, path)
		edited := false
		if err == nil {
			edited, err = s.isEdited(ctx, id)
		}
		switch {
		case err != nil:
			return r, fmt.Errorf("%s: %w", path, err)
		case !edited:
			return r, &NoEditError{path}
		}
		ids = append(ids, id)
	}
	taken, err := s.tree.Revert(ctx, ids...)
	for _, d := range taken {
		r.Edits = append(r.Edits, s.inMount(d))
	}
	r.Texts = s.allIn(s.tree.TakeBack(ids...))
	r.Open = s.openIn(ids...)
	return r, errors.Join(err, s.files.Sync())
}

// EditsAt implements Session.
func (s *worldSession) EditsAt(ctx context.Context, paths []string, _ func(path string) bool) (list []Edit, err error) {
	var ids []nodes.ID
	for _, path := range paths {
		id, err := s.find(ctx, path)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		ids = append(ids, id)
	}
	for d, err := range s.tree.Edits(ctx, ids...) {
		if err != nil {
			return list, err
		}
		list = append(list, s.inMount(d))
	}
	for _, path := range s.openIn(ids...) {
		list = append(list, newOpenFile(path))
	}
	return list, nil
}

// find finds the node at a path in the mount.
func (s *worldSession) find(ctx context.Context, name string) (nodes.ID, error) {
	id := nodes.Root
	for part := range strings.SplitSeq(strings.TrimPrefix(path.Clean(name)+"/", s.at), "/") {
		if part == "" || part == "." {
			continue
		}
		e, err := s.tree.Lookup(ctx, id, part)
		if err != nil {
			return 0, err
		}
		id = e.ID
	}
	return id, nil
}

// isEdited reports whether something is at a node that Revert can take back or, as it is being
// written, has to tell of.
func (s *worldSession) isEdited(ctx context.Context, id nodes.ID) (bool, error) {
	for _, err := range s.tree.Edits(ctx, id) {
		return true, err
	}
	return len(s.tree.Refused(id))+len(s.tree.Unflushed(id)) > 0, nil
}

// Discard implements Session.
func (s *worldSession) Discard() error {
	s.tree.TakeBack()
	return s.files.Discard()
}
