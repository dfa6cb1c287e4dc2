package pack

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"sync"
	"sync/atomic"

	"lorefs/datacenter"
	"lorefs/datacenter/sheets/internal/infer"
	"lorefs/datacenter/sheets/internal/repeat"
	"lorefs/datacenter/sheets/internal/xmlsheet"
	"lorefs/datacenter/sheets/internal/xmltext"
	"lorefs/datacenter/sheets/xsd"
	"lorefs/internal/cores"
	"lorefs/internal/shown"
)

// survey is the result of reading all sheets: their names, the possible types of their
// values, and stand-ins for their nodes.
type survey struct {
	sheets map[sheetKey]*kind
	all    []*kind      // one for each name, whatever the schema
	kinds  []*kind      // all of sheets, by number
	found  []sheetFound // by the place of the file
	// readers are the stand-ins of all surveyors.
	readers []*standIns
	totals
}

// sheetKey identifies sheets of the same name and schema.
type sheetKey struct {
	sheet  string
	schema *xsd.Schema
}

// surveyor reads sheets for a survey. Each goroutine has one.
type surveyor struct {
	ctx            context.Context
	src            *Folder
	schemas        *schemaFiles
	like, template *elsewhere

	sheets map[sheetKey]*kind
	// found are the results by the place of the file. All surveyors share it, and each file
	// has one surveyor.
	found []sheetFound

	place uint64 // of the last name or layout among all
	// failed is the error of the template, which kinds ask.
	failed error
	open   []surveyed
	*standIns
	memory repeat.Memory[seen]
	// shape has the meaning of the shape of the start tag that comes next, if it was found by it, and values
	// has its values.
	shape  **layout
	values xmltext.Values
	stack  []byte // records of the children of the open nodes that have ended
	// attrs and bits are the attributes of the newest node. code is a buffer.
	attrs []layoutAttr
	bits  []uint32
	code  []byte
}

// seen is a node, with the size of all of it, or its start tag.
type seen struct {
	start uint32 // the tag without the text
	record
	size
}

// surveyed is an open node.
type surveyed struct {
	kind *kind
	tag  uint32
	from int  // where its children begin in the stack
	size size // so far
}

// sheetFound is the result of one sheet.
type sheetFound struct {
	key sheetKey
	// read has the stand-ins, and root is that of the sheet.
	read *standIns
	root seen
	// tags and texts are how many there were when the sheet had been read, and runs is the end of those then.
	tags, texts int
	runs        uint32
}

// elsewhere is a function's knowledge of sheets, asked once for each name.
type elsewhere struct {
	ask   func(sheet string) (*xsd.Schema, error) // nil if there is none
	known schemaSet
}

func (e *elsewhere) root(sheet string) (*xsd.ElementType, error) {
	if e.ask == nil {
		return nil, nil
	}
	schema, err := e.known.get(sheet, func() (*xsd.Schema, error) { return e.ask(sheet) })
	if err != nil {
		return nil, fmt.Errorf("sheets: what is known of %s: %w", shown.Quote(sheet), err)
	}
	return rootOf(schema), nil
}

// surveySheets reads all sheets on all processors.
func surveySheets(ctx context.Context, src *Folder, opts *Options, bar *progress) (*survey, error) {
	schemas := newSchemaFiles(src.fsys)
	like, template := &elsewhere{ask: opts.Like}, &elsewhere{ask: opts.Template}
	found := make([]sheetFound, len(src.files))
	surveyors := make([]*surveyor, min(cores.Count(), len(src.files)))
	for i := range surveyors {
		surveyors[i] = &surveyor{
			ctx: ctx, src: src, schemas: schemas, like: like, template: template, sheets: map[sheetKey]*kind{}, found: found,
			standIns: &standIns{},
		}
	}
	err := inParallel(len(surveyors), len(src.files), func(worker, i int) error {
		err := surveyors[worker].file(i)
		bar.add(src.files[i].size)
		return err
	})
	if err != nil {
		return nil, err
	}
	s := &survey{sheets: map[sheetKey]*kind{}, found: found}
	if err := s.count(src, found); err != nil {
		return nil, err
	}
	s.join(surveyors, found)
	return s, nil
}

