package dckind

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"lorefs/cmd/internal/kinds"
	"lorefs/datacenter/edit"
	"lorefs/datacenter/identity"
	"lorefs/datacenter/query"
	"lorefs/datacenter/sheets"
	"lorefs/datacenter/treepath"
	"lorefs/nodes"
	"lorefs/nodes/keytree"
	"lorefs/nodes/overlay"
	"lorefs/nodes/sheettree"
)

// Revert implements [kinds.Session].
func (s *dataCenterSession) Revert(ctx context.Context, paths []string, all bool) (r kinds.Reverted, err error) {
	x := selection{session: s}
	if err := s.dc.Revert(ctx, func() (what []edit.Target, err error) {
		snapshot := s.dc.Draft().View()
		defer snapshot.Close()
		if err := x.choose(ctx, snapshot, paths, all); err != nil {
			return nil, err
		}
		return x.targets(&r)
	}); err != nil {
		return kinds.Reverted{}, err
	}
	x.texts(&r)
	return r, nil
}

// EditsAt implements [kinds.Session].
func (s *dataCenterSession) EditsAt(ctx context.Context, paths []string, isThere func(path string) bool) ([]kinds.Edit, error) {
	defer s.dc.HoldBase()()
	snapshot := s.dc.Draft().View()
	defer snapshot.Close()
	x := selection{session: s, isThere: isThere}
	if err := x.choose(ctx, snapshot, paths, true); err != nil {
		return nil, err
	}
	var found kinds.Reverted
	if _, err := x.targets(&found); err != nil {
		return nil, err
	}
	x.eachView(func(dir string, tree *overlay.Tree, ids []nodes.ID) {
		for _, path := range tree.Unflushed(ids...) {
			found.Edits = append(found.Edits, kinds.NewOpenFile(dir+path))
		}
	})
	return found.Edits, nil
}

// selection is the part of the edits that is to be taken back, or listed.
type selection struct {
	*dataCenterEdits
	session *dataCenterSession
	// isThere reports whether the mount has a path. It is nil if there have to be edits at paths
	// and queries that lead somewhere.
	isThere func(path string) bool
	// chosen says which of the changes are meant.
	chosen []bool
	// trees and sheets are the nodes of tree/ and sheets/ whose texts are meant. allTrees and
	// allSheets mean all of them.
	trees, sheets       []nodes.ID
	allTrees, allSheets bool
	// whole means that all edits are meant.
	whole bool
}

// choose selects the edits of a snapshot at some paths, or all if there are no paths and all is set.
func (x *selection) choose(ctx context.Context, s *edit.Snapshot, paths []string, all bool) (err error) {
	if x.dataCenterEdits, err = newDataCenterEdits(ctx, s); err != nil {
		return err
	}
	x.chosen = make([]bool, len(x.changes))
	if len(paths) == 0 && all {
		x.everything()
	}
	for _, p := range paths {
		if err := x.path(ctx, p, all); err != nil {
			return err
		}
	}
	return nil
}

func (x *selection) everything() {
	for i := range x.chosen {
		x.chosen[i] = true
	}
	x.allTrees, x.allSheets, x.whole = true, true, true
}

// targets returns what to take back, and adds the edits to r.
func (x *selection) targets(r *kinds.Reverted) (what []edit.Target, err error) {
	for i := range x.changes {
		if !x.chosen[i] {
			continue
		}
		e := &x.changes[i]
		d, err := x.difference(e)
		if err != nil {
			return nil, err
		}
		r.Edits = append(r.Edits, d)
		what = append(what, edit.Target{Node: e.Node, Attribute: e.Name})
	}
	if x.whole {
		what = []edit.Target{{}} // also the names of siblings that others have passed
	}
	return what, nil
}

// texts gives up refused texts, and lists open files.
func (x *selection) texts(r *kinds.Reverted) {
	x.eachView(func(dir string, tree *overlay.Tree, ids []nodes.ID) {
		for _, path := range tree.TakeBack(ids...) {
			r.Texts = append(r.Texts, dir+path)
		}
		for _, path := range tree.Unflushed(ids...) {
			r.Open = append(r.Open, dir+path)
		}
	})
}

