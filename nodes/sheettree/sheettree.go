package sheettree

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"strconv"
	"time"

	"lorefs/datacenter"
	"lorefs/datacenter/edit"
	"lorefs/datacenter/sheets"
	"lorefs/datacenter/sheets/xsd"
	"lorefs/nodes"
)

// Options configure New.
type Options struct {
	// ModTime is the time of all files that were not edited.
	ModTime time.Time
	// SourceSize is the size of the .dat in bytes, for statfs(2).
	SourceSize int64
	// Check returns an error if the source is no longer what it was when it was opened. It is
	// called before anything is read. Default: nil.
	Check func() error
	// SizesLater is for who reads all files and needs no sizes before: files whose size would have
	// to be computed are listed with [nodes.UnknownSize].
	SizesLater bool
}

// Tree is the tree of the sheets. It is safe for parallel use.
type Tree struct {
	src  *sheets.Source
	opts Options
}

var _ nodes.Tree = (*Tree)(nil)

// New returns the tree of src, which may be a file or a draft.
func New(src *sheets.Source, opts Options) *Tree {
	if opts.Check == nil {
		opts.Check = func() error { return nil }
	}
	return &Tree{src: src, opts: opts}
}

// Usage returns the size of the .dat, and the number of directories and files.
func (t *Tree) Usage() nodes.Usage {
	u := nodes.Usage{Bytes: t.opts.SourceSize, Nodes: 2}
	for _, f := range t.src.Families() {
		u.Nodes += 2 + int64(f.Count())
	}
	return u
}

// check is called first by every method.
func (t *Tree) check(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return t.opts.Check()
}

// wrap maps the errors of the format to those of the tree.
func wrap(err error) error {
	switch {
	case errors.Is(err, datacenter.ErrChanged):
		return nodes.Mark(err, nodes.ErrChanged)
	case errors.Is(err, edit.ErrGone):
		return nodes.Mark(err, nodes.ErrNotExist)
	}
	return err
}

// node says what an ID refers to. If kind is 0, it is the root.
type node struct {
	kind   kind
	family *sheets.Family // of a folder or a schema
	sheet  sheets.Sheet
}

// node returns what an ID refers to.
func (t *Tree) node(ctx context.Context, id nodes.ID) (n node, err error) {
	if err := t.check(ctx); err != nil {
		return n, err
	}
	if id == nodes.Root {
		return n, nil
	}
	k, number, ok := split(id)
	if !ok {
		return n, nodes.NotExist(id)
	}
	n.kind = k
	switch k {
	case folder, schema:
		n.family, ok = t.src.FamilyByID(number)
	case sheet:
		n.sheet, ok = t.src.Sheet(edit.Number(number))
	case madeSchema, madeFolder, scratch:
		ok = false
	}
	if !ok {
		return n, nodes.NotExist(id)
	}
	return n, nil
}

func (n node) isDir() bool { return n.kind == 0 || n.kind == folder }

// Attr implements [nodes.Tree].
func (t *Tree) Attr(ctx context.Context, id nodes.ID) (nodes.Attr, error) {
	n, err := t.node(ctx, id)
	if err != nil {
		return nodes.Attr{}, err
	}
	if n.isDir() {
		return nodes.Attr{Kind: nodes.Dir, ModTime: t.opts.ModTime}, nil
	}
	attr := nodes.Attr{Kind: nodes.File, ModTime: t.modTime(n)}
	attr.Size, err = t.size(ctx, n)
	return attr, err
}

// modTime returns when a file was edited, or the source's time.
func (t *Tree) modTime(n node) time.Time {
	if n.kind == sheet {
		if at, ok := t.src.ModTime(n.sheet.Number); ok {
			return at
		}
	}
	return t.opts.ModTime
}

func (t *Tree) size(ctx context.Context, n node) (int64, error) {
	if n.kind == sheet {
		size, err := t.src.Size(ctx, n.sheet)
		return size, wrap(err)
	}
	text, err := t.schemaText(ctx, n)
	return int64(len(text)), err
}

// listedSize returns the size of a file of a family for a listing.
func (t *Tree) listedSize(ctx context.Context, f *sheets.Family, n node) (int64, error) {
	if t.opts.SizesLater {
		known, err := f.Measured(ctx)
		if err != nil || !known {
			return nodes.UnknownSize, wrap(err)
		}
	}
	return t.size(ctx, n)
}

// schemaText returns the content of a schema file.
func (t *Tree) schemaText(ctx context.Context, n node) ([]byte, error) {
	if n.kind == common {
		return []byte(xsd.Common), nil
	}
	infer := n.family.Schema
	if t.opts.SizesLater {
		infer = n.family.LearnSchema
	}
	s, err := infer(ctx)
	if err != nil {
		return nil, wrap(err)
	}
	return s.AppendXSD(nil), nil
}

