package casckind

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
	"lorefs/casc/config"
	"lorefs/casc/root"
	"lorefs/cmd/internal/kinds"
	"lorefs/cmd/internal/kinds/tablekind"
	"lorefs/internal/origin"
	"lorefs/internal/shown"
	"lorefs/nodes"
	"lorefs/nodes/casctree"
	"lorefs/nodes/tabletree"
)

// cascStorage is an open CASC storage.
type cascStorage struct {
	kinds.Plain
	path string
	// cdn is where the storage comes from if it is not in a folder.
	cdn *cdn
	// folder is the folder at path when it was opened.
	folder  iofs.FileInfo
	since   time.Time
	storage *casc.Storage
	// tree is nil if the storage is only verified.
	tree *casctree.Tree
	// tables is nil unless there are definitions of client tables.
	tables *clientTables
	// lists is how many lists of names it was opened with.
	lists int
	// index is nil if no index is kept, or the storage is only verified.
	index *kinds.IndexStore
}

// Kind returns the kind of CASC storages.
func Kind() *kinds.Kind {
	return &kinds.Kind{
		Name:        kinds.CASCName,
		Noun:        "a CASC storage",
		Plain:       "files",
		IgnoresCase: true,
		Builds:      true,
		Chunks:      true,
		GamePaths:   true,
		Recognize:   isCASC,
		OpenArchive: openCASC,
		Findings:    verifyCASC,
	}
}

// isCASC reports whether a path leads to a storage, or to a file as only storages have.
func isCASC(path string, info iofs.FileInfo) (bool, error) {
	if !info.IsDir() {
		dir, err := casc.EnclosingFile(path)
		return dir != "", err
	}
	return casc.Detect(path)
}

// storageOf returns the folder of the storage that a path is in, or the path.
func storageOf(path string) (string, error) {
	if is, err := casc.Detect(path); err == nil && is {
		return path, nil
	}
	dir, err := casc.Enclosing(path)
	if dir == "" {
		dir = path
	}
	return dir, err
}

func openCASC(ctx context.Context, path string, o kinds.Opening) (kinds.Archive, error) {
	c, err := newCASC(ctx, path, o, nil, o.Store())
	if err != nil {
		return nil, noCASC(path, err)
	}
	if err := c.makeTree(ctx, o); err != nil {
		return nil, noCASC(path, errors.Join(err, c.Close()))
	}
	if c.cdn != nil {
		c.cdn.opened()
	}
	return c, nil
}

// newCASC opens a storage without reading its root. names and index may be nil.
func newCASC(ctx context.Context, path string, o kinds.Opening, names *root.ListFile, index *kinds.IndexStore) (*cascStorage, error) {
	opts := o.CASC.Storage
	c := &cascStorage{path: path, index: index}
	if index != nil {
		opts.Index = index
	}
	opts.Names, opts.Blocks, opts.Logger = names, o.Blocks.View(), o.Logger
	var err error
	if origin.IsRemote(path) {
		err = c.openDistant(ctx, path, o, opts)
	} else {
		err = c.openFolder(opts)
	}
	if err != nil {
		return nil, err
	}
	return c, nil
}

// kinds.OpenDistant opens a storage on the hosts of a CDN, or a mirror on a server.
func (c *cascStorage) openDistant(ctx context.Context, path string, o kinds.Opening, opts casc.Options) (err error) {
	if product, ok := isCDN(path); ok {
		c.cdn, err = openCDN(ctx, product, o)
	} else {
		c.cdn, err = openDistantMirror(ctx, path, o)
	}
	if err != nil {
		return err
	}
	if c.storage, err = c.cdn.storage(ctx, opts); err != nil {
		return errors.Join(err, c.cdn.close())
	}
	c.since = c.cdn.build.Said
	return nil
}

func (c *cascStorage) openFolder(opts casc.Options) (err error) {
	given := c.path
	if c.path, err = storageOf(given); err != nil {
		return err
	}
	opts.BuildFile = casc.BuildFileOf(c.path, given)
	err = c.openStorage(opts)
	if _, several := errors.AsType[*config.BuildsError](err); several {
		// The folder is a game's data folder: the install that it is in says which build.
		if install, _ := casc.Enclosing(c.path); install != "" {
			c.path = install
			err = c.openStorage(opts)
		}
	}
	if err != nil {
		return err
	}
	if c.since, err = c.storage.ModTime(); err != nil {
		return errors.Join(err, c.Close())
	}
	return nil
}

func (c *cascStorage) openStorage(opts casc.Options) (err error) {
	if c.folder, err = os.Stat(c.path); err != nil {
		return err
	}
	c.storage, err = casc.OpenPath(c.path, opts)
	if errors.Is(err, iofs.ErrNotExist) && casc.IsStatic(c.path) {
		return &casc.StaticError{Dir: c.path}
	}
	return err
}