// eachView calls visit for each view in which texts are meant, with the nodes that are meant. If
// there are none, all are.
func (x *selection) eachView(visit func(dir string, tree *overlay.Tree, ids []nodes.ID)) {
	for _, in := range []struct {
		dir  string
		tree *overlay.Tree
		all  bool
		ids  []nodes.ID
	}{{"tree/", x.session.tree.Tree, x.allTrees, x.trees}, {"sheets/", x.session.sheets.Tree, x.allSheets, x.sheets}} {
		if in.all {
			in.ids = nil
		} else if len(in.ids) == 0 {
			continue
		}
		visit(in.dir, in.tree, in.ids)
	}
}

// path selects the edits at a path. all allows that a query finds several nodes.
func (x *selection) path(ctx context.Context, name string, all bool) error {
	if strings.HasPrefix(name, "/") {
		return x.query(ctx, name, all)
	}
	parts := strings.Split(path.Clean(name), "/")
	dir, parts := parts[0], parts[1:]
	found, err := false, error(nil)
	switch dir {
	case ".":
		x.everything()
		return nil
	case "tree":
		found, err = x.inTree(ctx, parts)
	case "sheets":
		found, err = x.inSheets(ctx, parts)
	case keysDir:
		found, err = x.byKey(ctx, parts)
	}
	if err == nil && !found && !x.hasText(path.Clean(name)) && (x.isThere == nil || !x.isThere(name)) {
		err = &kinds.NoEditError{Path: name}
	}
	return err
}

// hasText reports whether there is a refused text at a path, or below it.
func (x *selection) hasText(name string) bool {
	return slices.ContainsFunc(x.session.Refused(), func(r overlay.Refused) bool {
		return r.Path == name || strings.HasPrefix(r.Path, name+"/")
	})
}

// inTree selects the edits at a path below tree/.
func (x *selection) inTree(ctx context.Context, names []string) (found bool, err error) {
	if id, ok := kinds.LookUp(ctx, x.session.tree, names); ok {
		x.trees = append(x.trees, id)
	}
	traced, err := x.session.tree.Trace(ctx, names)
	if err != nil {
		return false, err
	}
	for _, t := range traced {
		list, err := x.at(t.Node, t.Attribute)
		if err != nil {
			return false, err
		}
		x.pick(list)
		found = found || len(list) > 0
		if t.Attribute == "" {
			x.sheets = append(x.sheets, sheettree.SheetID(t.Node))
		}
	}
	return found, nil
}

// inSheets selects the edits at a path below sheets/.
func (x *selection) inSheets(ctx context.Context, names []string) (found bool, err error) {
	if id, ok := kinds.LookUp(ctx, x.session.sheets, names); ok {
		x.sheets = append(x.sheets, id)
	}
	if len(names) == 0 {
		return x.inTree(ctx, nil)
	}
	of, ok := x.session.names.NameOf(names[0])
	switch {
	case !ok:
		return false, nil
	case len(names) == 1:
		return x.family(of)
	}
	ordinal, ok := sheets.FileOrdinal(names[0], names[1])
	if !ok || len(names) > 2 {
		return false, nil
	}
	return x.inTree(ctx, []string{x.session.tree.SheetName(of, ordinal)})
}

// byKey selects the edits at a path below by-key/ that leads to a node, or those of a directory of
// sheets.
func (x *selection) byKey(ctx context.Context, names []string) (found bool, err error) {
	if len(names) == 0 {
		return x.inTree(ctx, nil)
	}
	if of, ok := x.session.names.NameOf(names[0]); ok && len(names) == 1 {
		return x.family(of)
	}
	if _, ok := kinds.LookUp(ctx, x.session.keys, names); ok { // no link, since those were followed
		return false, fmt.Errorf("%s/%s: name one of the links in it", keysDir, path.Join(names...))
	}
	return x.byFormerKey(ctx, names)
}