// inParallel calls work for each of n numbers, by several workers, in order. It returns the
// error of the lowest number that has one.
func inParallel(workers, n int, work func(worker, i int) error) error {
	var (
		wg     sync.WaitGroup
		next   atomic.Int64
		failed atomic.Bool
		errs   = make([]error, workers)
		at     = make([]int, workers)
	)
	for w := range workers {
		wg.Go(func() {
			for !failed.Load() {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				if errs[w] = work(w, i); errs[w] != nil {
					at[w] = i
					failed.Store(true)
				}
			}
		})
	}
	wg.Wait()
	var first error
	for w, err := range errs {
		if err != nil && (first == nil || at[w] < n) {
			first, n = err, at[w]
		}
	}
	return first
}

// count adds up the results of the sheets.
func (s *survey) count(src *Folder, found []sheetFound) error {
	for i, f := range found {
		if err := s.add(int64(f.root.nodes), int64(f.root.attributes)); err != nil {
			return fmt.Errorf("sheets: %s: %w", src.files[i].path, err)
		}
	}
	return nil
}

// join merges the surveyors' results.
func (s *survey) join(surveyors []*surveyor, found []sheetFound) {
	var wg sync.WaitGroup
	for _, v := range surveyors {
		wg.Go(func() {
			v.memory = repeat.Memory[seen]{} // kinds may keep v for the template
			v.close(found)
		})
	}
	wg.Wait()
	for _, v := range surveyors {
		s.readers = append(s.readers, v.standIns)
		for key, p := range v.sheets {
			mine := s.sheets[key]
			if mine == nil {
				mine = newKind(p.name, p.types, p.order)
				mine.late, mine.asked = p.late, p.asked
				s.sheets[key] = mine
			}
			mine.merge(p)
		}
	}
	all := map[string]*kind{}
	for key, p := range s.sheets {
		if all[key.sheet] == nil {
			all[key.sheet] = newKind(p.name, known{}, p.order)
			s.all = append(s.all, all[key.sheet])
		}
		all[key.sheet].merge(p)
	}
	settled := map[sheetKey]bool{}
	for _, f := range found {
		if !settled[f.key] {
			settled[f.key] = true
			s.kinds = s.sheets[f.key].settle(s.kinds)
		}
	}
}

// besides returns an error if sheets have an unknown place among the omitted ones of their
// name: sheets of the name in another folder, and sheets of another name in the folder.
func (s *survey) besides(omitted map[string]string, src *Folder) error {
	names, folders := map[string]string{}, map[string]string{} // by each other
	for file, name := range omitted {
		names[path.Dir(file)], folders[name] = name, path.Dir(file)
	}
	for i, f := range s.found {
		file, name := src.files[i].path, f.key.sheet
		folder, mixed := folders[name]
		other, within := names[path.Dir(file)]
		if !mixed && !within {
			continue
		}
		if folder != path.Dir(file) || other != name {
			return fmt.Errorf("sheets: %s: %w", file, ErrOmitted)
		}
	}
	return nil
}

// names returns all names in the order that they get in the data center.
func (s *survey) names() []string { return nameOrder(s.all) }

// file reads sheet number i.
func (v *surveyor) file(i int) error {
	file := &v.src.files[i]
	if file.broken != nil {
		return file.broken
	}
	data, err := file.read(v.src.fsys, v.memory.Room(roomFor(file.size)))
	if err != nil {
		return err
	}
	p, err := xmlsheet.New(file.path, data)
	if err != nil {
		return err
	}
	v.memory.Sheet(p.Data())
	p.Recall(func(at int) (int, bool) { return v.recall(p.Data(), at) })
	v.place = uint64(i) << sheetShift
	v.open, v.stack = v.open[:0], v.stack[:0]
	v.found[i].read = v.standIns
	for steps := 0; ; steps++ {
		if steps%stepsBetweenChecks == 0 && v.ctx.Err() != nil {
			return fmt.Errorf("sheets: %w", v.ctx.Err())
		}
		event, err := p.Next()
		switch {
		case errors.Is(err, io.EOF):
			v.found[i].tags, v.found[i].runs, v.found[i].texts = len(v.order), v.runs.End(), len(v.textAt)
			return v.full(file.path)
		case err != nil:
			return err
		case event == xmlsheet.Begin:
			err = v.begin(p, file.path, &v.found[i])
		case event == xmlsheet.Whole:
			v.pass()
		default:
			v.end(p, &v.found[i])
		}
		if err != nil {
			return err
		}
	}
}

