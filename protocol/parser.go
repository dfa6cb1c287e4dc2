package protocol

import (
	"fmt"
	"strings"
)

// Limits of one definition. The largest public one has 14 KiB and 252 fields.
const (
	maxDefinition = 1 << 20
	maxFields     = 10_000
	maxIncludes   = 5 // in each other, as in the reference
)

// ParseOptions are the options of Parse.
type ParseOptions struct {
	// Include reads the file of an @include line; its name has no folder. Default: @include
	// is an error.
	Include func(file string) ([]byte, error)
}

// Parse reads a definition. name is the file's name without folders. It gives the packet's
// name, version and platform; if it does not have the form of a [FileName] it is the
// packet's name.
//
// The error is a [*SyntaxError] with every line that can't be read. The reference reader
// skips such lines, and then reads every packet wrong.
func Parse(name string, src []byte, opts ParseOptions) (*Definition, error) {
	d := &Definition{Name: strings.TrimSuffix(name, ".def"), Fields: []Field{}}
	if n, ok := ParseFileName(name); ok {
		d.Name, d.Version, d.Platform = n.Name, n.Version, n.Platform
	}
	p := parser{def: d, opts: opts}
	p.file(name, src, 0)
	p.warnTwice("", d.Fields)
	p.warnEmpty("", d.Fields)
	d.Warnings = p.warnings
	if err := p.errs.err(); err != nil {
		return nil, err
	}
	return d, nil
}

type parser struct {
	def            *Definition
	opts           ParseOptions
	errs, warnings diagnostics
	fields, bytes  int

	// open holds the lists that a line of depth 0, 1, 2… is added to. A line that has
	// nothing below it closes the deeper ones.
	open []*[]Field
}

// file reads the definition or a file that it includes.
func (p *parser) file(name string, src []byte, including int) {
	// Each file may include several others, so a short chain could unfold to a huge text:
	// bound the total.
	if p.bytes += len(src) + 1; p.bytes > maxDefinition {
		p.errs.addf(name, 1, "more than %d bytes, with what is included", maxDefinition)
		return
	}
	p.open = []*[]Field{&p.def.Fields}
	num := 0
	for text := range strings.Lines(string(src)) {
		num++
		code, comment, has := splitComment(text)
		if code == "" {
			if r, ok := parsePatchComment(comment); ok && has {
				p.patches(name, num, r, including)
			}
			continue
		}
		l, err := lexLine(code)
		if err != nil {
			p.errs.addf(name, num, "%v", err)
			continue
		}
		l.field.File, l.field.Line = name, num
		l.field.Comment = strings.ToValidUTF8(comment, "\ufffd")
		if l.include != "" {
			p.include(l, including)
			continue
		}
		if err := p.add(l); err != nil {
			p.errs.addf(name, num, "%v", err)
		}
		if p.fields > maxFields {
			p.errs.addf(name, num, "more than %d fields", maxFields)
			return
		}
	}
}

// patches takes over a patch comment, but not from an included file.
func (p *parser) patches(name string, num int, r PatchRange, including int) {
	switch {
	case including > 0:
	case p.def.Patches != PatchRange{} && p.def.Patches != r:
		p.warnings.addf(name, num, "a second range of patches, the first counts")
	default:
		p.def.Patches = r
	}
}

func (p *parser) include(l line, including int) {
	fail := func(format string, args ...any) {
		p.errs.addf(l.field.File, l.field.Line, "@include %s: "+format, append([]any{l.include}, args...)...)
	}
	if including >= maxIncludes {
		fail("files include each other deeper than %d", maxIncludes)
		return
	}
	if p.opts.Include == nil {
		fail("nothing can be included here")
		return
	}
	src, err := p.opts.Include(l.include)
	if err != nil {
		fail("%v", err)
		return
	}
	p.def.includes = true
	p.file(l.include, src, including+1)
	p.open = p.open[:1] // what follows can't be below a field of that file
}

// add adds a field to the tree.
func (p *parser) add(l line) error {
	if l.depth > maxNesting {
		return fmt.Errorf("fields are nested deeper than %d", maxNesting)
	}
	if l.depth >= len(p.open) {
		return fmt.Errorf("%d times \"-\", but the line before has no fields below it", l.depth)
	}
	p.fields++
	list := p.open[l.depth]
	*list = append(*list, l.field)
	p.open = p.open[:l.depth+1]
	f := &(*list)[len(*list)-1]
	if f.Type == TypeObject || f.Type == TypeArray && f.Elem == nil {
		p.open = append(p.open, &f.Fields)
	}
	return nil
}

// warnTwice warns of names that occur twice in an object. The second part of an object does
// not count.
func (p *parser) warnTwice(path string, fields []Field) {
	first := make(map[string]*Field, len(fields))
	for i := range fields {
		f := &fields[i]
		p.warnTwice(path+f.Name+".", f.Fields)
		if f.Type.pointer() {
			continue
		}
		other := first[f.Name]
		if other == nil {
			first[f.Name] = f
			continue
		}
		if bothObjects := f.Type == TypeObject && other.Type == TypeObject; !bothObjects && f.Patches.overlaps(other.Patches) {
			p.warnings.addf(f.File, f.Line, "%s%s was there before, in line %d: it is shown with a number behind its name", path, f.Name, other.Line)
		}
	}
}

// warnEmpty warns of objects without fields.
func (p *parser) warnEmpty(path string, fields []Field) {
	for i := range fields {
		f := &fields[i]
		if f.Type == TypeObject && len(f.Fields) == 0 {
			p.warnings.addf(f.File, f.Line, "object %s%s has no fields: it is left out", path, f.Name)
		}
		p.warnEmpty(path+f.Name+".", f.Fields)
	}
}

// twiceMark stands between a duplicate name and its number, from 2 on. It begins a comment
// in a definition, so no name has it.
const twiceMark = "#"
