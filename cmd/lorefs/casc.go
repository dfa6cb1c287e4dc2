package main

import (
	"context"
	"errors"
	"fmt"
	iofs "io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"lorefs/casc"
	"lorefs/nodes"
	"lorefs/nodes/casctree"
)

const kindCASC = "casc"

// cascStorage is an open CASC storage.
type cascStorage struct {
	path string
	// folder is what path led to when it was opened.
	folder  iofs.FileInfo
	since   time.Time
	storage *casc.Storage
	// tree is nil for one that is only verified.
	tree *casctree.Tree
	// index is nil with --no-cache, and for one that is only verified.
	index *indexStore
}

func cascKind() kind {
	return kind{name: kindCASC, source: "a CASC storage", is: isCASC, open: openCASC, verify: verifyCASC}
}

func isCASC(path string, info iofs.FileInfo) (bool, error) {
	if !info.IsDir() {
		return false, nil
	}
	return casc.Detect(path)
}

func openCASC(ctx context.Context, path string, o opening) (archive, error) {
	c, err := newCASC(path, o, nil, o.flags.store(o.log))
	if err != nil {
		return nil, explainCASC(path, err)
	}
	if err := c.makeTree(ctx, o); err != nil {
		return nil, explainCASC(path, errors.Join(err, c.Close()))
	}
	return c, nil
}

// newCASC opens a storage without its root. names and index may be nil.
func newCASC(path string, o opening, names *casc.ListFile, index *indexStore) (*cascStorage, error) {
	opts, err := o.flags.casc.options()
	if err != nil {
		return nil, err
	}
	c := &cascStorage{path: path, index: index}
	if index != nil {
		opts.Index = index
	}
	if c.folder, err = os.Stat(path); err != nil {
		return nil, err
	}
	opts.Names, opts.Blocks, opts.Logger = names, o.blocks.View(), o.log
	if c.storage, err = casc.OpenPath(path, opts); err != nil {
		return nil, err
	}
	if c.since, err = c.storage.ModTime(); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

func (c *cascStorage) makeTree(ctx context.Context, o opening) error {
	f := &o.flags.casc
	lists, err := f.lists()
	if err != nil {
		return err
	}
	opts := casctree.Options{
		Missing: f.missing == missingShow, ListFiles: lists, Blocks: o.blocks.View(), ModTime: c.since, Logger: o.log,
	}
	if c.index != nil {
		opts.Index = c.index
	}
	c.tree, err = casctree.New(ctx, c.storage, opts)
	return err
}

// explainCASC turns an error of opening into what a user can do about it.
func explainCASC(path string, err error) error {
	if _, ok := errors.AsType[*commandError](err); ok {
		return err
	}
	if _, ok := errors.AsType[*casc.ProductError](err); ok {
		return &commandError{code: exitUsage, err: fmt.Errorf("%s: %w", path, err), hint: "--product says which"}
	}
	if e, ok := errors.AsType[*casc.NoConfigError](err); ok {
		return &commandError{code: exitSource, err: fmt.Errorf("%s: %w", path, err), hint: fmt.Sprintf("--product %s opens another", e.Others[0])}
	}
	if e, ok := errors.AsType[*casc.BuildsError](err); ok && len(e.Builds) > 1 {
		return &commandError{code: exitUsage, err: fmt.Errorf("%s: %w", path, err), hint: "--build says which"}
	}
	if errors.Is(err, context.Canceled) {
		return err
	}
	if pe, ok := errors.AsType[*iofs.PathError](err); ok && pe.Path == path {
		return explainOpen(path, err)
	}
	return &commandError{code: exitSource, err: fmt.Errorf("%s: %w", path, err)}
}

func (c *cascStorage) modTime() time.Time { return c.since }

// check finds a folder that is gone, or in whose place another is. What a game writes
// to its own storage is no change in this sense: the tree lives with it.
func (c *cascStorage) check() error {
	now, err := os.Stat(c.path)
	if err == nil && !os.SameFile(now, c.folder) {
		err = fmt.Errorf("%s: another folder is in its place", c.path)
	}
	if err != nil {
		return &changedError{err}
	}
	return nil
}

// notices tell what has become of the storage while it is mounted, and of the faults
// that the mount lives with.
func (c *cascStorage) notices() (all []string) {
	if _, err := c.storage.Refresh(); err != nil {
		all = append(all, "the storage can't be looked at: "+errorText(err))
	}
	if b, ok := c.storage.NewBuild(); ok {
		all = append(all, fmt.Sprintf("another build is installed now, %s (%v): mount again to see it", b.Version, b.BuildKey))
	}
	problems := c.tree.Problems()
	for _, p := range problems[:min(len(problems), maxNotices)] {
		all = append(all, errorText(p))
	}
	if more := len(problems) - maxNotices; more > 0 {
		all = append(all, fmt.Sprintf("%s more, in casc.json", plural(more, "problem")))
	}
	return all
}

// complete is false if names below a path of the tree are missing.
func (c *cascStorage) complete(name string) bool {
	top, _, _ := strings.Cut(strings.Trim(path.Clean(name), "/"), "/")
	named := slices.ContainsFunc([]string{"", ".", "files", "unnamed"}, func(s string) bool { return strings.EqualFold(s, top) })
	return !named || !slices.ContainsFunc(c.tree.Problems(), func(err error) bool { return errors.Is(err, casc.ErrNoRoot) })
}

// maxNotices bounds the problems of a storage that status tells of.
const maxNotices = 10

func (c *cascStorage) show() ([]nodes.Mount, error) { return wholeRoot(c.tree), nil }

// Close waits until what was found out is saved.
func (c *cascStorage) Close() error {
	c.index.wait()
	return c.storage.Close()
}
