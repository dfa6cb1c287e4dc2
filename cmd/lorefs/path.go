package main

import (
	"context"
	"fmt"
	"log/slog"
	"path"
	"strings"

	"lorefs/nodes"
)

// openShown is openSource with a bar on the terminal.
func openShown(ctx context.Context, name string, f *sourceFlags, log *slog.Logger) (*opened, error) {
	p := newProgress("inflating")
	defer p.finish()
	return openSource(ctx, name, f, log, p.set)
}

// find resolves a path as a mount would show it, and its size; "/" is the root.
func (s *opened) find(ctx context.Context, name string) (nodes.Entry, error) {
	e := nodes.Entry{Name: "/", ID: nodes.Root, Kind: nodes.Dir, ModTime: s.modTime()}
	for part := range strings.SplitSeq(strings.TrimPrefix(path.Clean("/"+name), "/"), "/") {
		if part == "" {
			continue
		}
		if e.Kind != nodes.Dir { // the tree would call it by a number
			return e, fmt.Errorf("%s: %w", name, nodes.ErrNotDir)
		}
		next, err := s.tree.Lookup(ctx, e.ID, part)
		if err != nil {
			return e, fmt.Errorf("%s: %w", name, err)
		}
		if next.ModTime.IsZero() {
			next.ModTime = e.ModTime
		}
		e = next
	}
	return nodes.WithSize(ctx, s.tree, e)
}
