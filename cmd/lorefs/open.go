package main

import (
	"context"
	"errors"
	"log/slog"

	"lorefs/nodes"
	"lorefs/nodes/blockcache"
)

// cache holds what was decoded of a source.
type cache = blockcache.Cache

// opened is a source that can be looked into.
type opened struct {
	archive
	kind    string
	exports string
	blocks  *cache
	tree    nodes.Tree
	views   []view

	// editors are those of what is being edited, none in a read-only mount.
	editors []sourceEditor
}

// complete is an error if names of the source are missing below a path, which was said
// in the log: that what is there could be done is not all that was asked for.
func (s *opened) complete(path string) error {
	if a, ok := s.archive.(interface{ complete(path string) bool }); ok && !a.complete(path) {
		return &commandError{code: exitFailure}
	}
	return nil
}

// quickSizes is of how many files the sizes are found out in no time. Pictures, meshes and
// packets have to be made for that, and all of tree/ has millions of files.
func (s *opened) quickSizes() int {
	const manifest, sheets = 1 << 24, 1 << 17 // there are at most 2^16 sheets, and as many schemas
	if s.kind == kindCASC {
		return manifest
	}
	if d, is := s.archive.(*dataCenter); is && d.world == nil {
		return sheets
	}
	return 0
}

// view is one directory in the root of the tree, or without a name all of it.
type view struct {
	Name  string `json:"name"`
	Nodes int64  `json:"nodes"`
}

// openSource turns a path into a tree. show is told how far the first pass over
// the source is.
func openSource(ctx context.Context, path string, f *sourceFlags, log *slog.Logger, show func(done, total int64)) (*opened, error) {
	if err := f.check(); err != nil {
		return nil, err
	}
	k, err := f.kindOf(path)
	if err != nil {
		return nil, err
	}
	s := &opened{kind: k.name, exports: k.exports, blocks: blockcache.New(int64(f.cacheSize))}
	s.archive, err = k.open(ctx, path, opening{flags: f, blocks: s.blocks, log: log, progress: show})
	if err != nil {
		return nil, err
	}
	mounts, err := s.show()
	if err == nil {
		err = s.mux(mounts)
	}
	if err != nil {
		return nil, errors.Join(&commandError{code: exitSource, err: err}, s.Close())
	}
	return s, nil
}

// mux puts all views of the source under one root. A view without a name is the
// root itself.
func (s *opened) mux(mounts []nodes.Mount) error {
	if len(mounts) == 1 && mounts[0].Name == "" {
		s.tree = mounts[0].Tree
		s.views = []view{{Nodes: s.tree.Usage().Nodes}}
		return nil
	}
	s.views = nil
	for _, m := range mounts {
		if m.Tree != nil {
			s.views = append(s.views, view{Name: m.Name, Nodes: m.Tree.Usage().Nodes})
		}
	}
	var err error
	s.tree, err = nodes.NewMux(s.modTime(), mounts)
	return err
}

// Close gives the source back.
func (s *opened) Close() error {
	return errors.Join(closeEditors(s.editors), s.archive.Close())
}
