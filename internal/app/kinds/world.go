package kinds

import (
	"context"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"os"
	"path/filepath"
	"time"

	"lorefs/geometry"
	"lorefs/nodes"
	"lorefs/nodes/blockcache"
	"lorefs/nodes/worldtree"
)

// world is an open folder of world geometry.
type world struct {
	plain
	// dir is absolute.
	dir  string
	info iofs.FileInfo
	tree *worldtree.Tree
	// blocks is the cache of decoded files.
	blocks *blockcache.Cache
	// index is nil if no index is kept.
	index *indexStore
}

func worldKind() *Kind {
	return &Kind{
		Name: WorldName, Noun: "world geometry", Plain: "zones", Editable: true, Strict: true,
		is: isWorld, open: openWorld, verify: verifyWorld,
	}
}

// isWorld reports whether a folder has zones or areas.
func isWorld(path string, info iofs.FileInfo) (bool, error) {
	if !info.IsDir() {
		return false, nil
	}
	dir, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer dir.Close()
	const some = 256 // other folders may be large
	for {
		entries, err := dir.ReadDir(some)
		for _, e := range entries {
			if !e.IsDir() && geometry.IsFile(e.Name()) {
				return true, nil
			}
		}
		if errors.Is(err, io.EOF) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
	}
}

func openWorld(_ context.Context, path string, o opening) (archive, error) {
	w, err := newWorld(path, o, worldtree.Options{})
	if err != nil {
		return nil, Unreadable(path, err)
	}
	return w, nil
}

// newWorld opens a folder. opts.Folder chooses its files; newWorld sets the options that are
// the same for all folders.
func newWorld(path string, o opening, opts worldtree.Options) (*world, error) {
	dir, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	w := &world{dir: dir, blocks: o.blocks}
	if w.info, err = os.Stat(dir); err != nil {
		return nil, err
	}
	if !w.info.IsDir() {
		return nil, fmt.Errorf("%s is no folder", path)
	}
	opts.ModTime, opts.Folder, opts.Blocks, opts.Logger = w.info.ModTime(), dir+"\x00"+opts.Folder, o.blocks.View(), o.Logger
	if w.index = o.store(); w.index != nil {
		opts.Memory = w.index
	}
	w.tree, err = worldtree.New(os.DirFS(dir), opts)
	return w, err
}

// ModTime returns the modification time of the folder.
func (w *world) ModTime() time.Time { return w.info.ModTime() }

// Check returns an error if a file has changed that was read.
func (w *world) Check() error { return w.tree.Check() }

func (w *world) mounts() ([]nodes.Mount, error) { return wholeRoot(w.tree), nil }

// Close saves the index.
func (w *world) Close() error {
	err := w.tree.Remember()
	w.index.wait()
	return err
}
