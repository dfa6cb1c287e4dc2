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
	"lorefs/datacenter/sheets/xsd"
)

// Options are what Pack may be told. The zero value is right for a folder in
// which each sheet has its schema beside it.
type Options struct {
	// Write is what the data center is written with. A Header that is zero is
	// written as novadrop's: timestamp -1, revision 387463.
	Write datacenter.WriteOptions
	// Like gives what is known of the sheets of a name from elsewhere, such as from the
	// data center that they were taken from; it may be nil. Of what it knows, it is believed
	// before a sheet's own schema. It is asked once a name, but about several names at a time.
	Like func(sheet string) (*xsd.Schema, error)
	// Template is likewise, but is believed where a sheet's own schema says nothing.
	Template func(sheet string) (*xsd.Schema, error)
	// Strict refuses sheets that [Report] has something to say about, with
	// [ErrMisfits].
	Strict bool
	// Progress is told how many bytes of how many have been read; each sheet is
	// read twice. It is not called by two goroutines at a time, and must be quick.
	Progress func(done, total int64)
}

// Report says what was packed.
type Report struct {
	// Sheets, Nodes and Attributes are how many there are. The root is a node,
	// __value__ an attribute.
	Sheets            int
	Nodes, Attributes int64
	// Inferred are the names of sheets of which neither a schema nor anybody else knows
	// anything, sorted. Their types were made out from their values.
	Inferred []string
	// Misfits are what the schemas of the other sheets do not know, or do not fit: those
	// first that leave types in doubt, of those and of the others the most frequent ones first.
	Misfits []Misfit
	// Ignored are files that are neither sheets nor schemas by their names, sorted.
	Ignored []string
}

// novadropRevision is the revision that novadrop-dc writes if it is told none.
const novadropRevision = 387463

// ErrNoSheets means that there is nothing to pack.
var ErrNoSheets = errors.New("no file is called like a sheet, Name-00000.xml")

// ErrMisfits means that there are sheets of which not all types are certain.
var ErrMisfits = errors.New("the schemas do not fit the sheets")

// Pack makes a data center of all sheets below a folder: files called ?*-?*.xml, in
// the order of their paths. What a sheet is called is what its root element is; but
// files and folders with a dot in front are an editor's, and are left out. What is called
// like a sheet or its schema, and is no regular file, is an error and not left out.
//
// The type of an attribute is the one that its element says in dc:types; else that of
// opts.Like; else that of the schema Sheet.xsd beside the sheet; else the template's; else the
// one that suits the values of the attribute on this path in all sheets of the name: int,
// bool, float or string. Keys are those of dc:keys, or of the first of the others that knows
// the path. A schema of another version than the sheets gives a value another type than it
// had, and nothing can tell which; the report says where a schema does not fit.
//
// Nothing is written to w if a sheet cannot be packed. The error is that of the first
// such file: an [xmltext.SyntaxError], an [xmltext.ValueError], or one that matches
// datacenter.ErrTooLarge. The sheets must not change meanwhile. Apart from a few
// files at a time, what is held in memory is what is written.
func Pack(ctx context.Context, fsys iofs.FS, w io.Writer, opts Options) (Report, error) {
	report := Report{}
	src, err := findSheets(ctx, fsys)
	if err != nil {
		return report, err
	}
	report.Ignored = src.ignored
	report.Sheets = len(src.files)
	bar := &progress{call: opts.Progress, total: 2 * src.size}
	survey, err := surveySheets(ctx, src, &opts, bar)
	if err != nil {
		return report, err
	}
	report.Nodes, report.Attributes = survey.nodes+1, survey.attributes
	report.Inferred, report.Misfits = survey.inferred(), survey.misfits()
	if opts.Strict && len(report.Inferred)+len(report.Misfits) > 0 {
		return report, fmt.Errorf("sheets: %w", ErrMisfits)
	}
	if opts.Write.Header == (datacenter.Header{}) {
		opts.Write.Header = datacenter.Header{Timestamp: -1, Revision: novadropRevision}
	}
	b, err := datacenter.NewBuilder(survey.names(), opts.Write)
	if err != nil {
		return report, fmt.Errorf("sheets: %w", err)
	}
	err = build(ctx, src, survey, b, bar)
	if err != nil {
		// Write is what ends a Builder's work in the background.
		ctx, cancel := context.WithCancel(ctx)
		cancel()
		_ = b.Write(ctx, io.Discard)
		return report, err
	}
	if err := b.Write(ctx, w); err != nil {
		return report, fmt.Errorf("sheets: %w", err)
	}
	return report, nil
}

// progress adds up what several goroutines read.
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

// inferred returns the names of sheets of which nothing was known.
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
