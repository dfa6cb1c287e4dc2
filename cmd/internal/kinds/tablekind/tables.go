// Package tablekind is the kind of source of client tables of World of Warcraft: a folder of .dbc and
// .db2 files, such as a server has, or one of them.
package tablekind

import (
	"context"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"log/slog"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"lorefs/casc/db2"
	"lorefs/casc/db2/dbd"
	"lorefs/cmd/internal/kinds"
	"lorefs/internal/origin"
	"lorefs/internal/source"
	"lorefs/nodes"
	"lorefs/nodes/tabletree"
)

// Kind returns the kind of client tables.
func Kind() *kinds.Kind {
	return &kinds.Kind{
		Name:        kinds.TablesName,
		Noun:        "client tables of World of Warcraft",
		Exports:     tabletree.Folder,
		Strict:      true,
		Recognize:   isTables,
		OpenArchive: openTables,
		Diff:        diffTables,
		Findings:    verifyTables,
	}
}

// ends are how the names of tables end.
var ends = []string{".dbc", ".db2"}

// TableName returns the name of a table by that of its file, and false for other files.
func TableName(file string) (string, bool) {
	end := path.Ext(file)
	return strings.TrimSuffix(file, end), len(end) < len(file) && slices.Contains(ends, strings.ToLower(end))
}

// IsName reports whether a file may be a table by its name.
func IsName(file string) bool {
	_, ok := TableName(file)
	return ok
}

// IsTable reports whether a file begins as a table does.
func IsTable(f io.ReaderAt) bool {
	head := make([]byte, 4)
	_, err := io.ReadFull(io.NewSectionReader(f, 0, int64(len(head))), head)
	return err == nil && db2.IsMagic(head)
}

// isTables reports whether a file is a table, or a folder has one.
func isTables(name string, info iofs.FileInfo) (bool, error) {
	if !info.IsDir() {
		return info.Mode().IsRegular() && isTable(os.DirFS(filepath.Dir(name)), filepath.Base(name)), nil
	}
	folder, err := source.OpenFolder(name)
	if err != nil {
		return false, err
	}
	entries, err := iofs.ReadDir(folder, ".")
	return slices.ContainsFunc(entries, func(e iofs.DirEntry) bool {
		return IsName(e.Name()) && isTable(folder, e.Name())
	}), err
}

// isTable reports whether a file in a folder begins as a table does.
func isTable(in iofs.FS, name string) bool {
	f, err := in.Open(name)
	if err != nil {
		return false // what can't be read is no table for us
	}
	defer f.Close()
	r, ok := f.(io.ReaderAt)
	return ok && IsTable(r)
}

// tables is an open table, or an open folder of them.
type tables struct {
	kinds.Plain
	// file is nil for a folder, and folder for a file. definitions is nil if there are none.
	file                kinds.Original
	folder, definitions kinds.Folder

	list []tabletree.Table
	// path names the source, with all that it is a part of. index is nil if no sizes are kept.
	path    string
	index   *kinds.IndexStore
	lib     *dbd.Library
	options tabletree.Options
	tree    *tabletree.Tree
}

func openTables(ctx context.Context, name string, o kinds.Opening) (kinds.Archive, error) {
	t, err := newTables(ctx, name, o)
	if err != nil {
		return nil, kinds.Unreadable(name, err)
	}
	return t, nil
}

func newTables(ctx context.Context, name string, o kinds.Opening) (*tables, error) {
	t := &tables{}
	var err error
	t.options = Reading(&o.Tables)
	t.options.Check = t.Check
	t.options.Unnamed = Telling(o.Logger)
	if o.Tables.Definitions != "" {
		if t.definitions, t.lib, err = OpenDefinitions(ctx, o.Tables.Definitions, o.Options); err != nil {
			return nil, err
		}
		t.options.Library = t.lib
	}
	if err = t.open(ctx, name, o.Options); err != nil {
		return nil, errors.Join(err, t.Close())
	}
	if t.index != nil {
		t.options.Index, t.options.Source, t.options.Logger = t.index, t.path, o.Logger
	}
	t.tree = tabletree.New(t.list, t.options)
	return t, nil
}

// Telling returns a function that tells of a table without a definition.
func Telling(log *slog.Logger) func(table string, why error) {
	return func(table string, why error) {
		log.Warn("a table has numbers in place of names of columns, and so have others like it", "table", table, "err", why)
	}
}

// Reading returns how tables are read.
func Reading(o *kinds.TableOptions) tabletree.Options {
	return tabletree.Options{Build: o.Build, Underscores: o.Underscores, Locale: db2.LocalePlace(o.Locale)}
}

// OpenDefinitions opens a folder of definitions. A setting may name a folder that is meant for packets:
// then lib is nil.
func OpenDefinitions(ctx context.Context, dir string, o *kinds.Options) (in kinds.Folder, lib *dbd.Library, err error) {
	if in, err = openFolder(ctx, dir, o); err != nil {
		return nil, nil, kinds.Unreadable(dir, err)
	}
	lib, err = dbd.OpenLibrary(kinds.GuardedFS{Folder: in})
	if errors.Is(err, dbd.ErrNone) && !o.Tables.Asked {
		o.Logger.Info("the definitions are not used", "folder", origin.Shown(dir), "err", err)
		return nil, nil, CloseDefinitions(in)
	}
	if err != nil {
		return nil, nil, errors.Join(kinds.At(dir, err), CloseDefinitions(in))
	}
	return in, lib, nil
}

