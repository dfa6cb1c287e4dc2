package dbd

import (
	"slices"
	"strconv"
	"strings"

	"lorefs/casc/db2"
	"lorefs/casc/internal/format"
	"lorefs/internal/shown"
)

// Column is a column of all versions.
type Column struct {
	Name string
	Type db2.Type
	// Foreign is the column of another table whose values these are, such as Map::ID.
	Foreign string
	// Verified is not set if the name is a guess.
	Verified bool
	Comment  string
}

// Version is what a table is in some builds of the game.
type Version struct {
	Layouts []uint32
	Builds  []Build
	Ranges  []Range
	Comment string
	Columns []db2.Column
}

// Definition is what all versions of a table are.
type Definition struct {
	Columns  []Column
	Versions []Version
}

// ByLayout returns the version with a layout, or nil.
func (d *Definition) ByLayout(hash uint32) *Version {
	return d.find(func(v *Version) bool { return slices.Contains(v.Layouts, hash) })
}

// ByBuild returns the version that names a build, or else the first one with it in a range, or nil.
func (d *Definition) ByBuild(b Build) *Version {
	if v := d.find(func(v *Version) bool { return slices.Contains(v.Builds, b) }); v != nil {
		return v
	}
	return d.find(func(v *Version) bool {
		return slices.ContainsFunc(v.Ranges, func(r Range) bool { return r.Contains(b) })
	})
}

// ByNumber is ByBuild for a build of which only the last number is known.
func (d *Definition) ByNumber(n uint32) *Version {
	if v := d.find(func(v *Version) bool {
		return slices.ContainsFunc(v.Builds, func(b Build) bool { return b[3] == n })
	}); v != nil {
		return v
	}
	return d.find(func(v *Version) bool {
		return slices.ContainsFunc(v.Ranges, func(r Range) bool { return r.From[3] <= n && n <= r.To[3] })
	})
}

func (d *Definition) find(fits func(*Version) bool) *Version {
	for i := range d.Versions {
		if fits(&d.Versions[i]) {
			return &d.Versions[i]
		}
	}
	return nil
}

// name names the format in errors.
const name = format.Name("dbd")

// mostValues bounds the length of an array in a definition.
const mostValues = 1 << 13

// Parse reads a definition. Errors are of type [lorefs/casc.FormatError], with the offset of a line.
func Parse(data []byte) (*Definition, error) {
	if len(data) > format.MaxText {
		return nil, name.Bad(0, "%d bytes, more than the %d that a definition may have", len(data), format.MaxText)
	}
	p := parser{d: &Definition{}, types: map[string]db2.Type{}}
	for off, line := range format.Lines(data) {
		if off == 0 {
			line = strings.TrimPrefix(line, "\ufeff")
		}
		if what := p.line(strings.TrimSpace(line)); what != "" {
			return nil, name.Bad(off, "%s", what)
		}
	}
	if !p.begun {
		return nil, name.Bad(0, "no COLUMNS")
	}
	return p.d, nil
}

// parser reads one line after the other.
type parser struct {
	d     *Definition
	types map[string]db2.Type
	// begun is set behind COLUMNS, and version is nil up to the first version.
	begun   bool
	version *Version
	// open is set within a version.
	open bool
}

// line reads a line, and returns what is wrong with it.
func (p *parser) line(line string) (what string) {
	switch {
	case !p.begun && line == "COLUMNS":
		p.begun = true
		return ""
	case !p.begun && line != "":
		return "COLUMNS expected, not " + shown.Quote(line)
	case line == "":
		p.open = false
		if p.begun && p.version == nil && len(p.d.Columns) > 0 {
			p.version = &Version{} // what follows are versions
		}
		return ""
	case p.version == nil:
		return p.column(line)
	}
	if !p.open {
		p.open = true
		p.d.Versions = append(p.d.Versions, Version{})
		p.version = &p.d.Versions[len(p.d.Versions)-1]
	}
	return p.ofVersion(line)
}

