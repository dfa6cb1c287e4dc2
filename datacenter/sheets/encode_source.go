package sheets

import (
	"fmt"
	"log/slog"
	"slices"
	"sync"

	"lorefs/datacenter"
	"lorefs/datacenter/edit"
	"lorefs/datacenter/sheets/internal/vocab"
	"lorefs/datacenter/sheets/xsd"
	"lorefs/datacenter/treepath"
)

// Options are what New may be told. The zero value is right.
type Options struct {
	// Strategy is how schemas are inferred. Default: Conservative.
	Strategy Strategy
	// Index remembers sizes and schemas, for the next time. Default: nothing is
	// remembered.
	Index datacenter.IndexStore
	// Logger is told of an index that was damaged. Default: nobody is.
	Logger *slog.Logger
}

// Source is a data center as sheets. It is safe for parallel use.
type Source struct {
	file  *datacenter.File
	draft *edit.Draft // nil if there is none
	opts  Options
	voc   *vocab.Vocabulary
	store store
	// sheets are those of the file, in its order.
	sheets    []Sheet
	waypoints waypoints
	encoders  encoders

	mu       sync.RWMutex // guards what follows
	families []*Family
	byName   map[string]*Family
	byFile   map[string]*Family
	byID     map[uint32]*Family
	// seen is the Edit up to which changes of the draft were taken notice of, and
	// changes has the last one of each sheet.
	seen    int64
	changes map[edit.Number]edit.SheetChange
}

// Sheet is a child of the root.
type Sheet struct {
	// Number tells it from all others, as that of a [edit.Draft] does.
	Number edit.Number
	// Name is the node's, Ordinal its place among those of its name. In a draft
	// there may be gaps.
	Name    string
	Ordinal uint32

	name vocab.NameID
	addr datacenter.Address // if the file has it
}

// Family is all sheets of one name.
type Family struct {
	// Name is the sheets', File what their folder is called.
	Name, File string

	src  *Source
	name vocab.NameID
	base []Sheet // those of the file

	// flight's mu guards what follows.
	flight flight
	info   *familyInfo // nil as long as it is not known
	draft  draftFamily
}

// New makes the sheets of f or, if d is not nil, of d, which has to be a draft of
// f. Only the root's children are looked at here. It fails if two names of f are
// the same text.
func New(f *datacenter.File, d *edit.Draft, opts Options) (*Source, error) {
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	voc, err := vocab.New(f)
	if err != nil {
		return nil, err
	}
	s := &Source{
		file: f, draft: d, opts: opts, voc: voc,
		byName: map[string]*Family{}, byFile: map[string]*Family{}, byID: map[uint32]*Family{},
		changes: map[edit.Number]edit.SheetChange{},
	}
	s.store.init(s)
	s.encoders.init(func(remembered int) *encoder {
		return &encoder{voc: voc, draft: d, file: f.Private(remembered), tags: newTextCache()}
	})
	return s, s.list()
}

// list finds the sheets of the file.
func (s *Source) list() error {
	root, err := s.file.Root()
	if err != nil {
		return err
	}
	number := 1 + edit.Number(root.AttributeCount())
	for n, err := range root.Children() {
		if err != nil {
			return err
		}
		f := s.family(n.Name(), vocab.NameID(n.NameIndex()))
		sheet := Sheet{Number: number, Name: f.Name, Ordinal: uint32(len(f.base)), name: f.name, addr: n.Address()}
		f.base = append(f.base, sheet)
		s.sheets = append(s.sheets, sheet)
		number += edit.Number(n.Entries())
	}
	return nil
}

// family gives that of a name, which may be new. The caller holds mu, or is alone.
func (s *Source) family(name string, id vocab.NameID) *Family {
	if f, ok := s.byName[name]; ok {
		return f
	}
	f := &Family{Name: name, File: s.folderName(name, id), src: s, name: id}
	s.families = append(s.families, f)
	s.byName[name], s.byFile[f.File], s.byID[f.ID()] = f, f, f
	return f
}

// maxFolder leaves room for what the file name of a sheet has besides the folder's.
const maxFolder = 255 - len("-4294967295.xml")

// folderName gives the name of the folder of sheets.
func (s *Source) folderName(name string, id vocab.NameID) string {
	file := treepath.EscapeWithin(name, int(id), maxFolder)
	if file == xsd.CommonFile { // as if its dot were a sibling's
		return "DataCenter%2Exsd"
	}
	return file
}

// Families are all names of sheets, in the order in which the file has them, then
// new ones in the order in which they were first seen. Those whose sheets have
// all been removed since are among them.
func (s *Source) Families() []*Family {
	s.poll()
	s.mu.RLock()
	defer s.mu.RUnlock()
	return slices.Clip(s.families)
}

// Family finds those sheets that lie in a folder of that name.
func (s *Source) Family(file string) (*Family, bool) {
	s.poll()
	s.mu.RLock()
	defer s.mu.RUnlock()
	f, ok := s.byFile[file]
	return f, ok
}

// FamilyByID finds those sheets whose ID is a number.
func (s *Source) FamilyByID(id uint32) (*Family, bool) {
	s.poll()
	s.mu.RLock()
	defer s.mu.RUnlock()
	f, ok := s.byID[id]
	return f, ok
}

// ID is the index of the name in the file or, if the file does not have it, a higher
// number that is good as long as the Source is.
func (f *Family) ID() uint32 { return uint32(f.name) }

// SchemaFile is the name of the file that has the schema.
func (f *Family) SchemaFile() string { return f.File + ".xsd" }

// SheetFile is the name of a sheet's file.
func (f *Family) SheetFile(ordinal uint32) string { return sheetFileName(f.File, ordinal) }

func sheetFileName(folder string, ordinal uint32) string {
	return fmt.Sprintf("%s-%05d.xml", folder, ordinal)
}
