package protocol

import (
	"fmt"
	"slices"
	"strconv"
)

// Lengths in bytes.
const (
	// MaxPacket is the length of the longest packet, since lengths have 16 bits.
	MaxPacket = 65535

	headerSize  = 4 // length and code
	paddingSize = 8 // counter and checksum
	linkSize    = 4 // here and next of an array's element
)

// Options say how packets of a definition are read and written. The zero value reads every
// dialect, at the newest patch.
type Options struct {
	// Patch decides which fields exist, and how long skill ids are. 0 is the newest.
	Patch Patch
	// Inline says that definitions without listed pointers have them at the places of their
	// fields. By default the definition's text decides. It can't if all strings, bytes and
	// arrays stand last; then pointers come first, as in all public definitions and real
	// packets.
	Inline bool
	// Padded packets have a counter and a checksum behind the header, 8 bytes; see [Names].
	Padded bool
	// Strict refuses what can be read but is never written by a server or client: a wrong
	// length in the header, a bool that is not 0 or 1, and bytes that belong to no field or
	// to two.
	Strict bool
	// EmptyBytesNull gives empty bytes the offset 0, as Alkahest and TERA Arise do, instead
	// of the place where their content would be.
	EmptyBytesNull bool
}

// Table is a definition compiled for reading and writing packets. It is immutable and safe
// for parallel use.
type Table struct {
	opts    Options
	body    scope
	name    string
	guessed []guess
}

// scope is a packet's body or an element of an array: a part of fixed size, then the data
// that its pointers lead to. Every field has a fixed place.
type scope struct {
	head int // bytes before the first field
	size int // of the fixed part, head included
	// text is how many bytes of JSON its names take each time that it occurs.
	text int
	// root holds the fields, as if the scope were an object.
	root *member
	// bare is set if an element is the value of the only member, not an object: array<T>.
	bare bool
	// values is how many members its values take, without those of arrays.
	values int
	// json makes the fields JSON.
	json *program
	// data are the members with data behind the fixed part, in its order. The elements of
	// one group alternate.
	data [][]*member
	// guessed lists the fields whose place is a guess, if the dialect is one.
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
	// members are the members of an object, in the order of their lines; named finds them
	// by name.
	members []*member
	named   map[string]*member
	initial Value // encoded for a missing value
}

// Compile makes a table of a definition. An error is a [*SyntaxError] and names the bad
// line.
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
		t.setGuessed(body.guessed)
	} else {
		t.setGuessed(nil)
	}
	return t, nil
}

// setGuessed sets which fields are guesses, and prepares the table for reading. The JSON of each
// packet names them.
func (t *Table) setGuessed(list []guess) {
	t.guessed = list
	t.body.finish(string(t.appendGuessed(nil)) + `,"data":`)
}

// Name returns NAME.VERSION of the definition.
func (t *Table) Name() string { return t.name }

type compiler struct {
	opts    Options
	dialect dialect
	depth   int
	// twice counts how often a name was taken.
	twice map[nameIn]int
	// objects are those that have begun, by their name in the definition.
	objects map[nameIn]*member
}

// flat is a field of a scope without the objects around it.
type flat struct {
	field *Field
	typ   Type
	path  string
	m     *member
}

// scope compiles the fields of a packet or an element. head is the number of bytes before
// them.
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

// finish prepares a compiled scope for reading. text is what comes before its JSON.
func (s *scope) finish(text string) {
	m := s.root
	if s.bare {
		m = m.members[0]
	}
	s.json, s.values = newProgram(m, text), m.values()
}

// flattener lists the fields of a scope in the order of their lines, and makes the members
// of its objects. A second object of one name continues the first.
type flattener struct {
	c     *compiler
	flats []flat
	// targets are the paths of the fields that pointers may lead to.
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
		if f.Name != "" { // elements have no name
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

// prune drops objects without fields at this patch. They take no bytes, so a packet could
// claim any number of them. No public definition has one.
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

// findTargets lists the fields that the lines of a scope may point to.
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

// object returns the member of an object that f begins or continues.
func (c *compiler) object(in *member, f *Field) *member {
	key := nameIn{in, f.Name}
	if o := c.objects[key]; o != nil {
		return o // may have a number, if a field had its name
	}
	o := &member{name: f.Name, typ: TypeObject}
	c.add(in, o)
	c.objects[key] = o
	return o
}

// member compiles a field that is no object. It does not set its place.
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
		// S_USER_PAPERDOLL_INFO lists the pointer of an array that it does not describe.
		// Its two bytes exist all the same.
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
		fields[0].Patches = PatchRange{} // an element exists if its array does
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
	m.elem.finish("")
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

// fieldError returns an error in the line of a field.
func fieldError(f *Field, format string, args ...any) error {
	return &SyntaxError{Diagnostics: []Diagnostic{{File: f.File, Line: f.Line, Text: fmt.Sprintf(format, args...)}}}
}
