package pack

import (
	"context"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"slices"
	"sync"

	"lorefs/datacenter"
	"lorefs/datacenter/internal/write"
	"lorefs/datacenter/sheets/xsd"
)

// Options are the options of Pack. The zero value is right for a folder in which each sheet
// has its schema beside it.
type Options struct {
	// Write are the options for writing the data center. A zero Header is written as
	// novadrop's: timestamp -1, revision 387463.
	Write datacenter.WriteOptions
	// Like returns what is known elsewhere of the sheets of a name, such as in the data
	// center that they were taken from, or nil. It precedes a sheet's own schema. It is
	// called once for each name, and for several names at a time.
	Like func(sheet string) (*xsd.Schema, error)
	// Template is like Like, but follows a sheet's own schema. It is called only if that lacks
	// something, or is missing.
	Template func(sheet string) (*xsd.Schema, error)
	// Looked is the folder as [Look] has found it. Default: Pack calls it.
	Looked *Folder
	// Omit are the files of sheets that are left out, with the names of these. The other sheets
	// of a name have to be in the same folder, with no others, or they are refused with
	// [ErrOmitted]: their places among all of it would be unknown.
	Omit map[string]string
	// Strict refuses sheets with misfits in the [Report], with [ErrMisfits].
	Strict bool
	// Progress is called with the number of bytes done and the total; each sheet counts
	// twice, when it is read and when it is laid out. It is not called in parallel, and must be quick.
	Progress func(done, total int64)
}

// Report describes what was packed.
type Report struct {
	// Sheets, Nodes and Attributes are their numbers. The root is a node, __value__ an
	// attribute.
	Sheets            int
	Nodes, Attributes int64
	// Inferred are the sorted names of sheets without a schema and unknown to Like and
	// Template. Their types were inferred from their values.
	Inferred []string
	// Misfits name what the schemas of the other sheets do not know, or do not fit: those
	// that leave types in doubt first, and each group by frequency.
	Misfits []Misfit
	// Ignored are the sorted files that are neither sheets nor schemas by their names.
	Ignored []string
	// Strays are the files that were packed and are probably copies of others.
	Strays []Problem
}

// novadropRevision is novadrop-dc's default revision.
const novadropRevision = 387463

// ErrNoSheets means that there is nothing to pack.
var ErrNoSheets = errors.New("no file is called like a sheet, Name-00000.xml")

// ErrMisfits means that there are sheets in which not all types are certain.
var ErrMisfits = errors.New("the schemas do not fit the sheets")

// ErrOmitted means that the places of sheets among omitted ones of their name are unknown.
var ErrOmitted = errors.New("omitted sheets have an unknown place")

// Pack makes a data center of all sheets below a folder: files named ?*-?*.xml, in the
// order of their paths, and by number where those are not padded. novadrop-dc packs such
// sheets in the order of their paths: 1, 10, 2. The name of a sheet is that of its root element. Files and folders
// whose names begin with a dot belong to editors, and are ignored. A file with the name of
// a sheet or schema that is no regular file is an error.
//
// The type of an attribute is the first that is known: that in dc:types of its element;
// that of opts.Like; that of the schema Sheet.xsd beside the sheet; the template's; and
// else the first of int, bool, float and string that suits the values of the attribute on
// this path in all sheets of the name. Keys are those of dc:keys, or of the first of the
// others that knows the path. A schema of another version than the sheets gives a value
// another type than it had, which can't be noticed; the report says where a schema does not
// fit.
//
// If a sheet can't be packed, nothing is written to w, and the error is that of the first
// such file: a SyntaxError or a ValueError of package sheets, or an error that matches
// datacenter.ErrTooLarge. The sheets must not change meanwhile. Memory holds what is
// written, what differs between the texts and the runs of children of all sheets, the start
// tags that are not like another not far before them, and some files at a time.
func Pack(ctx context.Context, fsys iofs.FS, w io.Writer, opts Options) (Report, error) {
	report, b, err := lay(ctx, fsys, &opts, false)
	if err != nil {
		return report, err
	}
	if err := b.Write(ctx, w); err != nil {
		return report, fmt.Errorf("sheets: %w", err)
	}
	return report, nil
}

// Open makes a data center as Pack does, and returns it without writing it: see [datacenter.Store.Open].
func Open(ctx context.Context, fsys iofs.FS, opts Options) (*datacenter.File, Report, error) {
	report, b, err := lay(ctx, fsys, &opts, true)
	if err != nil {
		return nil, report, err
	}
	f, err := b.Open(ctx)
	if err != nil {
		return nil, report, fmt.Errorf("sheets: %w", err)
	}
	return datacenter.Of(f), report, nil
}

// lay lays out a data center. hold is set if it will only be opened.
func lay(ctx context.Context, fsys iofs.FS, opts *Options, hold bool) (Report, *write.Store, error) {
	report := Report{}
	src := opts.Looked
	if src == nil {
		var err error
		if src, err = Look(ctx, fsys); err != nil {
			return report, nil, err
		}
	}
	src = src.without(opts.Omit)
	report.Ignored, report.Strays = src.ignored, src.strays()
	report.Sheets = len(src.files)
	bar := &progress{call: opts.Progress, total: 2 * src.size}
	survey, err := surveySheets(ctx, src, opts, bar)
	if err != nil {
		return report, nil, err
	}
	if err := survey.besides(opts.Omit, src); err != nil {
		return report, nil, err
	}
	report.Nodes, report.Attributes = survey.nodes+1, survey.attributes
	report.Inferred, report.Misfits = survey.inferred(), survey.misfits()
	if opts.Strict && len(report.Inferred)+len(report.Misfits) > 0 {
		return report, nil, fmt.Errorf("sheets: %w", ErrMisfits)
	}
	if opts.Write.Header == (datacenter.Header{}) {
		opts.Write.Header = datacenter.Header{Timestamp: -1, Revision: novadropRevision}
	}
	b, err := write.NewStore(survey.names(), opts.Write)
	if err != nil {
		return report, nil, fmt.Errorf("sheets: %w", err)
	}
	if hold {
		b.Hold()
	}
	if err := build(ctx, src, survey, b, bar); err != nil {
		b.Abandon()
		return report, nil, err
	}
	return report, b, nil
}

// progress adds up what several goroutines do.
type progress struct {
	call  func(done, total int64)
	mu    sync.Mutex
	done  int64 // guarded by mu
	total int64
}

func (p *progress) add(n int64) {
	if p.call == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done += n
	p.call(p.done, p.total)
}

// inferred returns the names of sheets without schema.
func (s *survey) inferred() []string {
	var names []string
	for key, p := range s.sheets {
		if p.types.first() == nil {
			names = append(names, key.sheet)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