// stepsBetweenChecks is how many events pass between checks of the context.
const stepsBetweenChecks = 1 << 12

// full returns an error if the stand-ins take so much that another sheet may not have room.
func (v *surveyor) full(file string) error {
	const most = 1 << 31 // of 1 << 32 places
	if max(v.tags.End(), v.runs.End(), v.texts.End()) < most {
		return nil
	}
	return fmt.Errorf("sheets: %s: with it the sheets have too many different values: %w", file, datacenter.ErrTooLarge)
}

// begin takes a new node into account.
func (v *surveyor) begin(p *xmlsheet.Parser, file string, found *sheetFound) error {
	tag, group := v.memory.Known().start, v.group()
	recalled, plain := p.Recalled() && v.shape == nil, true
	var of *layout
	switch {
	case recalled:
		of = v.layoutOf(tag)
	case p.Recalled():
		of = v.reshape()
		tag = v.keep(of, v.bits)
	default:
		at, err := v.enter(p.Node(), file, found)
		if err != nil {
			return err
		}
		plain = p.Plain() != nil
		of = v.read(p, at)
		if v.failed != nil {
			return v.failed
		}
		tag = v.keep(of, v.bits)
	}
	from := p.Offset()
	v.memory.Begin(from, p.Behind()-from, group, recalled, plain, seen{start: tag})
	v.open = append(v.open, surveyed{of.kind, tag, len(v.stack), size{1, uint32(len(of.attrs))}})
	return nil
}

// group returns the group of the nodes that come next: one more than the number of their parent's kind, or 0
// for a sheet, which must not be taken for a child like it.
func (v *surveyor) group() uint32 {
	if len(v.open) == 0 {
		return 0
	}
	return v.open[len(v.open)-1].kind.number + 1
}

// pass takes a whole node into account that is like another.
func (v *surveyor) pass() {
	n := v.memory.Known()
	v.stack = n.append(v.stack)
	v.open[len(v.open)-1].size.add(n.size)
	v.memory.Pass()
}

// read returns the layout of a node, which it takes into account.
func (v *surveyor) read(p *xmlsheet.Parser, at *kind) *layout {
	n := p.Node()
	v.attrs, v.bits = v.attrs[:0], v.bits[:0]
	hint, wrong := 0, false
	for k := range n.Attributes {
		a := &n.Attributes[k]
		i := at.attr(a.Name, hint)
		if i < 0 {
			i = at.addAttr(string(a.Name), v.next())
		}
		hint = i + 1
		of := layoutAttr{place: uint16(i), typ: at.attrs[i].typ, stated: a.Type != 0}
		if of.stated {
			of.typ = a.Type
		}
		of.spelled = isSpelled(of.typ)
		wrong = v.value(&at.attrs[i], &of, a.Value) || wrong
		v.attrs = append(v.attrs, of)
	}
	switch {
	case n.HasKeys:
		at.addKeys(n.Keys)
	case !at.keyed:
		at.keyed = true
		at.addKeys(at.keys)
	}
	l := v.layout(at, n)
	if p.Plain() != nil && len(v.open) > 0 && !wrong {
		v.open[len(v.open)-1].kind.shapes.Add(p.Shape(), l)
	}
	return l
}

// reshape returns the layout of the start tag that was found by its shape, which it takes into account.
func (v *surveyor) reshape() *layout {
	l := *v.shape
	v.attrs, v.bits = append(v.attrs[:0], l.attrs...), v.bits[:0]
	wrong := false
	for k := range v.attrs {
		of := &v.attrs[k]
		wrong = v.value(&l.kind.attrs[of.place], of, v.values.List[k]) || wrong
	}
	if wrong {
		return v.layout(l.kind, &xmlsheet.Node{})
	}
	return l
}

// isSpelled reports whether values of a type, or of none, are kept as texts.
func isSpelled(t datacenter.Type) bool { return t == 0 || t == datacenter.String }

// value appends the bits of an attribute of the newest node. It reports whether the value is wrong, which is
// told as an error when the sheet is built. Then it is kept as a text.
func (v *surveyor) value(of *kindAttr, a *layoutAttr, value []byte) (wrong bool) {
	if !a.spelled {
		bits, err := infer.Number(a.typ, value)
		if err == nil {
			v.bits = append(v.bits, bits)
			return false
		}
		a.spelled, wrong = true, true
	}
	v.bits = append(v.bits, v.valueText(of, value))
	if !a.stated {
		of.learn(value)
	}
	return wrong
}

