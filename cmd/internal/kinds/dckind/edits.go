package dckind

import (
	"cmp"
	"context"
	"io"
	"iter"
	"path/filepath"
	"slices"

	"lorefs/cmd/internal/kinds"
	"lorefs/datacenter"
	"lorefs/datacenter/diff"
	"lorefs/datacenter/edit"
	"lorefs/datacenter/identity"
	"lorefs/datacenter/patch"
	"lorefs/datacenter/query"
)

// dataCenterEdits are the edits of a draft, as users know them.
type dataCenterEdits struct {
	ctx     context.Context //nolint:containedctx // it lives as long as a listing
	base    *datacenter.File
	reader  *edit.Reader
	changes []dataCenterEdit
	finders []*identity.FilePaths // at least one
	// changing has the attributes that edits change, by the numbers of nodes in the base.
	changing map[edit.Number][]string
	// last is the number of the node of the base whose path was asked for last, and expr the path.
	// ahead are the paths of nodes that will be asked for.
	last  edit.Number
	expr  string
	ahead map[edit.Number]string
	// places has the places of nodes among the siblings of their name, by their parents.
	places map[edit.Number]map[edit.Number]place
}

// place is a place among siblings of one name, from 1 on, and how many they are.
type place struct{ n, of int }

// dataCenterEdit is one edit of a draft.
type dataCenterEdit struct {
	*edit.Change
	// at are numbers in the base of where the edit is: of its node, and of the nearest node
	// above that the base has if the node was made or moved.
	at []edit.Number
}

// newDataCenterEdits lists the edits of a snapshot.
func newDataCenterEdits(ctx context.Context, s *edit.Snapshot) (*dataCenterEdits, error) {
	l := &dataCenterEdits{
		ctx: ctx, reader: s.Reader(), places: map[edit.Number]map[edit.Number]place{},
	}
	l.base = l.reader.Base()
	if err := l.addFinder(); err != nil {
		return nil, err
	}
	changes := s.Changes()
	l.changes, l.changing = make([]dataCenterEdit, len(changes)), make(map[edit.Number][]string, len(changes))
	for i := range changes {
		c, e := &changes[i], &l.changes[i]
		e.Change = c
		if c.Stored {
			e.at = append(e.at, c.Base)
		}
		if c.Kind == edit.NodeMade || c.Kind == edit.NodeMoved {
			above, err := l.storedAbove(c.Node)
			if err != nil {
				return nil, err
			}
			e.at = append(e.at, above)
		}
		if c.Name != "" {
			l.changing[c.Base] = append(l.changing[c.Base], c.Name)
		}
	}
	// The locator is quick if numbers ascend.
	slices.SortStableFunc(l.changes, func(a, b dataCenterEdit) int { return cmp.Compare(a.at[0], b.at[0]) })
	return l, nil
}

// storedAbove returns the number in the base of the nearest node above one.
func (l *dataCenterEdits) storedAbove(n edit.Number) (edit.Number, error) {
	for {
		info, ok := l.reader.Node(n)
		if !ok {
			return 0, edit.ErrGone
		}
		number, ok, err := l.reader.Stored(info.Parent)
		if ok || err != nil {
			return number, err
		}
		n = info.Parent
	}
}

// each yields the edits for users.
func (l *dataCenterEdits) each() iter.Seq2[kinds.Edit, error] {
	return func(yield func(kinds.Edit, error) bool) {
		for i := range l.changes {
			var err error
			if i%mostAhead == 0 {
				err = l.findAhead(l.changes[i:min(i+mostAhead, len(l.changes))])
			}
			var d diff.Difference
			if err == nil {
				d, err = l.difference(&l.changes[i])
			}
			if err == nil {
				err = l.ctx.Err()
			}
			if !yield(d, err) || err != nil {
				return
			}
		}
	}
}

// difference returns an edit as diff tells it.
func (l *dataCenterEdits) difference(e *dataCenterEdit) (d diff.Difference, err error) {
	if e.Kind == edit.NodeMade {
		d = diff.Difference{Kind: diff.NodeAdded, Entries: uint32(e.Entries)}
		d.Path, err = l.pathNow(e.Node)
		return d, err
	}
	if d.Path, err = l.pathBefore(e.Base); err != nil {
		return d, err
	}
	switch e.Kind {
	case edit.NodeGone:
		d.Kind, d.Entries = diff.NodeRemoved, uint32(e.Entries)
	case edit.NodeMoved:
		if d.Kind, err = l.kindOfMove(e); err == nil {
			d.NewPath, err = l.pathNow(e.Node)
		}
	case edit.KeysSet:
		d.Kind = diff.KeysChanged
		d.Old, d.New = diff.KeysValue(e.OldKeys), diff.KeysValue(e.Keys)
	case edit.FlagsSet:
		d.Kind = diff.FlagsChanged
		d.Old, d.New = diff.FlagsValue(e.OldFlags), diff.FlagsValue(e.Flags)
	default:
		path := string(query.AppendName([]byte(d.Path+"/@"), e.Name))
		if d = diff.OfAttribute(path, e.Old, e.New); e.Lost && d.Kind == diff.AttributeAdded {
			d.Kind = diff.AttributeChanged
		}
	}
	return d, err
}

