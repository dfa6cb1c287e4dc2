package sheets

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"lorefs/datacenter"
	"lorefs/datacenter/edit"
	"lorefs/datacenter/sheets/internal/jsonsheet"
	"lorefs/datacenter/sheets/internal/vocab"
	"lorefs/datacenter/sheets/xsd"
	"lorefs/datacenter/treepath"
)

// Options are the options of New. The zero value is right for most uses.
type Options struct {
	// Strategy is how schemas are inferred. Default: Conservative.
	Strategy Strategy
	// Index saves sizes and schemas between runs. Default: they are not saved.
	Index datacenter.IndexStore
	// Logger gets a warning if the index is damaged. Default: none.
	Logger *slog.Logger
}

// Source is a data center as sheets. It is safe for parallel use.
type Source struct {
	file  *datacenter.File
	draft *edit.Draft // or nil
	opts  Options
	voc   *vocab.Vocabulary
	store store
	// sheets are the sheets of the file, in its order.
	sheets    []Sheet
	waypoints waypoints
	encoders  encoders
	// outlined is how many elements outlines have.
	outlined atomic.Int64

	mu       sync.RWMutex // guards the fields below
	families []*Family
	byName   map[string]*Family
	byFile   map[string]*Family
	byID     map[uint32]*Family
	// seen is the Edit of the draft up to which its changes were processed. changes has the
	// last edit of each sheet.
	seen    int64
	changes map[edit.Number]edit.SheetChange
}

// Sheet is a child of the root.
type Sheet struct {
	// Number identifies the sheet, as in a [edit.Draft].
	Number edit.Number
	// Name is the name of the node, and Ordinal its place among those of its name. A draft may
	// have gaps.
	Name    string
	Ordinal uint32

	name vocab.NameID
	addr datacenter.Address // for a sheet of the file
}

// Address returns the address of a sheet of the file; it is zero for a new one.
func (s Sheet) Address() datacenter.Address { return s.addr }

// Family is all sheets of one name.
type Family struct {
	// Name is the name of the sheets, and File the name of their folder.
	Name, File string

	src  *Source
	name vocab.NameID
	base []Sheet // the sheets of the file

	// flight.mu guards the fields below.
	flight flight
	info   *familyInfo // nil until it is computed
	draft  draftFamily
	// restored says that info was looked for in the index.
	restored bool
	// learned is nil until the schema is learned without sizes.
	learned *learned
}

// New returns the sheets of f or, if d is not nil, of d, which must be a draft of f. It
// reads only the root's children. It fails if two names of f are the same text.
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
		return &encoder{
			voc: voc, draft: d, file: f.Private(f.Form().AllBlocks(remembered)), forms: make(tagForms, 1<<formBits), strings: make([]formString, 1<<stringBits),
		}
	})
	return s, s.list()
}

// list collects the sheets of the file.
func (s *Source) list() error {
	root, err := s.file.Root()
	if err != nil {
		return err
	}
	number := 1 + edit.Number(root.AttributeCount())
	s.sheets = make([]Sheet, 0, root.ChildCount())
	var f *Family
	for n, err := range root.Children() {
		if err != nil {
			return err
		}
		if id := vocab.NameID(n.NameIndex()); f == nil || f.name != id { // most have the name of the one before
			f = s.family(n.Name(), id)
		}
		sheet := Sheet{Number: number, Name: f.Name, Ordinal: uint32(len(f.base)), name: f.name, addr: n.Address()}
		f.base = append(f.base, sheet)
		s.sheets = append(s.sheets, sheet)
		number += edit.Number(n.Entries())
	}
	return nil
}

// family returns the family of a name, and makes it if needed. The caller holds mu, or is
// alone.
func (s *Source) family(name string, id vocab.NameID) *Family {
	if f, ok := s.byName[name]; ok {
		return f
	}
	f := &Family{Name: name, File: s.folderName(name, id), src: s, name: id}
	s.families = append(s.families, f)
	s.byName[name], s.byFile[f.File], s.byID[f.ID()] = f, f, f
	return f
}

// maxFolder is the length of the longest folder name. It leaves room for the rest of the
// file name of a sheet.
const maxFolder = 255 - len("-4294967295.xml")

// folderName returns the name of the folder of sheets.
func (s *Source) folderName(name string, id vocab.NameID) string {
	file := treepath.EscapeWithin(name, int(id), maxFolder)
	if file == xsd.CommonFile { // escaped like the dot before an ordinal
		return "DataCenter%2Exsd"
	}
	return file
}

// Families returns all names of sheets: first those of the file in its order, then new ones
// in the order in which they were first seen. They include names whose sheets were all
// removed.
func (s *Source) Families() []*Family {
	s.poll()
	s.mu.RLock()
	defer s.mu.RUnlock()
	return slices.Clip(s.families)
}

// Family returns the sheets in a folder.
func (s *Source) Family(file string) (*Family, bool) {
	s.poll()
	s.mu.RLock()
	defer s.mu.RUnlock()
	f, ok := s.byFile[file]
	return f, ok
}

// FamilyByID returns the sheets with an ID.
func (s *Source) FamilyByID(id uint32) (*Family, bool) {
	s.poll()
	s.mu.RLock()
	defer s.mu.RUnlock()
	f, ok := s.byID[id]
	return f, ok
}

// ID returns the index of the name in the file. A name that is not in the file has a higher
// number, which is valid as long as the Source is.
func (f *Family) ID() uint32 { return uint32(f.name) }

// SchemaFile returns the name of the schema's file.
func (f *Family) SchemaFile() string { return f.File + ".xsd" }

// SheetFile returns the name of a sheet's file.
func (f *Family) SheetFile(ordinal uint32) string { return sheetFileName(f.File, ordinal) }

// JSONFile returns the name of a sheet's file as JSON.
func (f *Family) JSONFile(ordinal uint32) string {
	return strings.TrimSuffix(f.SheetFile(ordinal), ".xml") + ".json"
}

func sheetFileName(folder string, ordinal uint32) string {
	return fmt.Sprintf("%s-%05d.xml", folder, ordinal)
}

// WriteJSON writes a sheet of a file as one JSON document, with one node on a line:
//
//	{"name":"Item","keys":["id"],"flags":1,"attributes":{"id":1,"rate":0.5,"rare":true},"text":"…","children":[
//	{"name":"Item",…}]}
//
// Members that a node does not have are omitted. Attributes and children are in the file's
// order. Floats always have a point or an exponent, which distinguishes them from ints; NaN
// and infinities are "NaN", "Infinity" and "-Infinity". An unpaired surrogate in a string is
// written as \ud800.
func (s *Source) WriteJSON(ctx context.Context, w io.Writer, sheet Sheet) error {
	if s.draft != nil {
		return errors.New("sheets: a draft can't be written as JSON")
	}
	e, err := s.encoder(ctx)
	if err != nil {
		return err
	}
	defer s.release(e)
	n, err := e.file.Node(sheet.addr)
	if err == nil {
		err = jsonsheet.Write(ctx, w, n)
	}
	if err != nil {
		return fmt.Errorf("sheet %s %d: %w", sheet.Name, sheet.Ordinal, err)
	}
	return nil
}

// AttributesJSON returns the attributes and the text of a node as [Source.WriteJSON] spells them, nil
// for none.
func AttributesJSON(n datacenter.Node) (attributes, text []byte, err error) {
	return jsonsheet.Attributes(n)
}