// layout returns the layout of the newest node.
func (v *surveyor) layout(at *kind, n *xmlsheet.Node) *layout {
	v.code = appendHead(v.code[:0], n)
	for _, a := range v.attrs {
		v.code = a.append(v.code)
	}
	if l := at.layouts[string(v.code)]; l != nil {
		return l
	}
	l := v.number(&layout{kind: at, order: v.next(), flags: n.Flags, attrs: slices.Clone(v.attrs)})
	if n.HasKeys {
		l.keys = slices.Clone(n.Keys)
	}
	if at.layouts == nil {
		at.layouts = map[string]*layout{}
	}
	at.layouts[string(v.code)] = l
	return l
}

// valueText returns the number of an attribute's value among the texts. Many are the same as the last one of
// their attribute.
func (v *surveyor) valueText(of *kindAttr, value []byte) uint32 {
	if of.last == 0 || !bytes.Equal(v.texts.At(of.last), value) {
		of.last, of.lastNumber = v.text(value)
	}
	return of.lastNumber
}

// recall finds a node that has been read before below the same parent, or a start tag that differs
// from one only in its values.
func (v *surveyor) recall(data []byte, at int) (length int, whole bool) {
	v.shape = nil
	if length, whole = v.memory.Find(at, v.group()); length > 0 {
		return length, whole
	}
	v.shape, length = v.open[len(v.open)-1].kind.shapes.Match(data[at:], &v.values)
	return length, false
}

// sheetShift is where the number of the sheet is in a place.
const sheetShift = 32

// next returns the place of a new name or layout among all.
func (v *surveyor) next() uint64 {
	v.place++
	return v.place
}

// enter returns the kind of a node.
func (v *surveyor) enter(n *xmlsheet.Node, file string, found *sheetFound) (*kind, error) {
	if len(v.open) > 0 {
		parent := v.open[len(v.open)-1].kind
		if c := parent.child(n.Name); c != nil {
			return c, nil
		}
		return v.list(parent.addChild(string(n.Name), v.next())), nil
	}
	sheet := string(n.Name)
	schema, err := v.schemas.of(file, sheet)
	if err != nil {
		return nil, err
	}
	found.key = sheetKey{sheet, schema}
	if at := v.sheets[found.key]; at != nil {
		return at, nil
	}
	types := known{bySchema: rootOf(schema)}
	if types[byLike], err = v.like.root(sheet); err != nil {
		return nil, err
	}
	late := v.template.ask != nil && types.first() != nil
	if !late {
		if types[byTemplate], err = v.template.root(sheet); err != nil {
			return nil, err
		}
	}
	at := v.list(newKind(sheet, types, v.next()))
	if late {
		at.late = func() *xsd.ElementType { return v.late(sheet) }
	}
	v.sheets[found.key] = at
	return at, nil
}

// late returns what the template knows of a sheet, or notes the error.
func (v *surveyor) late(sheet string) *xsd.ElementType {
	root, err := v.template.root(sheet)
	if err != nil && v.failed == nil {
		v.failed = err
	}
	return root
}

// end takes a node's text into account, and keeps the node.
func (v *surveyor) end(p *xmlsheet.Parser, found *sheetFound) {
	top := v.open[len(v.open)-1]
	v.open = v.open[:len(v.open)-1]
	n := seen{top.tag, record{tag: top.tag}, top.size}
	if text, ok := p.Text(); ok {
		n.attributes++
		if of := top.kind.types.held(); of != nil && !of.Text && !p.IsValue() {
			top.kind.texts++
			v.memory.Spoil() // each of them counts
		}
		_, number := v.text(text)
		n.tag = v.withText(top.tag, number)
	}
	v.use(n.tag)
	if children := v.stack[top.from:]; len(children) > 0 {
		n.children, _ = v.runs.Add(0, children)
	}
	v.memory.End(p.Behind(), n)
	v.stack = n.append(v.stack[:top.from])
	if len(v.open) > 0 {
		v.open[len(v.open)-1].size.add(n.size)
	}
	found.root = n // at last
}

// rootOf returns the type of a sheet, if there is a schema.
func rootOf(s *xsd.Schema) *xsd.ElementType {
	if s == nil {
		return nil
	}
	return s.Root
}