// column reads a column of all versions.
func (p *parser) column(line string) string {
	line, comment, _ := strings.Cut(line, "//")
	c := Column{Comment: strings.TrimSpace(comment)}
	at := strings.IndexAny(line, "< ")
	if at < 0 {
		return "a type and a name expected, not " + shown.Quote(line)
	}
	kind, rest := line[:at], line[at:]
	switch kind {
	case "int", "uint":
		c.Type = db2.Int
	case "float":
		c.Type = db2.Float
	case "string":
		c.Type = db2.String
	case "locstring":
		c.Type = db2.LocString
	default:
		return "type int, float, string or locstring expected, not " + shown.Quote(kind)
	}
	if foreign, ok := strings.CutPrefix(rest, "<"); ok {
		if c.Foreign, rest, ok = strings.Cut(foreign, ">"); !ok {
			return "> expected in " + shown.Quote(line)
		}
	}
	guessed := false
	c.Name, guessed = strings.CutSuffix(strings.TrimSpace(rest), "?")
	c.Verified = !guessed
	if _, double := p.types[c.Name]; c.Name == "" || double {
		return "a new name expected, not " + shown.Quote(c.Name)
	}
	p.types[c.Name] = c.Type
	p.d.Columns = append(p.d.Columns, c)
	return ""
}

// ofVersion reads a line of a version.
func (p *parser) ofVersion(line string) string {
	word, rest, _ := strings.Cut(line, " ")
	switch word {
	case "LAYOUT":
		for one := range strings.SplitSeq(rest, ",") {
			hash, ok := ParseLayout(strings.TrimSpace(one))
			if !ok {
				return "8 hexadecimal digits expected, not " + shown.Quote(one)
			}
			p.version.Layouts = append(p.version.Layouts, hash)
		}
		return ""
	case "BUILD":
		for one := range strings.SplitSeq(rest, ",") {
			if !p.build(strings.TrimSpace(one)) {
				return "a build or a range expected, such as 9.0.1.10000-9.0.5.12000, not " + shown.Quote(one)
			}
		}
		return ""
	case "COMMENT":
		p.version.Comment = rest
		return ""
	}
	return p.ofColumn(line)
}

func (p *parser) build(text string) bool {
	from, to, isRange := strings.Cut(text, "-")
	a, ok := ParseBuild(from)
	if !isRange {
		p.version.Builds = append(p.version.Builds, a)
		return ok
	}
	b, okTo := ParseBuild(to)
	p.version.Ranges = append(p.version.Ranges, Range{a, b})
	return ok && okTo
}

// ofColumn reads a column of a version.
func (p *parser) ofColumn(line string) string {
	text, _, _ := strings.Cut(line, "//")
	text = strings.TrimSpace(text)
	c := db2.Column{Inline: true}
	if marks, ok := strings.CutPrefix(text, "$"); ok {
		if marks, text, ok = strings.Cut(marks, "$"); !ok {
			return "a second $ expected in " + shown.Quote(line)
		}
		for mark := range strings.SplitSeq(marks, ",") {
			switch mark {
			case "id":
				c.ID = true
			case "relation":
				c.Relation = true
			case "noninline":
				c.Inline = false
			default:
				return "id, relation or noninline expected, not " + shown.Quote(mark)
			}
		}
	}
	text, length, isArray := strings.Cut(text, "[")
	text, size, isSized := strings.Cut(text, "<")
	c.Name = text
	kind, known := p.types[text]
	if !known {
		return "a column expected that COLUMNS has, not " + shown.Quote(text)
	}
	c.Type = kind
	if isArray && !number(length, "]", mostValues, &c.Array) {
		return "the length of an array expected, not " + shown.Quote(length)
	}
	if isSized {
		digits, unsigned := strings.CutPrefix(size, "u")
		c.Signed = !unsigned
		if !number(digits, ">", 64, &c.Bits) || c.Bits%8 != 0 {
			return "a size of 8, 16, 32 or 64 bits expected, not " + shown.Quote(size)
		}
	}
	p.version.Columns = append(p.version.Columns, c)
	return ""
}

// number reads a number from 1 to most, which something follows.
func number(text, end string, most int, n *int) bool {
	digits, ok := strings.CutSuffix(text, end)
	v, err := strconv.Atoi(digits)
	*n = v
	return ok && err == nil && v >= 1 && v <= most
}

// ParseLayout reads the hash of a layout, as definitions spell it.
func ParseLayout(text string) (uint32, bool) {
	v, err := strconv.ParseUint(text, 16, 32)
	return uint32(v), err == nil && len(text) == 8 && text == strings.ToUpper(text)
}
