package dissect

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"strings"

	"lorefs/protocol"
	"lorefs/protocol/capture"
)

// Session is a log with the names and definitions of its packets. It is immutable and safe
// for parallel use.
type Session struct {
	log  *capture.Log
	lib  *protocol.Library
	opts Options
	// names is the map of codes, nil if there is none.
	names *protocol.Map
	codes map[uint16]*Code
	// sorted holds the codes by name.
	sorted []uint16
}

// Code describes the packets of one operation code.
type Code struct {
	// Name is the name of the packet, or the code in digits.
	Name string
	// Table reads the packets; nil without a usable definition.
	Table *protocol.Table
	// Err says why an existing definition can't be used.
	Err error
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
func New(log *capture.Log, lib *protocol.Library, opts Options) (*Session, error) {
	if opts.Revision == "" {
		opts.Revision = log.Info().Revision
	}
	s := &Session{log: log, lib: lib, opts: opts, codes: make(map[uint16]*Code)}
	var err error
	if s.names, err = s.findNames(); err != nil {
		return nil, err
	}
	for i := range log.Len() {
		c := log.Code(i)
		if s.codes[c] != nil {
			continue
		}
		if s.codes[c], err = s.identify(c); err != nil {
			return nil, err
		}
		s.sorted = append(s.sorted, c)
	}
	slices.SortFunc(s.sorted, func(a, b uint16) int {
		return cmp.Or(strings.Compare(s.codes[a].Name, s.codes[b].Name), int(a)-int(b))
	})
	return s, nil
}

// Log returns the log.
func (s *Session) Log() *capture.Log { return s.log }

// Patch returns the version of the game that packets are read by, 0 for the newest.
func (s *Session) Patch() protocol.Patch { return s.opts.Patch }

// Revision returns the client revision that the packets are named by, or "".
func (s *Session) Revision() string { return s.opts.Revision }

// Map returns the map that the packets are named by, or nil.
func (s *Session) Map() *protocol.Map { return s.names }

// MapFile returns the name of the map's file, or "".
func (s *Session) MapFile() string {
	if s.names == nil {
		return ""
	}
	return s.names.File
}

// Codes returns the operation codes in the log, sorted by the names of their packets.
func (s *Session) Codes() []uint16 { return slices.Clip(s.sorted) }

// Code returns the description of a code in the log, or nil.
func (s *Session) Code(code uint16) *Code { return s.codes[code] }

// findNames returns the map of the revision, or nil, and sets the patch.
func (s *Session) findNames() (*protocol.Map, error) {
	if s.lib == nil {
		return nil, nil
	}
	if r, ok := s.lib.Revisions[s.opts.Revision]; ok && s.opts.Patch == 0 {
		s.opts.Patch = r.Patch
	}
	i, ok := s.lib.FindMap("protocol", s.opts.Revision)
	if !ok {
		return nil, nil
	}
	return s.lib.Map(i)
}

// identify finds the name and the definition of a code.
func (s *Session) identify(c uint16) (*Code, error) {
	one, version := &Code{Name: NameOf(s.names, c)}, "*"
	if one.Name == "" {
		var n int
		if one.Name, n = s.log.Label(c); n > 0 {
			version = strconv.Itoa(n)
		}
	}
	if one.Name == "" {
		one.Name = strconv.Itoa(int(c))
	}
	return one, s.define(one, version)
}

// define finds the definition of a code. It returns only errors of reading; a wrong
// definition is reported for each packet that needs it.
func (s *Session) define(c *Code, version string) error {
	if s.lib == nil {
		return nil
	}
	i, err := s.lib.Choose(c.Name, version, s.opts.Patch)
	if errors.Is(err, protocol.ErrNoDefinition) && version != "*" {
		i, err = s.lib.Choose(c.Name, "*", s.opts.Patch)
	}
	if errors.Is(err, protocol.ErrNoDefinition) {
		return nil
	}
	if err == nil {
		c.Table, err = s.lib.Table(i, s.opts.Patch)
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
