package tabletree

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"strconv"
	"time"

	"lorefs/casc/db2"
	"lorefs/casc/db2/dbd"
	"lorefs/internal/cache"
	"lorefs/nodes"
)

// Table is a table that a source has.
type Table struct {
	// Name names the table and what is shown of it. It is unique, also without case.
	Name string
	// File is what the source calls its file, and FileID the number of that, if it has one.
	File   string
	FileID uint32
	// ModTime is the time of the file, if it has one.
	ModTime time.Time
	// Key returns a text that only files of one content have. It is nil, or returns nothing, if the
	// source can't tell before a file is read.
	Key func() string
	// Read reads the file. Nobody changes what it returns.
	Read func(ctx context.Context) ([]byte, error)
}

// Options are the options of New.
type Options struct {
	// ModTime is the time of the directories, and of tables without a time.
	ModTime time.Time
	// SourceSize is the size of all tables in bytes, for statfs(2).
	SourceSize int64
	// Check returns an error if the source has changed since it was opened. It is called before
	// anything is read. Default: no check.
	Check func() error

	// Library has the definitions. Default: none.
	Library *dbd.Library
	// Build is the version of the game, for tables that don't say which columns they have.
	Build dbd.Build
	// Underscores has Name_0 in CSV for the first value of an array, in place of Name[0].
	Underscores bool
	// Locale is as in [db2.Options].
	Locale int
	// Unnamed is called once a table is read without a definition, with the reason. Default: nothing.
	Unnamed func(table string, why error)
	// Memory is for tables that stay in memory, in bytes. Default: 64 MiB.
	Memory int64

	// Index, if it is not nil, keeps the sizes of files for the next run, by Source, which names the
	// source. Secrets is another text if other keys are known, so that other rows can be read.
	Index           cache.Store
	Source, Secrets string
	// Logger is told if what is kept is damaged. Default: nobody.
	Logger *slog.Logger
}

const defaultMemory = 64 << 20

// Tree is tables as a tree. It is safe for parallel use.
type Tree struct {
	tables []Table
	places map[string]int
	opts   Options

	opened opened
	lines  lines
	kept   kept
	list   list
}

var (
	_ nodes.Tree     = (*Tree)(nil)
	_ nodes.Streamer = (*Tree)(nil)
)

// The names in the tree.
const (
	// Folder is the directory of the tables.
	Folder = "tables"
	// ListName is the file that says what is known of them.
	ListName = "tables.json"

	csvEnd   = ".csv"
	linesEnd = ".jsonl"
)

// An ID is a kind of node above bit 32, and below it the place of a table. Kind 0 is for single nodes.
const (
	folderID = nodes.ID(2)
	listID   = nodes.ID(3)

	kindShift = 32
	kindCSV   = 1
	kindLines = 2
)

func makeID(kind, i int) nodes.ID { return nodes.ID(kind)<<kindShift | nodes.ID(uint32(i)) }

// table returns the place of the table whose rows a node has, and how they are written.
func (t *Tree) table(id nodes.ID) (i int, form db2.Form, ok bool) {
	i = int(uint32(id))
	switch id >> kindShift {
	case kindCSV:
		form = db2.CSV
		if t.opts.Underscores {
			form = db2.CSVUnderscores
		}
	case kindLines:
		form = db2.JSONLines
	default:
		return 0, 0, false
	}
	return i, form, i >= 0 && i < len(t.tables)
}

// New makes the tree of tables.
func New(tables []Table, opts Options) *Tree {
	if opts.Check == nil {
		opts.Check = func() error { return nil }
	}
	if opts.Unnamed == nil {
		opts.Unnamed = func(string, error) {}
	}
	if opts.Memory == 0 {
		opts.Memory = defaultMemory
	}
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	t := &Tree{tables: tables, places: map[string]int{}, opts: opts}
	t.opened.init(opts.Memory)
	for i := range tables {
		t.places[tables[i].Name] = i
	}
	return t
}

// Usage implements [nodes.Tree].
func (t *Tree) Usage() nodes.Usage {
	return nodes.Usage{Bytes: t.opts.SourceSize, Nodes: 3 + 2*int64(len(t.tables))}
}

// check is called first by every method.
func (t *Tree) check(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return t.opts.Check()
}

func isDir(id nodes.ID) bool { return id == nodes.Root || id == folderID }