// ReadAt implements [nodes.Tree].
func (t *Tree) ReadAt(ctx context.Context, id nodes.ID, p []byte, off int64) (int, error) {
	n, err := t.node(ctx, id)
	switch {
	case err != nil:
		return 0, err
	case n.isDir():
		return 0, fmt.Errorf("%v: %w", id, nodes.ErrIsDir)
	case off < 0:
		return 0, fmt.Errorf("negative offset %d", off)
	}
	if n.kind == sheet {
		k, err := t.src.ReadAt(ctx, n.sheet, p, off)
		return k, wrap(err)
	}
	text, err := t.schemaText(ctx, n)
	if err != nil {
		return 0, err
	}
	return nodes.ReadContent(text, p, off)
}

// Stream implements [nodes.Streamer]. A file is written faster as a whole.
func (t *Tree) Stream(ctx context.Context, id nodes.ID, w io.Writer) (n int64, ok bool, err error) {
	node, err := t.node(ctx, id)
	switch {
	case err != nil || node.kind != sheet && node.kind != schema:
		return 0, false, err
	case node.kind == sheet:
		n, err = t.src.WriteSheet(ctx, w, node.sheet)
		return n, true, wrap(err)
	}
	text, err := t.schemaText(ctx, node)
	if err != nil {
		return 0, false, err
	}
	written, err := w.Write(text)
	return int64(written), true, err
}

// Lookup implements [nodes.Tree].
func (t *Tree) Lookup(ctx context.Context, dir nodes.ID, name string) (nodes.Entry, error) {
	n, err := t.node(ctx, dir)
	if err != nil {
		return nodes.Entry{}, err
	}
	if !n.isDir() {
		return nodes.Entry{}, fmt.Errorf("%v: %w", dir, nodes.ErrNotDir)
	}
	if n.kind == 0 {
		if name == xsd.CommonFile {
			return t.commonEntry(), nil
		}
		if f, ok := t.src.Family(name); ok && f.Count() > 0 {
			return folderEntry(f), nil
		}
		return nodes.Entry{}, nodes.NotExist(strconv.Quote(name))
	}
	if name == n.family.SchemaFile() {
		return t.schemaEntry(ctx, n.family)
	}
	if s, ok := n.family.Named(name); ok {
		return t.sheetEntry(ctx, n.family, s)
	}
	return nodes.Entry{}, nodes.NotExist(strconv.Quote(name))
}

func (t *Tree) commonEntry() nodes.Entry {
	return nodes.Entry{Name: xsd.CommonFile, ID: commonID, Kind: nodes.File, Size: int64(len(xsd.Common))}
}

func folderEntry(f *sheets.Family) nodes.Entry {
	return nodes.Entry{Name: f.File, ID: folder.id(f.ID()), Kind: nodes.Dir}
}

func (t *Tree) schemaEntry(ctx context.Context, f *sheets.Family) (nodes.Entry, error) {
	size, err := t.listedSize(ctx, f, node{kind: schema, family: f})
	return nodes.Entry{Name: f.SchemaFile(), ID: schema.id(f.ID()), Kind: nodes.File, Size: size}, err
}

func (t *Tree) sheetEntry(ctx context.Context, f *sheets.Family, s sheets.Sheet) (nodes.Entry, error) {
	n := node{kind: sheet, sheet: s}
	size, err := t.listedSize(ctx, f, n)
	return nodes.Entry{
		Name: f.SheetFile(s.Ordinal), ID: SheetID(s.Number), Kind: nodes.File, Size: size, ModTime: t.modTime(n),
	}, err
}

// ReadDir implements [nodes.Tree]. The first file of a directory is a schema; the others are
// the families or sheets, at the places that package sheets gives them.
func (t *Tree) ReadDir(ctx context.Context, dir nodes.ID, cursor uint64) iter.Seq2[nodes.Entry, error] {
	return func(yield func(nodes.Entry, error) bool) {
		n, err := t.node(ctx, dir)
		if err == nil && !n.isDir() {
			err = fmt.Errorf("%v: %w", dir, nodes.ErrNotDir)
		}
		switch {
		case err != nil:
			yield(nodes.Entry{}, err)
		case n.kind == 0:
			t.listFolders(cursor, yield)
		default:
			t.listSheets(ctx, n.family, cursor, yield)
		}
	}
}

func (t *Tree) listFolders(cursor uint64, yield func(nodes.Entry, error) bool) {
	if cursor == 0 {
		e := t.commonEntry()
		e.Next = 1
		if !yield(e, nil) {
			return
		}
		cursor = 1
	}
	families := t.src.Families()
	for ; cursor <= uint64(len(families)); cursor++ {
		f := families[cursor-1]
		if f.Count() == 0 {
			continue
		}
		e := folderEntry(f)
		e.Next = cursor + 1
		if !yield(e, nil) {
			return
		}
	}
}

func (t *Tree) listSheets(ctx context.Context, f *sheets.Family, cursor uint64, yield func(nodes.Entry, error) bool) {
	if cursor == 0 {
		e, err := t.schemaEntry(ctx, f)
		e.Next = 1
		if !yield(e, err) || err != nil {
			return
		}
		cursor = 1
	}
	for s, next := range f.Sheets(cursor - 1) {
		e, err := t.sheetEntry(ctx, f, s)
		if errors.Is(err, nodes.ErrNotExist) {
			continue // removed meanwhile
		}
		e.Next = next + 1
		if !yield(e, err) || err != nil {
			return
		}
	}
}