// byFormerKey selects the edits of the node to which a link in by-key/ has led before they were
// made: one that was removed, or has other keys now.
func (x *selection) byFormerKey(ctx context.Context, names []string) (found bool, err error) {
	src, err := sheets.New(x.base, nil, sheets.Options{})
	if err != nil {
		return false, err
	}
	keys, err := keytree.New(x.base, nil, src, keytree.Options{})
	if err != nil {
		return false, err
	}
	id, ok := kinds.LookUp(ctx, keys, names)
	if !ok {
		return false, nil
	}
	target, err := keys.Readlink(ctx, id)
	if err != nil {
		return false, nil //nolint:nilerr // it is a directory, whose links are gone
	}
	spelled, err := treepath.NewNames(x.base)
	if err != nil {
		return false, err
	}
	var steps []query.PlainStep
	dir := path.Join(keysDir, path.Join(names[:len(names)-1]...))
	for _, part := range strings.Split(path.Join(dir, target), "/")[1:] {
		name, ordinal, _ := treepath.SplitOrdinal(part)
		for i, text := range x.base.Names() {
			if spelled.Escaped(uint16(i+1)) == name {
				steps = append(steps, query.PlainStep{Name: text, Nth: ordinal + 1})
				break
			}
		}
	}
	n, entries, err := x.walk(steps)
	if err != nil {
		return false, err
	}
	list := x.in(n, entries, "")
	x.pick(list)
	return len(list) > 0, nil
}

// family selects the edits of all sheets of one name.
func (x *selection) family(name string) (found bool, err error) {
	for i := range x.changes {
		is, err := x.isOf(&x.changes[i], name)
		if err != nil {
			return false, err
		}
		if is {
			x.chosen[i], found = true, true
		}
	}
	return found, nil
}

// isOf reports whether an edit is of a sheet with a name, now or before.
func (x *selection) isOf(e *dataCenterEdit, name string) (bool, error) {
	for _, at := range e.at {
		if at == 0 {
			continue
		}
		way, err := x.finders[0].Find(uint32(at))
		if err != nil {
			return false, err
		}
		if way[1].Step.Name == name {
			return true, nil
		}
	}
	info, ok := x.reader.Node(e.Node)
	return ok && info.Parent == 0 && info.Name == name, nil
}

// pick selects edits by their places.
func (x *selection) pick(list []int) {
	for _, i := range list {
		x.chosen[i] = true
	}
}

// at returns the edits of a node of the draft and below it, or only those of an attribute.
func (x *selection) at(n edit.Number, attribute string) (list []int, err error) {
	base, stored, err := x.reader.Stored(n)
	if err != nil {
		return nil, err
	}
	if stored {
		way, err := x.finders[0].Find(uint32(base))
		if err != nil {
			return nil, err
		}
		list = x.in(base, edit.Number(way[len(way)-1].Node.Entries()), attribute)
	}
	for i := range x.changes {
		if e := &x.changes[i]; attribute == "" && !slices.Contains(list, i) && x.isBelow(e.Node, n) && (e.Kind == edit.NodeMade || e.Kind == edit.NodeMoved) {
			list = append(list, i)
		}
	}
	return list, nil
}

// isBelow reports whether a node of the draft is another one, or below it.
func (x *selection) isBelow(n, other edit.Number) bool {
	for n != other {
		info, ok := x.reader.Node(n)
		if !ok || n == 0 {
			return false
		}
		n = info.Parent
	}
	return true
}

// in returns the edits of a node of the base and below it, or only those of an attribute.
func (x *selection) in(n, entries edit.Number, attribute string) (list []int) {
	first, _ := slices.BinarySearchFunc(x.changes, n, func(e dataCenterEdit, n edit.Number) int {
		if e.at[0] < n {
			return -1
		}
		return 1
	})
	for i := first; i < len(x.changes) && x.changes[i].at[0] < n+entries; i++ {
		e := &x.changes[i]
		if attribute == "" || e.Stored && e.Base == n && e.Name == attribute {
			list = append(list, i)
		}
	}
	return list
}