// Attr implements [nodes.Tree].
func (t *Tree) Attr(ctx context.Context, id nodes.ID) (nodes.Attr, error) {
	if err := t.check(ctx); err != nil {
		return nodes.Attr{}, err
	}
	attr := nodes.Attr{Kind: nodes.Dir, ModTime: t.opts.ModTime}
	if isDir(id) {
		return attr, nil
	}
	e, err := t.entry(id)
	if err != nil {
		return nodes.Attr{}, err
	}
	if !e.ModTime.IsZero() {
		attr.ModTime = e.ModTime
	}
	attr.Kind = nodes.File
	attr.Size, err = t.size(ctx, id)
	return attr, err
}

// size returns the size of a file, for which all of it is made unless the size was kept.
func (t *Tree) size(ctx context.Context, id nodes.ID) (int64, error) {
	if id == listID {
		text, err := t.listText(ctx)
		return int64(len(text)), err
	}
	if t.lines.known(id) == nil {
		if size, ok := t.keptSize(id); ok {
			return size, nil
		}
	}
	m, err := t.measure(ctx, id)
	if err != nil {
		return 0, err
	}
	return m.size, nil
}

// entry returns the entry of a file, without a cursor and with the size if that is known.
func (t *Tree) entry(id nodes.ID) (nodes.Entry, error) {
	e := nodes.Entry{ID: id, Kind: nodes.File, Size: nodes.UnknownSize}
	if id == listID {
		e.Name = ListName
		return e, nil
	}
	i, form, ok := t.table(id)
	if !ok {
		return e, nodes.NotExist(id)
	}
	e.Name, e.ModTime = t.tables[i].Name+csvEnd, t.tables[i].ModTime
	if form == db2.JSONLines {
		e.Name = t.tables[i].Name + linesEnd
	}
	if m := t.lines.known(id); m != nil {
		e.Size = m.size
	}
	return e, nil
}

// folder is the entry of the directory of tables.
var folder = nodes.Entry{Name: Folder, ID: folderID, Kind: nodes.Dir}

// Lookup implements [nodes.Tree].
func (t *Tree) Lookup(ctx context.Context, dir nodes.ID, name string) (nodes.Entry, error) {
	if err := t.check(ctx); err != nil {
		return nodes.Entry{}, err
	}
	switch {
	case !isDir(dir):
		return nodes.Entry{}, t.notDir(dir)
	case dir == nodes.Root && name == Folder:
		return folder, nil
	case dir == nodes.Root && name == ListName:
		return t.entry(listID)
	case dir == folderID:
		for kind, end := range map[int]string{kindCSV: csvEnd, kindLines: linesEnd} {
			if n := len(name) - len(end); n > 0 && name[n:] == end {
				if i, ok := t.places[name[:n]]; ok {
					return t.entry(makeID(kind, i))
				}
			}
		}
	}
	return nodes.Entry{}, nodes.NotExist(strconv.Quote(name))
}

// notDir returns the error for an ID that is no directory.
func (t *Tree) notDir(id nodes.ID) error {
	if _, err := t.entry(id); err != nil {
		return err
	}
	return fmt.Errorf("%v: %w", id, nodes.ErrNotDir)
}

// ReadDir implements [nodes.Tree]. A cursor is the number of the entries before; each table has two.
func (t *Tree) ReadDir(ctx context.Context, dir nodes.ID, cursor uint64) iter.Seq2[nodes.Entry, error] {
	return func(yield func(nodes.Entry, error) bool) {
		err := t.check(ctx)
		if err == nil && !isDir(dir) {
			err = t.notDir(dir)
		}
		if err != nil {
			yield(nodes.Entry{}, err)
			return
		}
		n := uint64(2)
		if dir == folderID {
			n = 2 * uint64(len(t.tables))
		}
		for ; cursor < n; cursor++ {
			e, err := folder, ctx.Err()
			switch {
			case err != nil:
			case dir == folderID:
				e, err = t.entry(makeID(kindCSV+int(cursor%2), int(cursor/2)))
			case cursor == 1:
				e, err = t.entry(listID)
			}
			e.Next = cursor + 1
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
}

// ReadAt implements [nodes.Tree].
func (t *Tree) ReadAt(ctx context.Context, id nodes.ID, p []byte, off int64) (int, error) {
	if err := t.check(ctx); err != nil {
		return 0, err
	}
	if isDir(id) {
		return 0, fmt.Errorf("%v: %w", id, nodes.ErrIsDir)
	}
	if id == listID {
		text, err := t.listText(ctx)
		if err != nil {
			return 0, notEnd(err)
		}
		return nodes.ReadContent(text, p, off)
	}
	return t.readLines(ctx, id, p, off)
}

// notEnd keeps an end of the source from being taken for the end of a file.
func notEnd(err error) error {
	if errors.Is(err, io.EOF) {
		return fmt.Errorf("%w: %v", io.ErrUnexpectedEOF, err) //nolint:errorlint // it must not match io.EOF
	}
	return err
}
