package patch

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/cespare/xxhash/v2"

	"lorefs/datacenter"
	"lorefs/datacenter/edit"
	"lorefs/datacenter/identity"
	"lorefs/datacenter/query"
)

// resolver follows plain paths in a view, many of them: the children that a path leads to
// are listed once, and found by the values that are asked for.
type resolver struct {
	view   *view
	hashes *identity.Contents[node]
	groups map[string]*group
	rows   int // of all groups
	// indexed are the rows in the indexes of groups.
	indexed int
	sums    map[groupSum]*sum
	// renamed are steps that this patch gives other values, by the path that ends with one:
	// where the patch was applied before, they lead to the node.
	renamed map[string]query.PlainStep
	// above are the parents of the nodes that paths led to.
	above map[edit.Number]edit.Number
	// renumbered are the keys of groups in which a node has the values that another one had.
	renumbered map[string]bool
	text       []byte
	stored     []datacenter.Attribute
}

// sum is the hash of rows. spread is also of which parents have the rows, if there are several.
type sum struct{ all, spread Sum }

// change returns the hashes for a context of rows before and after the patch. They are the spread ones
// if only the parents of the rows are other ones.
func (s *sum) change(after *sum) (old, now Sum) {
	if s.all == after.all {
		return s.spread, after.spread
	}
	return s.all, after.all
}

// groupSum names rows whose hash was found out: those of a group for which conditions hold.
type groupSum struct{ group, conditions string }

// row is a child, and the place of its parent among those of the group.
type row struct {
	node   node
	parent int32
}

// group is the children of one name that some nodes have.
type group struct {
	key, name string
	parents   []node
	rows      []row
	nodes     []node // of the rows, nil until they are needed
	// indexes find the rows that may have some values, by the attributes' names.
	indexes map[string]*index
	// holding are rows that hold facts, by their spelling, and twins tells which of them are twins, by the
	// attributes that do not count as well.
	holding map[string][]row
	twins   map[string]bool
}

// index finds rows by a hash of the values of some attributes.
type index struct {
	// list is in the order of the hashes, then in that of the rows.
	list []indexed
	// starts tells for each row of the group where those with its hash begin in the list, -1 if it is not there.
	starts []int32
}

type indexed struct {
	hash uint64
	row  int32
}

// bucket is the rows of an index that have one hash: all from a place in its list on, up to another.
type bucket struct {
	*index
	start, end int
}

// find returns what has a hash.
func (x *index) find(hash uint64) bucket {
	i, ok := slices.BinarySearchFunc(x.list, hash, func(e indexed, hash uint64) int { return cmp.Compare(e.hash, hash) })
	if !ok {
		return bucket{x, i, i}
	}
	return bucket{x, i, i + sort.Search(len(x.list)-i, func(k int) bool { return x.list[i+k].hash != hash })}
}

func (b bucket) len() int { return b.end - b.start }

func (b bucket) rows() []indexed { return b.list[b.start:b.end] }

func (b bucket) has(row int32) bool { return b.len() > 0 && b.starts[row] == int32(b.start) }

// maxRows and maxIndexed bound what a resolver remembers: the rows, and those in indexes.
const maxRows, maxIndexed = 1 << 20, 1 << 22

func newResolver(v *view) *resolver {
	return &resolver{view: v, hashes: identity.NewExactContents(v), groups: map[string]*group{}, sums: map[groupSum]*sum{}, above: map[edit.Number]edit.Number{}, renumbered: map[string]bool{}}
}

// found holds the nodes that the first steps of a path lead to.
type found struct {
	nodes []node
	// key is the path, by which what is below is remembered.
	key string
}

func (r *resolver) root() (found, error) {
	n, err := r.view.root()
	return found{nodes: []node{n}}, err
}

// group gives the children of a name of what was found.
func (r *resolver) group(at found, name string) (*group, error) {
	key := at.key + "/" + string(query.AppendName(nil, name))
	if g := r.groups[key]; g != nil {
		return g, nil
	}
	g := &group{key: key, name: name, parents: at.nodes, indexes: map[string]*index{}, holding: map[string][]row{}, twins: map[string]bool{}}
	for i, n := range at.nodes {
		err := r.view.Children(n, func(of string, child node) {
			if of == name {
				g.rows = append(g.rows, row{child, int32(i)})
			}
		})
		if err != nil {
			return nil, err
		}
	}
	if r.rows += len(g.rows); r.rows > maxRows {
		clear(r.groups)
		clear(r.sums)
		r.rows = len(g.rows)
	}
	r.groups[key] = g
	return g, nil
}