// kindOfMove tells whether a node that moved is still a child of its parent, by its name.
func (l *dataCenterEdits) kindOfMove(e *dataCenterEdit) (diff.Kind, error) {
	way, err := l.finders[0].Find(uint32(e.Base))
	if err != nil {
		return 0, err
	}
	info, ok := l.reader.Node(e.Node)
	if !ok {
		return 0, edit.ErrGone
	}
	parent, stored, err := l.reader.Stored(info.Parent)
	if stored && parent == edit.Number(way[len(way)-2].Number) && info.Name == way[len(way)-1].Step.Name {
		return diff.OrderChanged, err
	}
	return diff.NodeMoved, err
}

// pathBefore returns the path of a node of the base.
func (l *dataCenterEdits) pathBefore(n edit.Number) (string, error) {
	if n == 0 {
		return "", nil
	}
	if n == l.last {
		return l.expr, nil
	}
	expr, ok := l.ahead[n]
	if !ok {
		var err error
		if expr, err = l.find(l.finders[0], n); err != nil {
			return "", err
		}
	}
	l.last, l.expr = n, expr
	return expr, nil
}

// pathNow returns the path of a node that was made or moved, as the draft has it.
func (l *dataCenterEdits) pathNow(n edit.Number) (string, error) {
	info, ok := l.reader.Node(n)
	if !ok {
		return "", edit.ErrGone
	}
	number, stored, err := l.reader.Stored(info.Parent)
	if err != nil {
		return "", err
	}
	var path string
	if stored {
		path, err = l.pathBefore(number)
	} else {
		path, err = l.pathNow(info.Parent)
	}
	if err != nil {
		return "", err
	}
	step, err := l.step(n, &info)
	if err != nil {
		return "", err
	}
	if len(step.Conditions) == 0 {
		at, err := l.place(info.Parent, n)
		if err != nil {
			return "", err
		}
		if at.of > 1 {
			step.Nth = at.n
		}
	} else if q, err := query.Compile(path); err == nil {
		// Sheets that nothing tells apart count as one.
		if steps, ok := q.Plain(); ok && len(steps) == 1 && steps[0].Nth > 0 {
			steps[0].Nth = 0
			path = string(query.AppendPlain(nil, steps))
		}
	}
	return path + "/" + string(step.Append(nil)), nil
}

// step returns the step to a node of the draft, by its keys or its id.
func (l *dataCenterEdits) step(n edit.Number, info *edit.Node) (*query.PlainStep, error) {
	step, keys := &query.PlainStep{Name: info.Name}, info.Keys
	if len(keys) == 0 {
		keys = datacenter.KeyDefinition{"id"}
	}
	for _, key := range keys {
		e, ok := l.reader.Attribute(n, key)
		if !ok {
			continue
		}
		v, err := e.Read(l.reader.First())
		if err != nil {
			return nil, err
		}
		if identity.Sayable(v.Type(), []byte(v.Text())) {
			step.Conditions = append(step.Conditions, query.NewPlainCondition(key, v))
		}
	}
	return step, nil
}

// place returns the place of a node among those of its name.
func (l *dataCenterEdits) place(parent, n edit.Number) (place, error) {
	if known, ok := l.places[parent]; ok {
		return known[n], nil
	}
	children, _, err := l.reader.OrderedChildren(parent)
	if err != nil {
		return place{}, err
	}
	counts, places := map[string]int{}, map[edit.Number]place{}
	for _, c := range children {
		counts[c.Name]++
		places[c.Number] = place{n: counts[c.Name]}
	}
	for _, c := range children {
		places[c.Number] = place{places[c.Number].n, counts[c.Name]}
	}
	l.places[parent] = places
	return places[n], nil
}

// Edits implements [kinds.Session].
func (s *dataCenterSession) Edits(ctx context.Context) iter.Seq2[kinds.Edit, error] {
	return func(yield func(kinds.Edit, error) bool) {
		defer s.dc.PinBase()()
		s.listed().Edits(ctx)(yield)
	}
}

// WritePatch implements [kinds.Session].
func (s *dataCenterSession) WritePatch(ctx context.Context, w io.Writer) error {
	defer s.dc.PinBase()()
	return s.listed().WritePatch(ctx, w)
}

func (s *dataCenterSession) listed() draftEdits {
	return draftEdits{s.dc.Draft(), s.file}
}

// draftEdits lists the edits of a draft of the file at a path.
type draftEdits struct {
	draft *edit.Draft
	path  string
}

// Edits implements [kinds.Lister].
func (d draftEdits) Edits(ctx context.Context) iter.Seq2[kinds.Edit, error] {
	return func(yield func(kinds.Edit, error) bool) {
		s := d.draft.View()
		defer s.Close()
		l, err := newDataCenterEdits(ctx, s)
		if err != nil {
			yield(nil, err)
			return
		}
		l.each()(yield)
	}
}

// WritePatch implements [kinds.Lister].
func (d draftEdits) WritePatch(ctx context.Context, w io.Writer) error {
	s := d.draft.View()
	defer s.Close()
	p, err := patch.MakeDraft(ctx, s, filepath.Base(d.path))
	if err == nil {
		_, err = w.Write(p.Append(nil))
	}
	return err
}

// WriteDraft writes what was edited in a draft of the file at a path.
func WriteDraft(ctx context.Context, w io.Writer, draft *edit.Draft, path string, f kinds.EditsFormat) error {
	return kinds.WriteList(ctx, w, draftEdits{draft, path}, f)
}
