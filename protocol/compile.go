package protocol

import (
	"fmt"
	"slices"
	"strconv"
)

// Lengths in bytes.
const (
	// MaxPacket is the longest that a packet can be: its length has 16 bits.
	MaxPacket = 65535

	headerSize  = 4 // length and code
	paddingSize = 8 // counter and checksum
	linkSize    = 4 // here and next of an array's element
)

// Options tell how packets of a definition are read and written. The zero value
// reads every dialect, at the newest patch.
type Options struct {
	// Patch decides which fields exist, and how long skill ids are. 0 is the
	// newest.
	Patch Patch
	// Inline says that definitions which list no pointers have them at the places of
	// their fields. By default this is found out for each definition. It cannot be for
	// one whose strings, bytes and arrays all stand last: its pointers are taken to come
	// first, as in all public definitions and real packets.
	Inline bool
	// Padded packets have a counter and a checksum behind the header, 8 bytes; see
	// [Names].
	Padded bool
	// Strict refuses what can be read but no server or client writes: a wrong
	// length in the header, a bool that is not 0 or 1, bytes that belong to no
	// field or to two.
	Strict bool
	// EmptyBytesNull gives bytes without content the offset 0, as Alkahest and
	// TERA Arise write it, instead of the place where the content would be.
	EmptyBytesNull bool
}

// Table is a definition made ready to read and write packets. It is immutable
// and safe for parallel use.
type Table struct {
	opts    Options
	body    scope
	name    string
	guessed []guess
}

// scope is a packet's body or an element of an array: a part of fixed size, then
// what its pointers lead to. Every field of it has a fixed place.
type scope struct {
	head int // bytes before the first field
	size int // of the fixed part, head included
	// text is how many bytes of JSON the names in it take, each time that it is there.
	text int
	// root holds the fields, as if the scope were an object.
	root *member
	// bare says that there is one member, and that an element is its value and not
	// an object: array<T>.
	bare bool
	// data are the members that lie behind the fixed part, in their order there.
	// Those of one group have their elements in turns.
	data [][]*member
	// guessed lists the fields that are read by a guess, if the dialect is one.
	guessed []guess
}

// member is a field of a scope or of an object.
type member struct {
	name string
	key  string // the name as JSON, with a colon
	path string // the name in the scope, with the objects it is in
	typ  Type
	at   int // offset in the scope: of the value, or of a pointer's offset
	// countAt is the offset of a pointer's count.
	countAt int
	elem    *scope  // of an array
	item    *member // of T[n]; its at counts from the start of the item
	stride  int     // size of an item
	n       int     // number of items
	// members are those of an object, in the order of their lines; named leads
	// to them.
	members []*member
	named   map[string]*member
	initial Value // what is encoded for a missing value; nil is zero
}

// Compile makes a table of a definition. An error names the line that cannot be
// made sense of; it is a [*SyntaxError].
func Compile(d *Definition, opts Options) (*Table, error) {
	t := &Table{opts: opts, name: FileName{Name: d.Name, Version: d.Version, Platform: d.Platform}.String()}
	look := looksOf(d)
	c := compiler{opts: opts, dialect: look.dialect(), twice: make(map[nameIn]int), objects: make(map[nameIn]*member)}
	if opts.Inline && c.dialect == hoisted {
		c.dialect = inline
	}
	head := headerSize
	if opts.Padded {
		head += paddingSize
	}
	body, err := c.scope(d.Fields, head)
	if err != nil {
		return nil, err
	}
	t.body = *body
	if c.dialect == inline && !opts.Inline && !look.extended {
		t.guessed = body.guessed
	}
	return t, nil
}

// Name is NAME.VERSION of the definition.
func (t *Table) Name() string { return t.name }

type compiler struct {
	opts    Options
	dialect dialect
	depth   int
	// twice counts how often a name was taken.
	twice map[nameIn]int
	// objects are those that were begun, by the name in the definition.
	objects map[nameIn]*member
}

// flat is a field of a scope with the objects around it taken off.
type flat struct {
	field *Field
	typ   Type
	path  string
	m     *member
}

// scope compiles the fields of a packet or an element. head is how many bytes
// come before them.
func (c *compiler) scope(fields []Field, head int) (*scope, error) {
	s := &scope{head: head, size: head, root: &member{typ: TypeObject}}
	list := flattener{c: c, targets: make(map[string]bool)}
	list.findTargets(fields, "", 0)
	if err := list.flatten(s.root, fields, ""); err != nil {
		return nil, err
	}
	s.root.prune()
	s.text = s.root.text()
	flats := list.flats
	place := c.placeHoisted
	switch c.dialect {
	case listed:
		place = c.placeAsListed
	case inline:
		place = c.placeInline
		s.guessed = guesses(flats)
	}
	if err := place(s, flats); err != nil {
		return nil, err
	}
	s.group(flats)
	return s, nil
}

// flattener lists the fields of a scope in the order of their lines, and makes
// the members of its objects. A second object of a name goes on with the first.
type flattener struct {
	c     *compiler
	flats []flat
	// targets are the paths of the fields that can be pointed to.
	targets map[string]bool
}