// match gives the rows for which all conditions of a step hold.
func (r *resolver) match(g *group, conditions []query.PlainCondition) ([]row, error) {
	if len(conditions) == 0 {
		return g.rows, nil
	}
	some, err := r.lookUp(g, conditions)
	if err != nil {
		return nil, err
	}
	return r.matching(g, some, conditions)
}

// matching gives those of some rows for which all conditions hold.
func (r *resolver) matching(g *group, some bucket, conditions []query.PlainCondition) (list []row, err error) {
	for _, x := range some.rows() {
		ok, err := r.holds(g.rows[x.row].node, conditions)
		if err != nil {
			return nil, err
		}
		if ok {
			list = append(list, g.rows[x.row])
		}
	}
	return list, nil
}

// lookUp returns the rows for which conditions may hold, by the hashes of the values.
func (r *resolver) lookUp(g *group, conditions []query.PlainCondition) (bucket, error) {
	names := make([]string, len(conditions))
	h := uint64(0)
	for i := range conditions {
		names[i] = conditions[i].Name
		h = h*31 + hashValue(conditions[i].Text())
	}
	x, err := r.index(g, names)
	if err != nil {
		return bucket{}, err
	}
	return x.find(h), nil
}

// narrow is match for conditions that few others ask for together: it needs indexes of single attributes only.
func (r *resolver) narrow(g *group, conditions []query.PlainCondition) ([]row, error) {
	if len(conditions) < 2 {
		return r.match(g, conditions)
	}
	var least bucket
	for i := range conditions {
		some, err := r.lookUp(g, conditions[i:i+1])
		if err != nil {
			return nil, err
		}
		if i == 0 || some.len() < least.len() {
			least = some
		}
	}
	return r.matching(g, least, conditions)
}

// holds reports whether all conditions hold for a node.
func (r *resolver) holds(n node, conditions []query.PlainCondition) (bool, error) {
	for k := range conditions {
		v, err := r.view.attribute(n, conditions[k].Name)
		if err != nil || v.Type() == 0 || !conditions[k].Holds(v) {
			return false, err
		}
	}
	return true, nil
}

// all returns the nodes that a step without conditions finds.
func (g *group) all() found {
	if g.nodes == nil {
		for _, w := range g.rows {
			g.nodes = append(g.nodes, w.node)
		}
	}
	return found{nodes: g.nodes, key: g.key}
}

// index returns the index of a group by some attributes.
func (r *resolver) index(g *group, names []string) (*index, error) {
	key := strings.Join(names, "\x00") // which no name holds
	if known, ok := g.indexes[key]; ok {
		return known, nil
	}
	var list []indexed
	asked := newAsked(names)
	for i := range g.rows {
		h, all, err := r.hashAsked(g.rows[i].node, asked)
		if err != nil {
			return nil, err
		}
		if !all {
			continue
		}
		if list == nil {
			list = make([]indexed, 0, len(g.rows))
		}
		list = append(list, indexed{h, int32(i)})
	}
	slices.SortFunc(list, func(a, b indexed) int { return cmp.Or(cmp.Compare(a.hash, b.hash), cmp.Compare(a.row, b.row)) })
	if r.indexed += len(list); r.indexed > maxIndexed {
		for _, of := range r.groups {
			clear(of.indexes)
		}
		r.indexed = len(list)
	}
	x := &index{list, startsOf(list, len(g.rows))}
	g.indexes[key] = x
	return x, nil
}

// startsOf returns the starts of an index.
func startsOf(list []indexed, rows int) []int32 {
	starts := slices.Repeat([]int32{-1}, rows)
	start := 0
	for i, e := range list {
		if e.hash != list[start].hash {
			start = i
		}
		starts[e.row] = int32(start)
	}
	return starts
}

// asked are attributes of many nodes whose values are asked for.
type asked struct {
	names []string
	// indexes are those of the names in the file, 0 if no node has had one yet.
	indexes []uint16
	found   []bool
	hashes  []uint64
}

func newAsked(names []string) *asked {
	n := len(names)
	return &asked{names, make([]uint16, n), make([]bool, n), make([]uint64, n)}
}

// place returns which name an attribute has, or -1.
func (x *asked) place(a datacenter.Attribute) int {
	for i, index := range x.indexes {
		if index == a.NameIndex() {
			return i
		}
		if index == 0 && x.names[i] == a.Name() {
			x.indexes[i] = a.NameIndex()
			return i
		}
	}
	return -1
}

