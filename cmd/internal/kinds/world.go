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
	"lorefs/internal/origin"
	"lorefs/internal/source"
	"lorefs/nodes"
	"lorefs/nodes/blockcache"
	"lorefs/nodes/worldtree"
)

// world is an open folder of world geometry.
type world struct {
	plain
	// dir is absolute, and for messages if the folder is on a server.
	dir   string
	files iofs.StatFS
	since time.Time
	// distant is nil if the folder is on this machine, and held unless it is to be read as it is now.
	distant *distantFolder
	held    *source.Held
	tree    *worldtree.Tree
	// draft has the edits of takeUnsaved; nil if there are none.
	draft *worldtree.Editable
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

func openWorld(ctx context.Context, path string, o opening) (archive, error) {
	w, err := newWorld(ctx, path, o, worldtree.Options{})
	if err != nil {
		return nil, Unreadable(path, err)
	}
	return w, nil
}

// newWorld opens a folder. opts.Folder chooses its files; newWorld sets the options that are
// the same for all folders.
func newWorld(ctx context.Context, path string, o opening, opts worldtree.Options) (*world, error) {
	w := &world{blocks: o.blocks}
	if err := w.find(ctx, path, o.Options); err != nil {
		return nil, err
	}
	opts.ModTime, opts.Folder, opts.Blocks, opts.Logger = w.since, w.dir+"\x00"+opts.Folder, o.blocks.View(), o.Logger
	opts.Fetched = w.distant != nil
	if w.distant == nil || w.distant.Settled() { // see storeFor
		w.index = o.store()
	}
	if w.index != nil {
		opts.Memory = w.index
	}
	var err error
	if w.tree, err = worldtree.New(w.files, opts); err != nil {
		return nil, errors.Join(err, w.closeFolder())
	}
	return w, nil
}

// find opens the folder.
func (w *world) find(ctx context.Context, path string, o *Options) (err error) {
	if origin.IsRemote(path) {
		if w.distant, err = openDistant(ctx, path, o); err != nil {
			return err
		}
		w.dir, w.files, w.since = w.distant.Path(), guardedFS{w.distant}, w.distant.ModTime()
		return nil
	}
	if w.dir, err = filepath.Abs(path); err != nil {
		return err
	}
	info, err := os.Stat(w.dir)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return fmt.Errorf("%s is no folder", path)
	}
	w.since = info.ModTime()
	if o.Held {
		if w.held, err = source.OpenHeld(w.dir); err == nil {
			w.files = guardedFS{w.held}
		}
		return err
	}
	files, ok := os.DirFS(w.dir).(iofs.StatFS)
	if !ok {
		panic("kinds: BUG: a folder can't describe its files")
	}
	w.files = files
	return nil
}

func (w *world) closeFolder() error {
	switch {
	case w.distant != nil:
		return w.distant.Close()
	case w.held != nil:
		return w.held.Close()
	}
	return nil
}

// inPlace implements archive.
func (w *world) inPlace() error {
	if w.held == nil {
		return nil
	}
	return changed(w.held.InPlace())
}

// ModTime returns the modification time of the folder.
func (w *world) ModTime() time.Time { return w.since }

// Check returns an error if a file has changed that was read.
func (w *world) Check() error {
	if w.distant != nil {
		return changed(w.distant.Check())
	}
	return w.tree.Check()
}

func (w *world) mounts() ([]nodes.Mount, error) { return wholeRoot(w.shown()), nil }

// shown returns the tree that is shown.
func (w *world) shown() nodes.Tree {
	if w.draft != nil {
		return w.draft
	}
	return w.tree
}

// Close saves the index.
func (w *world) Close() error {
	err := w.tree.Remember()
	w.index.wait()
	return errors.Join(err, w.closeFolder())
}
