package dckind

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"lorefs/cmd/internal/budget"
	"lorefs/cmd/internal/output"
	"lorefs/cmd/internal/save"
	"lorefs/cmd/internal/save/dcsave"
	"lorefs/datacenter"
	"lorefs/datacenter/same"
	"lorefs/datacenter/sheets"
	"lorefs/datacenter/sheets/pack"
	"lorefs/datacenter/sheets/xsd"
	"lorefs/nodes/blockcache"
)

// PackSheets packs the sheets of a folder into a data center, and checks what was written. show
// is called with the progress.
func PackSheets(ctx context.Context, dir, to string, o output.Options, opts pack.Options, show func(save.Progress)) (r pack.Report, err error) {
	shows := dcsave.ProgressOf(show)
	check := func(file *os.File) error { return counted(ctx, file, *opts.Write.Key, &r, shows.Reading) }
	opts.Progress = shows.Writing
	defer budget.WholeFiles(0)()
	err = output.Write(ctx, to, o, func(out io.Writer) (err error) {
		r, err = pack.Pack(ctx, pack.Dir(dir), out, opts)
		return inFolder(dir, err)
	}, check)
	return r, err
}

// OpenSheets opens the sheets of a folder as a data center in memory.
func OpenSheets(ctx context.Context, dir string, opts pack.Options) (*datacenter.File, error) {
	f, _, err := pack.Open(ctx, pack.Dir(dir), opts)
	return f, inFolder(dir, err)
}

// LookForSheets calls [pack.Look] for a folder.
func LookForSheets(ctx context.Context, dir string) (*pack.Folder, error) {
	folder, err := pack.Look(ctx, pack.Dir(dir))
	return folder, inFolder(dir, err)
}

// SameSheets finds the sheets that a folder holds as the bytes of the data center, see
// [same.Find].
func (d *DataCenter) SameSheets(ctx context.Context, folder *pack.Folder, progress func(done, total int64)) (found same.Sheets, all bool, err error) {
	return same.Find(ctx, d.sheets, folder, progress)
}

// inFolder puts the path of a folder before an error that names a file below it.
func inFolder(dir string, err error) error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*sheets.SyntaxError](err); ok {
		at := *e
		at.File = filepath.Join(dir, e.File)
		return &at
	}
	if e, ok := errors.AsType[*sheets.ValueError](err); ok {
		at := *e
		at.File = filepath.Join(dir, e.File)
		return &at
	}
	return fmt.Errorf("%s: %w", dir, err)
}

// counted checks that a file that was written has the counts of the report.
func counted(ctx context.Context, file *os.File, key datacenter.Key, r *pack.Report, progress func(done, total int64)) error {
	g, err := ReadBack(ctx, file, key, false, progress)
	if err != nil {
		return err
	}
	if n := g.Counts(); n.Nodes != r.Nodes || n.Attributes != r.Attributes || n.Sheets != int64(r.Sheets) {
		return fmt.Errorf("what was written has %d sheets, %d nodes and %d attributes, where %d, %d and %d were packed",
			n.Sheets, n.Nodes, n.Attributes, r.Sheets, r.Nodes, r.Attributes)
	}
	return nil
}

// Schemas returns a function that returns the schema of a sheet, or nil if the data center
// has no such sheet. The data center must not be edited.
func (d *DataCenter) Schemas(ctx context.Context) func(sheet string) (*xsd.Schema, error) {
	families := map[string]*sheets.Family{}
	for _, f := range d.sheets.Families() {
		families[f.Name] = f
	}
	return func(sheet string) (*xsd.Schema, error) {
		if f := families[sheet]; f != nil {
			return f.LearnSchema(ctx)
		}
		return nil, nil //nolint:nilnil // nil means that there is none
	}
}

// ReadBack opens a data center that was just written. once says that the caller goes through all of
// it next, once. progress is called as that of [datacenter.Options].
func ReadBack(ctx context.Context, file *os.File, key datacenter.Key, once bool, progress func(done, total int64)) (*datacenter.File, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	g, err := datacenter.Open(ctx, file, info.Size(), datacenter.Options{
		Keys: []datacenter.Key{key}, Blocks: blockcache.New(budget.WholeCache).View(), Progress: progress, HoldBlocks: once,
	})
	if err != nil {
		return nil, fmt.Errorf("reading back what was written: %w", err)
	}
	return g, nil
}
