// Package worldkind is the kind of source of a folder of world geometry: world.go opens one, edit.go makes it
// editable, and pack.go makes one of JSON.
package worldkind

import (
	"context"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"iter"
	"os"
	"path/filepath"
	"time"

	"lorefs/cmd/internal/kinds"
	"lorefs/geometry"
	"lorefs/internal/origin"
	"lorefs/internal/source"
	"lorefs/nodes"
	"lorefs/nodes/blockcache"
	"lorefs/nodes/worldtree"
)

// World is an open folder of world geometry.
type World struct {
	kinds.Plain
	// Dir is absolute, and for messages if the folder is on a server.
	Dir   string
	files iofs.StatFS
	since time.Time
	// distant is nil if the folder is on this machine, and pinned unless it is to be read as it is now.
	distant *kinds.DistantFolder
	pinned  *source.Pinned
	Tree    *worldtree.Tree
	// draft has the edits of takeUnsaved; nil if there are none.
	draft *worldtree.Editable
	// blocks is the cache of decoded files.
	blocks *blockcache.Cache
	// index is nil if no index is kept.
	index *kinds.IndexStore
}

// Kind returns the kind of world geometry.
func Kind() *kinds.Kind {
	return &kinds.Kind{
		Name: kinds.WorldName, Noun: "world geometry", Plain: "zones", Editable: true, Strict: true,
		Recognize: isWorld, OpenArchive: openWorld, Findings: verifyWorld, Diff: diffWorlds,
	}
}

// diffWorlds yields the squares and areas in which two worlds differ.
func diffWorlds(ctx context.Context, a, b kinds.Archive) iter.Seq2[kinds.Edit, error] {
	return kinds.EditsOf(worldtree.Diff(ctx, a.(*World).Tree, b.(*World).Tree))
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

func openWorld(ctx context.Context, path string, o kinds.Opening) (kinds.Archive, error) {
	w, err := NewWorld(ctx, path, o, worldtree.Options{})
	if err != nil {
		return nil, kinds.Unreadable(path, err)
	}
	return w, nil
}

// NewWorld opens a folder. opts.Folder chooses its files; NewWorld sets the options that are
// the same for all folders.
func NewWorld(ctx context.Context, path string, o kinds.Opening, opts worldtree.Options) (*World, error) {
	w := &World{blocks: o.Blocks}
	if err := w.find(ctx, path, o.Options); err != nil {
		return nil, err
	}
	opts.ModTime, opts.Folder, opts.Blocks, opts.Logger = w.since, w.Dir+"\x00"+opts.Folder, o.Blocks.View(), o.Logger
	opts.Fetched = w.distant != nil
	if w.distant == nil || w.distant.Settled() { // see StoreFor
		w.index = o.Store()
	}
	if w.index != nil {
		opts.Memory = w.index
	}
	var err error
	if w.Tree, err = worldtree.New(w.files, opts); err != nil {
		return nil, errors.Join(err, w.closeFolder())
	}
	return w, nil
}

// find opens the folder.
func (w *World) find(ctx context.Context, path string, o *kinds.Options) (err error) {
	if origin.IsRemote(path) {
		if w.distant, err = kinds.OpenDistant(ctx, path, o); err != nil {
			return err
		}
		w.Dir, w.files, w.since = w.distant.Path(), kinds.GuardedFS{Folder: w.distant}, w.distant.ModTime()
		return nil
	}
	if w.Dir, err = filepath.Abs(path); err != nil {
		return err
	}
	info, err := os.Stat(w.Dir)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return fmt.Errorf("%s is no folder", path)
	}
	w.since = info.ModTime()
	if o.Pinned {
		if w.pinned, err = source.OpenPinned(w.Dir); err == nil {
			w.files = kinds.GuardedFS{Folder: w.pinned}
		}
		return err
	}
	files, ok := os.DirFS(w.Dir).(iofs.StatFS)
	if !ok {
		panic("kinds: BUG: a folder can't describe its files")
	}
	w.files = files
	return nil
}

func (w *World) closeFolder() error {
	switch {
	case w.distant != nil:
		return w.distant.Close()
	case w.pinned != nil:
		return w.pinned.Close()
	}
	return nil
}

// InPlace implements [kinds.Archive].
func (w *World) InPlace() error {
	if w.pinned == nil {
		return nil
	}
	return kinds.Changed(w.pinned.InPlace())
}

// ModTime returns the modification time of the folder.
func (w *World) ModTime() time.Time { return w.since }

// Check returns an error if a file has changed that was read.
func (w *World) Check() error {
	if w.distant != nil {
		return kinds.Changed(w.distant.Check())
	}
	return w.Tree.Check()
}

// Mounts implements [kinds.Archive].
func (w *World) Mounts() ([]nodes.Mount, error) { return kinds.WholeRoot(w.Shown()), nil }

// Shown returns the tree that is shown.
func (w *World) Shown() nodes.Tree {
	if w.draft != nil {
		return w.draft
	}
	return w.Tree
}

// Close saves the index.
func (w *World) Close() error {
	err := w.Tree.Remember()
	w.index.Wait()
	return errors.Join(err, w.closeFolder())
}

// Servers returns the servers that it is read from.
func (w *World) Servers() []*kinds.Server {
	if w.distant == nil {
		return nil
	}
	return kinds.ServersIn(w.distant)
}

// Fetched returns what was fetched, see [kinds.Source.Remote].
func (w *World) Fetched() *kinds.RemoteStatus {
	if w.distant == nil {
		return nil
	}
	return w.distant.Server.Fetched()
}