// flatten adds the fields of one object.
func (l *flattener) flatten(into *member, fields []Field, path string) error {
	c := l.c
	c.depth++
	defer func() { c.depth-- }()
	for i := range fields {
		f := &fields[i]
		if c.depth > 2*maxNesting {
			return fieldError(f, "fields are nested deeper than %d", maxNesting)
		}
		if f.Name != "" { // elements have none
			if err := checkFieldName(f.Name); err != nil {
				return fieldError(f, "%v", err)
			}
		}
		if !f.Patches.Contains(c.opts.Patch) {
			continue
		}
		switch {
		case f.Type == TypeObject:
			if err := l.flatten(c.object(into, f), f.Fields, path+f.Name+"."); err != nil {
				return err
			}
			continue
		case f.Type == TypeRef, f.Type.pointer() && l.targets[path+f.Name]:
			l.flats = append(l.flats, flat{field: f, typ: f.Type, path: path + f.Name})
			continue
		}
		m, err := c.member(f)
		if err != nil {
			return err
		}
		c.add(into, m)
		m.path = path + m.name
		l.flats = append(l.flats, flat{field: f, typ: m.typ, path: path + f.Name, m: m})
	}
	return nil
}

// prune drops the objects that have no fields, at this patch at least: nothing in a packet
// says that they are there, so they could be more than it has bytes. No public definition
// has one.
func (m *member) prune() {
	m.members = slices.DeleteFunc(m.members, func(sub *member) bool {
		sub.prune()
		empty := sub.typ == TypeObject && len(sub.members) == 0
		if empty {
			delete(m.named, sub.name)
		}
		return empty
	})
}

// text returns how many bytes of JSON the names in an object take.
func (m *member) text() int {
	n := len("{}")
	for _, sub := range m.members {
		n += len(sub.key) + len(",") + sub.text()
	}
	return n
}

// findTargets lists what the lines of a scope can point to.
func (l *flattener) findTargets(fields []Field, path string, depth int) {
	for i := range fields {
		f := &fields[i]
		if f.Type == TypeObject && depth <= maxNesting {
			l.findTargets(f.Fields, path+f.Name+".", depth+1)
		}
		if f.Type.variable() && f.Patches.Contains(l.c.opts.Patch) {
			l.targets[path+f.Name] = true
		}
	}
}

// add appends a member under its name, or with a number if the name is taken.
func (c *compiler) add(to, sub *member) {
	if to.named == nil {
		to.named = make(map[string]*member)
	}
	if to.named[sub.name] != nil {
		base := nameIn{to, sub.name}
		c.twice[base]++
		sub.name += twiceMark + strconv.Itoa(c.twice[base]+1)
	}
	sub.key = strconv.Quote(sub.name) + ":"
	to.named[sub.name] = sub
	to.members = append(to.members, sub)
}

// nameIn is a name in an object.
type nameIn struct {
	object *member
	name   string
}

// object returns the member of an object that f begins or goes on with.
func (c *compiler) object(in *member, f *Field) *member {
	key := nameIn{in, f.Name}
	if o := c.objects[key]; o != nil {
		return o // also one that has a number, as a field had its name
	}
	o := &member{name: f.Name, typ: TypeObject}
	c.add(in, o)
	c.objects[key] = o
	return o
}

// member compiles a field that is no object. Its place is still open.
func (c *compiler) member(f *Field) (m *member, err error) {
	m = &member{name: f.Name, typ: f.Type, countAt: -1, at: -1}
	if f.Type == TypeSkillID && c.opts.Patch != 0 && c.opts.Patch < patch74 {
		m.typ = TypeSkillID32
	}
	switch {
	case f.Type == TypeArray:
		return m, c.array(m, f)
	case f.Type == TypeFixed:
		return m, c.fixed(m, f)
	case f.Type.variable():
		return m, nil
	case f.Type == TypeCount || f.Type == TypeOffset:
		// S_USER_PAPERDOLL_INFO lists the pointer of an array that it does not
		// describe. The two bytes of each line are there, whatever they lead to.
		m.name += twiceMark + f.Type.String()
		m.typ, m.stride = TypeUint16, 2
		return m, nil
	case !f.Type.scalar():
		return nil, fieldError(f, "%v is no type of a field", f.Type)
	}
	if m.initial, err = f.defaultValue(); err != nil {
		return nil, fieldError(f, "%v", err)
	}
	m.stride = types[m.typ].size
	return m, nil
}

func (c *compiler) array(m *member, f *Field) (err error) {
	fields := f.Fields
	if f.Elem != nil {
		if f.Elem.Type.pointer() || f.Elem.Type == TypeObject {
			return fieldError(f, "%v cannot be an element type", f.Elem.Type)
		}
		fields = []Field{*f.Elem}
		fields[0].Patches = PatchRange{} // an element is there if its array is
	}
	sub := *c
	if f.Elem != nil {
		sub.dialect = hoisted // the pointers of array<string> have no line to stand in
	}
	if sub.depth++; sub.depth > 2*maxNesting {
		return fieldError(f, "fields are nested deeper than %d", maxNesting)
	}
	if m.elem, err = sub.scope(fields, linkSize); err != nil {
		return err
	}
	m.elem.bare = f.Elem != nil
	return nil
}

func (c *compiler) fixed(m *member, f *Field) (err error) {
	if c.depth++; c.depth > 2*maxNesting || f.Elem == nil || f.Len < 1 || f.Len > MaxPacket {
		return fieldError(f, "%v is no type", f)
	}
	defer func() { c.depth-- }()
	if m.item, err = c.member(f.Elem); err != nil {
		return err
	}
	if m.item.stride == 0 {
		return fieldError(f, "%v: want elements of fixed size", f)
	}
	m.item.at = 0
	m.n = f.Len
	m.stride = m.item.stride * m.n
	if m.stride > MaxPacket {
		return fieldError(f, "%v is longer than a packet", f)
	}
	return nil
}

// fieldError is an error in the line of a field.
func fieldError(f *Field, format string, args ...any) error {
	return &SyntaxError{Diagnostics: []Diagnostic{{File: f.File, Line: f.Line, Text: fmt.Sprintf(format, args...)}}}
}
