package pack

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"runtime"
	"sync"
	"sync/atomic"

	"lorefs/datacenter/sheets/internal/xmlsheet"
	"lorefs/datacenter/sheets/xsd"
	"lorefs/internal/shown"
)

// survey is the result of reading all sheets: their names, the possible types of their
// values, and stand-ins for their nodes.
type survey struct {
	sheets map[sheetKey]*kind
	all    []*kind      // one for each name, whatever the schema
	kinds  []*kind      // all of sheets, by number
	found  []sheetFound // by the place of the file
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
	src            *sheetFiles
	schemas        *schemaFiles
	like, template *elsewhere

	sheets map[sheetKey]*kind
	// found are the results by the place of the file. All surveyors share it, and each file
	// has one surveyor.
	found []sheetFound

	buf   []byte
	order uint64
	// failed is the error of the template, which kinds ask.
	failed error
	open   []surveyed
	*standIns
	recent recentTags
	stack  []byte // records of the children of the open nodes that have ended
	code   []byte // a buffer
}

// surveyed is an open node.
type surveyed struct {
	kind *kind
	tag  uint32
	from int // where its children begin in the stack
}

// sheetFound is the result of one sheet.
type sheetFound struct {
	key               sheetKey
	nodes, attributes int64
	// read has the stand-ins, and root is that of the sheet.
	read *standIns
	root record
	// tags and runs are how many of these stand-ins there were when the sheet had been read.
	tags, runs uint32
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
func surveySheets(ctx context.Context, src *sheetFiles, opts *Options, bar *progress) (*survey, error) {
	schemas := newSchemaFiles(src.fsys)
	like, template := &elsewhere{ask: opts.Like}, &elsewhere{ask: opts.Template}
	found := make([]sheetFound, len(src.files))
	surveyors := make([]*surveyor, min(runtime.GOMAXPROCS(0), len(src.files)))
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
func (s *survey) count(src *sheetFiles, found []sheetFound) error {
	for i, f := range found {
		if err := s.add(f.nodes, f.attributes); err != nil {
			return fmt.Errorf("sheets: %s: %w", src.files[i].path, err)
		}
	}
	return nil
}

// join merges the surveyors' results.
func (s *survey) join(surveyors []*surveyor, found []sheetFound) {
	for _, v := range surveyors {
		v.close()
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
func (s *survey) besides(omitted map[string]string, src *sheetFiles) error {
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
	file := v.src.files[i].path
	if broken := v.src.files[i].broken; broken != nil {
		return broken
	}
	var err error
	if v.buf, err = readFile(v.src.fsys, file, v.buf); err != nil {
		return err
	}
	p, err := xmlsheet.New(file, v.buf)
	if err != nil {
		return err
	}
	p.Recall(v.recall)
	v.order = uint64(i) << 32
	v.open, v.stack = v.open[:0], v.stack[:0]
	v.found[i].read = v.standIns
	for steps := 0; ; steps++ {
		if steps%stepsBetweenChecks == 0 && v.ctx.Err() != nil {
			return fmt.Errorf("sheets: %w", v.ctx.Err())
		}
		event, err := p.Next()
		switch {
		case errors.Is(err, io.EOF):
			v.found[i].tags, v.found[i].runs = uint32(v.tags.Len()), uint32(v.runs.Len())
			return nil
		case err != nil:
			return err
		case event == xmlsheet.Begin:
			err = v.begin(p, file, &v.found[i])
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

// begin takes a new node into account.
func (v *surveyor) begin(p *xmlsheet.Parser, file string, found *sheetFound) error {
	found.nodes++
	tag := v.recent.recalled
	if !p.Recalled() {
		at, err := v.enter(p.Node(), file, found)
		if err != nil {
			return err
		}
		tag = v.read(p, at)
		if v.failed != nil {
			return v.failed
		}
	}
	at := v.kinds[v.tags.Group(tag)]
	at.nodes++
	if len(v.open) > 0 {
		at.meet(v.open[len(v.open)-1].kind.nodes)
	}
	v.uses[tag].nodes++
	found.attributes += int64(v.uses[tag].attributes)
	v.open = append(v.open, surveyed{at, tag, len(v.stack)})
	return nil
}

// read returns the number of the start tag of a node, which it takes into account.
func (v *surveyor) read(p *xmlsheet.Parser, at *kind) uint32 {
	n := p.Node()
	v.code = appendHead(v.code[:0], n)
	hint := 0
	for k := range n.Attributes {
		a := &n.Attributes[k]
		i := at.attr(a.Name, hint)
		if i < 0 {
			i = at.addAttr(string(a.Name), v.next())
		}
		hint = i + 1
		at.attrs[i].learn(a)
		v.code = appendAttribute(v.code, i, a)
	}
	switch {
	case n.HasKeys:
		at.addKeys(n.Keys)
	case !at.keyed:
		at.keyed = true
		at.addKeys(at.keys)
	}
	tag, isNew := v.tags.Add(at.number, v.code)
	if isNew {
		v.uses = append(v.uses, tagUse{attributes: int32(len(n.Attributes))})
	}
	if plain := p.Plain(); plain != nil && len(v.open) > 0 {
		v.recent.add(v.open[len(v.open)-1].kind.number, plain, tag)
	}
	return tag
}

// recall reports whether the start tag that comes next has been read before below the same
// parent.
func (v *surveyor) recall(tag []byte) bool {
	return len(v.open) > 0 && v.recent.find(v.open[len(v.open)-1].kind.number, tag)
}

// next returns the place of a name among all.
func (v *surveyor) next() uint64 {
	v.order++
	return v.order
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
	n := record{tag: top.tag}
	if text, ok := p.Text(); ok {
		found.attributes++
		if of := top.kind.types.held(); of != nil && !of.Text && !p.IsValue() {
			top.kind.texts++
		}
		number, _ := v.texts.Add(0, text)
		n.text = number + 1
		v.uses[top.tag].text = true
	}
	if children := v.stack[top.from:]; len(children) > 0 {
		number, _ := v.runs.Add(0, children)
		n.children = number + 1
	}
	v.stack = n.append(v.stack[:top.from])
	found.root = n // at last
}

// rootOf returns the type of a sheet, if there is a schema.
func rootOf(s *xsd.Schema) *xsd.ElementType {
	if s == nil {
		return nil
	}
	return s.Root
}