// add notes the hash of a value. One name may be asked for twice.
func (x *asked) add(name string, hash uint64) {
	for i := range x.names {
		if x.names[i] == name {
			x.found[i], x.hashes[i] = true, hash
		}
	}
}

// hashAsked returns a hash of the values that are asked for; all is false if a node lacks one.
func (r *resolver) hashAsked(n node, x *asked) (hash uint64, all bool, err error) {
	clear(x.found)
	if n.touched {
		for _, name := range x.names {
			v, err := r.view.attribute(n, name)
			if err != nil || v.Type() == 0 {
				return 0, false, err
			}
			x.add(name, hashValue(v.Text()))
		}
	} else if err := r.hashStored(n.stored, x); err != nil {
		return 0, false, err
	}
	for i, h := range x.hashes {
		if !x.found[i] {
			return 0, false, nil
		}
		hash = hash*31 + h
	}
	return hash, true, nil
}

// hashStored notes the values that are asked for of a node of the file, without making texts of
// numbers: a mod of all sheets asks for those of all nodes.
func (r *resolver) hashStored(n datacenter.Node, x *asked) (err error) {
	r.stored, err = n.AppendAttributes(r.stored[:0], func(a datacenter.Attribute) bool { return x.place(a) >= 0 })
	for _, a := range r.stored {
		if err != nil {
			break
		}
		var h uint64
		switch a.Type() {
		case datacenter.Int:
			h = hashNumber(float32(a.Int()))
		case datacenter.Bool:
			h = hashNumber(0)
			if a.Bool() {
				h = hashNumber(1)
			}
		case datacenter.Float, datacenter.String:
			if r.text, err = a.AppendText(r.text[:0]); err == nil {
				h = hashText(r.text)
			}
		}
		x.add(x.names[x.place(a)], h)
	}
	return err
}

// hashValue is the same for texts that a query may find equal. A number counts as a float,
// since a float is compared as one.
func hashValue(text string) uint64 { return hashText([]byte(text)) }

func hashText(text []byte) uint64 {
	s := bytes.TrimSpace(text)
	switch string(s) {
	case "":
		return xxhash.Sum64(text)
	case "true":
		return hashNumber(1)
	case "false":
		return hashNumber(0)
	}
	if strings.IndexByte("+-.0123456789nNiI", s[0]) >= 0 { // nothing else begins a number
		if f, err := strconv.ParseFloat(string(s), 64); (err == nil || math.IsInf(f, 0)) && !math.IsNaN(f) {
			return hashNumber(float32(f))
		}
	}
	return xxhash.Sum64(text)
}

func hashNumber(f float32) uint64 {
	if f == 0 {
		f = 0 // and not -0
	}
	return uint64(math.Float32bits(f))
}

// step follows a step without its place. What a sheet's step leads to is one place, as
// sheets that nothing tells apart are one.
func (r *resolver) step(at found, s *query.PlainStep) (*group, []row, error) {
	g, err := r.group(at, s.Name)
	if err != nil {
		return nil, nil, err
	}
	rows, err := r.match(g, s.Conditions)
	return g, rows, err
}

// sum is the hash of all the rows for which the conditions of a step hold.
func (r *resolver) sum(g *group, s *query.PlainStep, rows []row) (*sum, error) {
	key := groupSum{g.key, bareStep(s)}
	if known := r.sums[key]; known != nil {
		return known, nil
	}
	h, err := r.hashes.Group(func(yield func(node) bool) {
		for _, w := range rows {
			if !yield(w.node) {
				return
			}
		}
	})
	if err != nil {
		return nil, err
	}
	all := &sum{SumOf(h), SumOf(h)}
	if len(g.parents) > 1 {
		parents := binary.LittleEndian.AppendUint64(nil, h)
		for _, w := range rows {
			parents = binary.LittleEndian.AppendUint32(parents, uint32(w.parent))
		}
		all.spread = SumOf(xxhash.Sum64(parents))
	}
	r.sums[key] = all
	return all, nil
}

// bareStep spells a step without its place.
func bareStep(s *query.PlainStep) string {
	bare := query.PlainStep{Name: s.Name, Conditions: s.Conditions}
	return string(bare.Append(nil))
}

// indexOf finds a node among rows.
func indexOf(rows []row, n edit.Number) int {
	return slices.IndexFunc(rows, func(w row) bool { return w.node.number == n })
}
