package dissect

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"lorefs/internal/cores"
	"lorefs/protocol"
	"lorefs/protocol/capture"
)

// Recording is a log with the names and definitions of its packets. It is immutable and safe
// for parallel use.
type Recording struct {
	log *capture.Log
	lib *protocol.Library
	// given are the options of New, opts what became of them.
	given, opts Options
	// names is the map of codes, nil if there is none.
	names *protocol.Map
	// codes has the description of each code in the log.
	codes *[1 << 16]*Code
	// sorted holds the codes by name, and first the names in the order in which they come.
	sorted []uint16
	first  []string
}

// Code describes the packets of one operation code.
type Code struct {
	// Name is the name of the packet, or the code in digits. Place is its place in Names.
	Name  string
	Place int
	// Table reads the packets; nil without a usable definition.
	Table *protocol.Table
	// Err says why an existing definition can't be used.
	Err error

	// named and defined are the parts of a line with the name, and the definition. decoded is
	// both and what goes before the packet.
	named, defined, decoded string
}

// Options are the options of New. The zero value is right.
type Options struct {
	// Revision is the client revision. Default: that of the log.
	Revision string
	// Patch is the version of the game. Default: that of the revision in the library's
	// revisions.json, or else the newest.
	Patch protocol.Patch
}

// fixedNames are the codes that are the same in all revisions.
var fixedNames = map[uint16]string{19900: "C_CHECK_VERSION", 19901: "S_CHECK_VERSION"}

// NameOf returns the name of a code in a map, which may be nil, or "". Names longer than
// [capture.MaxName] are ignored.
func NameOf(m *protocol.Map, code uint16) string {
	if m != nil {
		if name, ok := m.Name(uint32(code)); ok && len(name) <= capture.MaxName {
			return name
		}
	}
	return fixedNames[code]
}

// New finds the name and the definition of each code in a log. lib may be nil: then no
// packet has a definition.
//
// An error comes from reading, or from the map that names the packets.
func New(log *capture.Log, lib *protocol.Library, opts Options) (*Recording, error) {
	r, err := named(log.Info(), lib, opts)
	if err != nil {
		return nil, err
	}
	return r.of(log)
}

// named returns a recording without its log, but with the map for it.
func named(info capture.Info, lib *protocol.Library, opts Options) (*Recording, error) {
	r := &Recording{lib: lib, given: opts, opts: opts}
	r.opts.Revision = cmp.Or(opts.Revision, info.Revision)
	var err error
	if r.names, err = r.findNames(); err != nil {
		return nil, err
	}
	return r, nil
}

// of sets the log of a recording that has none.
func (r *Recording) of(log *capture.Log) (*Recording, error) {
	r.log = log
	if err := r.learn(0); err != nil {
		return nil, err
	}
	return r, nil
}

// Grown returns the recording of a log that r's log has grown to. The packets that r has keep
// their names.
func (r *Recording) Grown(log *capture.Log) (*Recording, error) {
	if r.log.Len() == 0 {
		return New(log, r.lib, r.given) // its head may not have been whole
	}
	g := *r
	g.log = log
	if err := g.learn(r.log.Len()); err != nil {
		return nil, err
	}
	return &g, nil
}

// learn finds the codes of the packets from a number on.
func (r *Recording) learn(from int) error {
	found := r.unknown(from)
	if len(found) == 0 {
		return nil
	}
	if r.codes == nil {
		r.codes = new([1 << 16]*Code)
	} else { // the recording that this one has grown from has them, too
		codes := *r.codes
		r.codes, r.sorted = &codes, slices.Clone(r.sorted)
	}
	list, err := r.identify(found)
	if err != nil {
		return err
	}
	r.place(list)
	for i, one := range list {
		r.codes[found[i]] = one
		r.sorted = append(r.sorted, found[i])
	}
	slices.SortFunc(r.sorted, func(a, b uint16) int {
		return cmp.Or(strings.Compare(r.codes[a].Name, r.codes[b].Name), int(a)-int(b))
	})
	return nil
}

// place gives new codes the places of their names. Two codes may have one name.
func (r *Recording) place(list []*Code) {
	places := make(map[string]int, len(r.first)+len(list))
	for i, name := range r.first {
		places[name] = i
	}
	first := slices.Clip(r.first) // the recording that this one has grown from goes on with its own
	for _, one := range list {
		at, known := places[one.Name]
		if !known {
			at = len(first)
			places[one.Name] = at
			first = append(first, one.Name)
		}
		one.Place = at
	}
	r.first = first
}

