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

// Session is a log with what is known of its packets. It is immutable and safe for
// parallel use.
type Session struct {
	log  *capture.Log
	lib  *protocol.Library
	opts Options
	// names is the map that codes were named by, nil if there is none.
	names *protocol.Map
	codes map[uint16]*Code
	// sorted holds the codes by name.
	sorted []uint16
}

// Code is what is known of the packets of one operation code.
type Code struct {
	// Name is that of the packet, or the code in digits.
	Name string
	// Table reads the packets; nil without a definition that can be used.
	Table *protocol.Table
	// Err is why a definition that is there cannot be used.
	Err error
}

// Options are what New may be told. The zero value is right.
type Options struct {
	// Revision is the client revision. Default: what the log says.
	Revision string
	// Patch is the version of the game. Default: what the library's revisions.json
	// says of the revision, or else the newest.
	Patch protocol.Patch
}

// fixedNames are the codes that no revision has changed.
var fixedNames = map[uint16]string{19900: "C_CHECK_VERSION", 19901: "S_CHECK_VERSION"}

// NameOf returns the name of the packets of a code by a map, which may be nil; empty if
// nobody knows. A name that is longer than [capture.MaxName] is none.
func NameOf(m *protocol.Map, code uint16) string {
	if m != nil {
		if name, ok := m.Name(uint32(code)); ok && len(name) <= capture.MaxName {
			return name
		}
	}
	return fixedNames[code]
}

// New finds the name and the definition of each code that a log has. lib may be nil:
// then no packet has a definition.
//
// An error is one of reading, or of the map that names the packets.
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

// Revision returns the client revision that the packets are named by, empty if nobody said.
func (s *Session) Revision() string { return s.opts.Revision }

// Map returns the map that the packets are named by, nil if none is.
func (s *Session) Map() *protocol.Map { return s.names }

// MapFile returns the name of its file, empty if there is none.
func (s *Session) MapFile() string {
	if s.names == nil {
		return ""
	}
	return s.names.File
}

// Codes lists the operation codes that the log has, by the names of their packets.
func (s *Session) Codes() []uint16 { return slices.Clip(s.sorted) }

// Code returns what is known of a code that the log has; nil for any other.
func (s *Session) Code(code uint16) *Code { return s.codes[code] }

// findNames returns the map of the revision, and finds out the patch. The map is
// nil if there is none.
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

// define finds the definition of a code. Only reading errors are returned: a
// definition that is wrong is told by each packet that needs it.
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

// IsDamage reports whether err says that a packet of a log is broken, and not just
// unreadable now.
func IsDamage(err error) bool {
	_, damage := errors.AsType[*capture.FormatError](err)
	return damage
}

func isSyntax(err error) bool {
	_, wrong := errors.AsType[*protocol.SyntaxError](err)
	return wrong
}
