package edit

import (
	"slices"
	"sync"

	"lorefs/datacenter"
)

// ChangeKind is the kind of a Change.
type ChangeKind uint8

// The kinds.
const (
	// AttributeSet has New, and Old if the base has another value. AttributeGone has Old.
	AttributeSet ChangeKind = iota + 1
	AttributeGone
	// KeysSet has Keys and OldKeys. FlagsSet has Flags and OldFlags.
	KeysSet
	FlagsSet
	// NodeMade and NodeGone are about a node with everything below it.
	NodeMade
	NodeGone
	// NodeMoved is about a node that has another parent, another name, or another place
	// among siblings that only their place orders.
	NodeMoved
)

// Change is one difference between a Draft and its base.
type Change struct {
	Kind ChangeKind
	// Node is the node that changed, or whose attribute did. Base is its number in the base,
	// if Stored says that the base has it. Only those of NodeMade are not stored.
	Node, Base Number
	Stored     bool
	// Name is the name of the attribute.
	Name string
	// Old and New have no type if there is no such value. Lost says that there was an old
	// value, but it can't be read any more.
	Old, New        datacenter.Value
	Lost            bool
	OldKeys, Keys   datacenter.KeyDefinition
	OldFlags, Flags datacenter.KeyFlags
	// Entries is the number of nodes and attributes that were made or removed. It leaves out
	// nodes of the base that were moved below a new node.
	Entries int64
}

// Changes returns the net differences between the Snapshot and its base, which is the file
// that was saved last. What was changed and changed back is not listed. A node that was
// added or removed is listed once, and nothing below it, except nodes of the base that were
// moved to a new node. What can't be read from the base any more counts as changed.
func (s *Snapshot) Changes() []Change {
	v := newSurvey(s)
	list := make([]Change, 0, len(v.nodes))
	v.changes(func(c Change) {
		if c.Stored {
			base, err := s.numberOf(c.Node)
			c.Base, c.Stored = base, err == nil
		}
		list = append(list, c)
	})
	return list
}

// numberOf returns the number in the Snapshot's base of a node that the base has.
func (s *Snapshot) numberOf(n Number) (Number, error) {
	return s.labels.number(s.d, n)
}

// changes calls tell for each difference.
func (v *survey) changes(tell func(Change)) {
	for i := 0; i < len(v.nodes); i++ {
		x := &v.nodes[i]
		if x.parent >= 0 && v.isAlike(siblingsAt{x.parent, x.name}) {
			i = x.end - 1 // nothing below differs
			continue
		}
		base := x.n.base
		if isNone(base) {
			if !v.isNew(x.parent) {
				tell(Change{Kind: NodeMade, Node: x.n.number, Entries: v.newEntries(i)})
			}
			continue
		}
		about := Change{Node: x.n.number, Stored: true}
		if v.moved(i) {
			about.Kind = NodeMoved
			tell(about)
		}
		v.attributes(x, about, tell)
		v.definition(x, base, about, tell)
		for k := range x.kids {
			if v.isGone(x, k) && !v.isAlike(siblingsAt{i, x.kids[k].name}) {
				tell(Change{
					Kind: NodeGone, Node: x.kids[k].number, Stored: true, Entries: int64(v.s.base.Entries(x.kids[k].addr)),
				})
			}
		}
	}
}

// attributes calls tell for the attributes of a node that differ.
func (v *survey) attributes(x *surveyed, about Change, tell func(Change)) {
	if !x.changed {
		return
	}
	twins := x.twins()
	for i := range x.attrs {
		a := &x.attrs[i]
		c := about
		c.Kind, c.Name = AttributeSet, v.s.name(a.name)
		was := a // what the base has of the name
		switch twin, ok := twins[a.name]; {
		case a.dead && (!a.stored || !ok || twin.now >= 0):
			continue // the base doesn't have it, or what has its name now is compared
		case a.dead:
			c.Kind = AttributeGone
		case !a.stored && ok:
			was = &x.attrs[twin.was]
		case !a.stored:
			was = nil
		case !a.changed:
			continue
		}
		if c.Kind == AttributeSet {
			c.New = a.value
		}
		if was != nil {
			var err error
			c.Old, err = storedValue(v.s.base, was.addr)
			c.Lost = err != nil
		}
		if c.Lost || c.Old != c.New {
			tell(c)
		}
	}
}

// attributeTwin is where a node has an attribute that was removed, and where it has another one
// of that name now: -1 if nowhere.
type attributeTwin struct{ was, now int }

// twins returns the attributes that the base has and that were removed, by their names.
func (x *nodeState) twins() map[uint16]attributeTwin {
	var twins map[uint16]attributeTwin
	for i := range x.attrs {
		if a := &x.attrs[i]; a.dead && a.stored {
			if twins == nil {
				twins = map[uint16]attributeTwin{}
			}
			twins[a.name] = attributeTwin{i, -1}
		}
	}
	for i := range x.attrs {
		if a := &x.attrs[i]; !a.dead {
			if twin, ok := twins[a.name]; ok {
				twins[a.name] = attributeTwin{twin.was, i}
			}
		}
	}
	return twins
}

// definition calls tell for the keys and flags of a node that differ.
func (v *survey) definition(x *surveyed, base datacenter.Node, about Change, tell func(Change)) {
	if old, keys := base.Keys(), v.s.definition(x.key); !slices.Equal(old, keys) {
		c := about
		c.Kind, c.OldKeys, c.Keys = KeysSet, old, keys
		tell(c)
	}
	if old := base.Flags(); old != x.flags {
		c := about
		c.Kind, c.OldFlags, c.Flags = FlagsSet, old, x.flags
		tell(c)
	}
}

// storedValue reads the value of an attribute.
func storedValue(f *datacenter.File, addr datacenter.Address) (datacenter.Value, error) {
	a, err := f.Attribute(addr)
	if err != nil {
		return datacenter.Value{}, err
	}
	return a.Value()
}

// netCount remembers how many changes there are.
type netCount struct {
	// mu is held while they are counted, so that nobody counts them at the same time.
	mu sync.Mutex
	// made is the number of edits that were made when they were counted.
	made, count int64
}

// Pending returns the number of changes that are in no file yet: as many as
// [Snapshot.Changes] returns. It counts them only if something was edited since the last
// call.
func (d *Draft) Pending() int64 {
	p := &d.pending
	p.mu.Lock()
	defer p.mu.Unlock()
	d.mu.RLock()
	made := d.made
	d.mu.RUnlock()
	if p.made != made {
		s := d.View()
		defer s.Close()
		p.made, p.count = s.made, s.count()
	}
	return p.count
}

// Counted calls f with the result of Pending while nothing can be edited. It does not call f if
// something is edited while it counts: edits do not wait for that.
func (d *Draft) Counted(f func(pending int64)) {
	d.Pending()
	p := &d.pending
	p.mu.Lock()
	defer p.mu.Unlock()
	d.editing.Lock()
	defer d.editing.Unlock()
	if p.made == d.made {
		f(p.count)
	}
}

// Pending returns the number of [Snapshot.Changes].
func (s *Snapshot) Pending() int64 {
	p := &s.d.pending
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.made == s.made {
		return p.count
	}
	return s.count()
}

func (s *Snapshot) count() (count int64) {
	newSurvey(s).changes(func(Change) { count++ })
	return count
}