// unknown returns the codes of the packets from a number on that the recording does not know,
// in the order of their first packets.
func (r *Recording) unknown(from int) (found []uint16) {
	var known [1 << 16]bool
	for _, c := range r.sorted {
		known[c] = true
	}
	for i := from; i < r.log.Len(); i++ {
		if c := r.log.Code(i); !known[c] {
			known[c] = true
			found = append(found, c)
		}
	}
	return found
}

// Log returns the log.
func (r *Recording) Log() *capture.Log { return r.log }

// Patch returns the version of the game that packets are read by, 0 for the newest.
func (r *Recording) Patch() protocol.Patch { return r.opts.Patch }

// Revision returns the client revision that the packets are named by, or "".
func (r *Recording) Revision() string { return r.opts.Revision }

// Map returns the map that the packets are named by, or nil.
func (r *Recording) Map() *protocol.Map { return r.names }

// MapFile returns the name of the map's file, or "".
func (r *Recording) MapFile() string {
	if r.names == nil {
		return ""
	}
	return r.names.File
}

// Codes returns the operation codes in the log, sorted by the names of their packets.
func (r *Recording) Codes() []uint16 { return slices.Clip(r.sorted) }

// Names returns the names of the packets, in the order of the first packets that have them.
func (r *Recording) Names() []string { return slices.Clip(r.first) }

// Code returns the description of a code in the log, or nil.
func (r *Recording) Code(code uint16) *Code { return r.codes[code] }

// findNames returns the map of the revision, or nil, and sets the patch.
func (r *Recording) findNames() (*protocol.Map, error) {
	if r.lib == nil {
		return nil, nil
	}
	if rev, ok := r.lib.Revisions[r.opts.Revision]; ok && r.opts.Patch == 0 {
		r.opts.Patch = rev.Patch
	}
	i, ok := r.lib.FindMap("protocol", r.opts.Revision)
	if !ok {
		return nil, nil
	}
	return r.lib.Map(i)
}

// identify finds the names and the definitions of codes, on all cores: a session has hundreds of
// definitions, and each is a file.
func (r *Recording) identify(codes []uint16) ([]*Code, error) {
	if r.lib != nil {
		defer r.lib.Cache()()
	}
	list := make([]*Code, len(codes))
	var group errgroup.Group
	var next atomic.Int64
	for range min(cores.Count(), len(codes)) {
		group.Go(func() (err error) {
			for i := next.Add(1) - 1; err == nil && i < int64(len(codes)); i = next.Add(1) - 1 {
				list[i], err = r.identifyOne(codes[i])
			}
			return err
		})
	}
	return list, group.Wait()
}

// identifyOne finds the name and the definition of a code.
func (r *Recording) identifyOne(c uint16) (*Code, error) {
	one, version := &Code{Name: NameOf(r.names, c)}, "*"
	if one.Name == "" {
		var n int
		if one.Name, n = r.log.Label(c); n > 0 {
			version = strconv.Itoa(n)
		}
	}
	if one.Name == "" {
		one.Name = strconv.Itoa(int(c))
	}
	err := r.define(one, version)
	one.named = `,"name":"` + one.Name + `"`
	if one.Table != nil {
		one.defined = `,"definition":"` + one.Table.Name() + `"`
		one.decoded = one.named + one.defined + `,"packet":`
	}
	return one, err
}

// define finds the definition of a code. It returns only errors of reading; a wrong
// definition is reported for each packet that needs it.
func (r *Recording) define(c *Code, version string) error {
	if r.lib == nil {
		return nil
	}
	i, err := r.lib.Choose(c.Name, version, r.opts.Patch)
	if errors.Is(err, protocol.ErrNoDefinition) && version != "*" {
		i, err = r.lib.Choose(c.Name, "*", r.opts.Patch)
	}
	if errors.Is(err, protocol.ErrNoDefinition) {
		return nil
	}
	if err == nil {
		c.Table, err = r.lib.Table(i, r.opts.Patch)
	}
	if isSyntax(err) {
		c.Err = err
		return nil
	}
	return err
}

// IsDamage reports whether err says that a packet of a log is broken, not just unreadable
// now.
func IsDamage(err error) bool {
	_, damage := errors.AsType[*capture.FormatError](err)
	return damage
}

func isSyntax(err error) bool {
	_, wrong := errors.AsType[*protocol.SyntaxError](err)
	return wrong
}