func openFolder(ctx context.Context, dir string, o *kinds.Options) (kinds.Folder, error) {
	if !origin.IsRemote(dir) {
		return source.OpenFolder(dir)
	}
	d, err := kinds.OpenDistant(ctx, dir, o)
	if err != nil {
		return nil, err // and no interface of a nil pointer
	}
	return d, nil
}

// CloseDefinitions closes a folder, which may be nil. One on this machine needs no closing.
func CloseDefinitions(in kinds.Folder) error {
	if d, ok := in.(*kinds.DistantFolder); ok {
		return d.Close()
	}
	return nil
}

// open lists the tables of the source.
func (t *tables) open(ctx context.Context, name string, o *kinds.Options) error {
	isFolder, err := kinds.IsFolder(ctx, name, o)
	if err != nil {
		return err
	}
	if !isFolder {
		if t.file, err = kinds.OpenOriginal(ctx, name, o); err != nil {
			return err
		}
		t.options.ModTime, t.options.SourceSize = t.file.ModTime(), t.file.Size()
		t.path, t.index = t.file.Path(), o.StoreFor(t.file)
		base := path.Base(filepath.ToSlash(t.file.Path()))
		t.add(base, t.file.ModTime(), t.file.Size(), func(context.Context) ([]byte, error) { return readFile(t.file) })
		return nil
	}
	if t.folder, err = openFolder(ctx, name, o); err != nil {
		return err
	}
	if d, ok := t.folder.(*kinds.DistantFolder); !ok || d.Settled() { // see StoreFor
		t.index = o.Store()
	}
	if t.path = name; !origin.IsRemote(name) {
		if t.path, err = filepath.Abs(name); err != nil {
			return err
		}
	}
	if info, err := t.folder.Stat("."); err == nil {
		t.options.ModTime = info.ModTime()
	}
	entries, err := iofs.ReadDir(kinds.GuardedFS{Folder: t.folder}, ".")
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !IsName(e.Name()) || e.IsDir() {
			continue
		}
		info, err := t.folder.Stat(e.Name())
		if err != nil {
			return err
		}
		t.options.SourceSize += info.Size()
		t.add(e.Name(), info.ModTime(), info.Size(), func(context.Context) ([]byte, error) {
			return iofs.ReadFile(kinds.GuardedFS{Folder: t.folder}, e.Name())
		})
	}
	return nil
}

// readFile reads a whole file.
func readFile(f kinds.Original) ([]byte, error) {
	if f.Size() > db2.MaxSize {
		return nil, fmt.Errorf("%d bytes, more than the %d that a table may have", f.Size(), db2.MaxSize)
	}
	data := make([]byte, f.Size())
	_, err := io.ReadFull(io.NewSectionReader(kinds.Guarded{File: f}, 0, f.Size()), data)
	return data, err
}

// add adds a table. A file whose name is a number has the name that the manifest gives that number.
// If two files have tables of one name, the names of the files tell them apart.
func (t *tables) add(file string, modTime time.Time, size int64, read func(context.Context) ([]byte, error)) {
	one := tabletree.Table{File: file, ModTime: modTime, Read: read}
	one.Key = func() string { return fmt.Sprintf("%s %s %d %d", t.path, file, size, modTime.UnixNano()) }
	one.Name, _ = TableName(file)
	if t.lib != nil {
		if id, err := strconv.ParseUint(one.Name, 10, 32); err == nil && t.lib.NameOfFile(uint32(id)) != "" {
			one.FileID, one.Name = uint32(id), t.lib.NameOfFile(uint32(id))
		}
		one.Name = t.lib.Name(one.Name)
	}
	if slices.ContainsFunc(t.list, func(other tabletree.Table) bool { return strings.EqualFold(other.Name, one.Name) }) {
		one.Name = file
	}
	t.list = append(t.list, one)
}

// ModTime implements [kinds.Archive].
func (t *tables) ModTime() time.Time { return t.options.ModTime }

// Check implements [kinds.Archive].
func (t *tables) Check() error {
	if t.file != nil {
		if err := t.file.Check(); err != nil {
			return kinds.Changed(err)
		}
	}
	for _, in := range []kinds.Folder{t.folder, t.definitions} {
		if in != nil {
			if err := in.Check(); err != nil {
				return kinds.Changed(err)
			}
		}
	}
	return nil
}

// Mounts implements [kinds.Archive].
func (t *tables) Mounts() ([]nodes.Mount, error) { return kinds.WholeRoot(t.tree), nil }

// Close implements [kinds.Archive].
func (t *tables) Close() error {
	if t.tree != nil {
		t.tree.Keep()
	}
	t.index.Wait()
	err := errors.Join(CloseDefinitions(t.folder), CloseDefinitions(t.definitions))
	if t.file != nil {
		err = errors.Join(err, t.file.Close())
	}
	return err
}