// query selects the edits of what an expression finds in the base, and of what was added
// with the same path.
func (x *selection) query(ctx context.Context, expr string, all bool) error {
	whole, err := query.Compile(expr)
	if err != nil {
		return err
	}
	q, attribute := whole, ""
	if nodes, name, ok := cutAttribute(expr); ok {
		if only, err := query.Compile(nodes); err == nil {
			q, attribute = only, name
		}
	}
	found, leads := 0, false
	var chosen []int
	add := func(list []int) {
		if len(list) > 0 {
			chosen = append(chosen, list...)
			found++
		}
	}
	for m, err := range q.Run(ctx, x.base) {
		if err != nil {
			return err
		}
		leads = true
		name := attribute
		if m.Kind == query.Attribute {
			name = m.Attribute.Name()
		}
		n, err := x.number(&m)
		if err != nil {
			return err
		}
		add(x.in(n, edit.Number(m.Node.Entries()), name))
	}
	if attribute == "" {
		list, err := x.named(plainly(q, expr))
		if err != nil {
			return err
		}
		for _, i := range list {
			add([]int{i})
		}
	}
	switch {
	case found == 0 && leads && x.isThere != nil:
	case found == 0:
		return &kinds.NoEditError{Path: expr}
	case found > 1 && !all:
		return &kinds.SeveralError{Path: expr, Nodes: found}
	}
	x.pick(chosen)
	return nil
}

// cutAttribute cuts a path that ends with an attribute or with text().
func cutAttribute(expr string) (nodes, name string, ok bool) {
	const text, value = "/text()", "__value__"
	if nodes, ok := strings.CutSuffix(expr, text); ok {
		return nodes, value, true
	}
	i := strings.LastIndex(expr, "/@")
	if i < 0 {
		return "", "", false
	}
	name = expr[i+2:]
	if braced, ok := strings.CutPrefix(name, "{"); ok {
		name = strings.ReplaceAll(strings.TrimSuffix(braced, "}"), "}}", "}")
	} else if strings.ContainsAny(name, "]|*'\"") {
		return "", "", false
	}
	return expr[:i], name, true
}

// plainly spells an expression as paths are spelled.
func plainly(q *query.Query, expr string) string {
	if steps, ok := q.Plain(); ok {
		return string(query.AppendPlain(nil, steps))
	}
	return expr
}

// named returns the nodes that were made or moved and have a path now.
func (x *selection) named(expr string) (list []int, err error) {
	for i := range x.changes {
		e := &x.changes[i]
		if e.Kind != edit.NodeMade && e.Kind != edit.NodeMoved {
			continue
		}
		path, err := x.pathNow(e.Node)
		if err != nil {
			return nil, err
		}
		if path == expr {
			list = append(list, i)
		}
	}
	return list, nil
}

// number returns the number of a node that a query has found.
func (x *selection) number(m *query.Match) (number edit.Number, err error) {
	expr := m.XPath
	if m.Kind == query.Attribute {
		expr = strings.TrimSuffix(expr, attributeStep(m.Attribute.Name()))
	}
	q, err := query.Compile(expr)
	if err != nil {
		return 0, err
	}
	steps, _ := q.Plain()
	number, _, err = x.walk(steps)
	return number, err
}

// walk returns the number of the node of the base to which steps lead that have a name and a
// place each, and how many entries it has.
func (x *selection) walk(steps []query.PlainStep) (number, entries edit.Number, err error) {
	n, err := x.base.Root()
	if err != nil {
		return 0, 0, err
	}
	for _, s := range steps {
		index := slices.Index(x.base.Names(), s.Name) + 1
		c, ok, err := n.ChildNamed(uint16(index), s.Nth-1)
		if err != nil {
			return 0, 0, err
		}
		if !ok {
			return 0, 0, identity.ErrNoNode
		}
		number += 1 + edit.Number(n.AttributeCount()) + edit.Number(n.EntriesBefore(n.ChildIndex(c)))
		n = c
	}
	return number, edit.Number(n.Entries()), nil
}