func (c *cascStorage) makeTree(ctx context.Context, o kinds.Opening) error {
	lists, err := listsOf(&o.CASC)
	if err != nil {
		return err
	}
	c.lists = len(lists)
	opts := casctree.Options{
		Missing: o.CASC.ShowMissing, ListFiles: lists, Blocks: o.Blocks.View(), ModTime: c.since, Logger: o.Logger,
	}
	if c.index != nil {
		opts.Index = c.index
	}
	if c.tree, err = casctree.New(ctx, c.storage, opts); err != nil {
		return err
	}
	return c.openTables(ctx, o)
}

// noCASC returns the error of a storage that can't be opened or read.
func noCASC(path string, err error) error {
	if pe, ok := errors.AsType[*iofs.PathError](err); ok && pe.Path == path {
		return kinds.Unreadable(path, err)
	}
	return kinds.At(path, err)
}

func (c *cascStorage) ModTime() time.Time { return c.since }

// Check returns an error if the folder is gone or was replaced. A game may write to its own
// storage while it is mounted: the tree follows such changes.
func (c *cascStorage) Check() error {
	if c.cdn != nil {
		return nil // what has a key never changes
	}
	now, err := os.Stat(c.path)
	if err == nil && !os.SameFile(now, c.folder) {
		err = fmt.Errorf("%s: another folder is in its place", c.path)
	}
	if err != nil {
		return &kinds.ChangedError{Err: err}
	}
	return nil
}

// Notices returns what has happened to the storage since it was mounted, and faults that do
// not keep it from being mounted.
func (c *cascStorage) Notices() (all []string) {
	if _, err := c.storage.Refresh(); err != nil {
		all = append(all, "the storage can't be read: "+shown.Line(err))
	}
	if b, ok := c.storage.NewBuild(); ok {
		all = append(all, fmt.Sprintf("another build is installed now, %s (%v): mount again to see it", b.Version, b.BuildKey))
	}
	if c.cdn != nil {
		all = append(all, c.cdn.notices()...)
	}
	problems := c.tree.Problems()
	for _, p := range problems[:min(len(problems), maxNotices)] {
		all = append(all, shown.Line(p))
	}
	if more := len(problems) - maxNotices; more > 0 {
		all = append(all, fmt.Sprintf("%s more, in casc.json", shown.Plural(more, "problem")))
	}
	return all
}

// Complete reports whether all files below a path of the tree have their names there.
func (c *cascStorage) Complete(name string) bool {
	top, _, _ := strings.Cut(strings.Trim(path.Clean(name), "/"), "/")
	named := slices.ContainsFunc([]string{"", ".", "files", "unnamed"}, func(s string) bool { return strings.EqualFold(s, top) })
	return !named || !slices.ContainsFunc(c.tree.Problems(), func(err error) bool { return errors.Is(err, casc.ErrNoRoot) })
}

// maxNotices is the largest number of problems that Notices returns.
const maxNotices = 10

// Readable returns why a file of the tree can't be read, as far as that is known without reading
// it.
func (c *cascStorage) Readable(ctx context.Context, file nodes.ID) error {
	if tabletree.IsBeside(file) {
		return nil // that is known when it is read
	}
	return c.tree.Readable(ctx, file)
}

// HasZeros reports whether a file of the tree has zeros for blocks whose key is not known.
func (c *cascStorage) HasZeros(ctx context.Context, file nodes.ID) bool {
	names, err := c.tree.Xattrs(ctx, file)
	return err == nil && slices.Contains(names, casctree.XattrPartial)
}

// QuickSizes is more than any storage has files: all sizes are in its tables.
func (c *cascStorage) QuickSizes() int { return 1 << 24 }

// quickFile is how much Linux asks for at first of a file that is read from front to back.
const quickFile = 128 << 10

// QuickFiles is 0 if the files have to be fetched.
func (c *cascStorage) QuickFiles() int64 {
	if c.storage.IsRemote() {
		return 0
	}
	return quickFile
}

func (c *cascStorage) Mounts() ([]nodes.Mount, error) {
	if c.tables != nil {
		return kinds.WholeRoot(tabletree.Beside(c.tree, c.tables.tree)), nil
	}
	return kinds.WholeRoot(c.tree), nil
}

// Close closes the storage, after the indexes are saved.
func (c *cascStorage) Close() error {
	if c.tables != nil {
		c.tables.tree.Keep()
	}
	c.index.Wait()
	if c.tree != nil {
		c.tree.StopAhead()
	}
	err := c.storage.Close()
	if c.cdn != nil {
		err = errors.Join(err, c.cdn.close())
	}
	if c.tables != nil {
		err = errors.Join(err, tablekind.CloseDefinitions(c.tables.definitions))
	}
	return err
}
