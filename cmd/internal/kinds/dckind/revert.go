package dckind

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"lorefs/cmd/internal/kinds"
	"lorefs/datacenter/edit"
	"lorefs/datacenter/query"
	"lorefs/datacenter/sheets"
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
	defer s.dc.PinBase()()
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
	found, err := x.inMount(ctx, parts[0], parts[1:])
	if err == nil && !found && !x.hasText(path.Clean(name)) && (x.isThere == nil || !x.isThere(name)) {
		err = &kinds.NoEditError{Path: name}
	}
	return err
}

// inMount selects the edits at a path in a directory of the mount, which is "." for all of it.
func (x *selection) inMount(ctx context.Context, dir string, names []string) (found bool, err error) {
	switch dir {
	case ".":
		x.everything()
		return true, nil
	case "tree":
		return x.inTree(ctx, names)
	case "sheets":
		if _, id, err := nodes.Find(ctx, x.session.sheets, names); err == nil {
			x.sheets = append(x.sheets, id)
		}
	case keysDir:
	default:
		return false, nil
	}
	if len(names) == 0 {
		return x.inTree(ctx, nil)
	}
	if of, ok := x.session.names.NameOf(names[0]); ok && len(names) == 1 {
		return x.family(of)
	}
	if dir == keysDir {
		return x.byKey(ctx, names)
	}
	return x.inSheet(ctx, names)
}

// hasText reports whether there is a refused text at a path, or below it.
func (x *selection) hasText(name string) bool {
	return slices.ContainsFunc(x.session.Refused(), func(r overlay.Refused) bool {
		return r.Path == name || strings.HasPrefix(r.Path, name+"/")
	})
}

// inTree selects the edits at a path below tree/.
func (x *selection) inTree(ctx context.Context, names []string) (found bool, err error) {
	if _, id, err := nodes.Find(ctx, x.session.tree, names); err == nil {
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

// inSheet selects the edits of the sheet in a file.
func (x *selection) inSheet(ctx context.Context, names []string) (found bool, err error) {
	of, ok := x.session.names.NameOf(names[0])
	if !ok || len(names) != 2 {
		return false, nil
	}
	ordinal, ok := sheets.FileOrdinal(names[0], names[1])
	if !ok {
		return false, nil
	}
	return x.inTree(ctx, []string{x.session.tree.SheetName(of, ordinal)})
}

// byKey selects the edits of the node to which a link in by-key/ has led before they were made: one that
// was removed, or has other keys now. Links that are there now were followed.
func (x *selection) byKey(ctx context.Context, names []string) (found bool, err error) {
	if _, _, err := nodes.Find(ctx, x.session.keys, names); err == nil {
		return false, fmt.Errorf("%s/%s: name one of the links in it", keysDir, path.Join(names...))
	}
	src, err := sheets.New(x.base, nil, sheets.Options{})
	if err != nil {
		return false, err
	}
	keys, err := keytree.New(x.base, nil, src, keytree.Options{})
	if err != nil {
		return false, err
	}
	_, id, err := nodes.Find(ctx, keys, names)
	n, ok := keytree.LinkedNode(id)
	if err != nil || !ok {
		return false, nil //nolint:nilerr // nothing was there, or a directory whose links are gone
	}
	list, err := x.inBase(n, "")
	x.pick(list)
	return len(list) > 0, err
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
	if err == nil && stored {
		list, err = x.inBase(base, attribute)
	}
	if err != nil {
		return nil, err
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

// inBase returns the edits of a node of the base and below it, or only those of an attribute.
func (x *selection) inBase(n edit.Number, attribute string) ([]int, error) {
	way, err := x.finders[0].Find(uint32(n))
	if err != nil {
		return nil, err
	}
	return x.in(n, edit.Number(way[len(way)-1].Node.Entries()), attribute), nil
}

// in is inBase for a node with so many entries.
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
		n, err := x.finders[0].Number(m.Steps)
		if err != nil {
			return err
		}
		add(x.in(edit.Number(n), edit.Number(m.Node.Entries()), name))
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
