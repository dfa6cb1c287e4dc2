package dcsave

import (
	"context"
	"errors"
	"slices"

	"lorefs/datacenter"
	"lorefs/datacenter/edit"
	"lorefs/datacenter/identity"
)

const (
	// noteSize is how long a note gets, unless a single node takes more. One that is longer
	// than maxNote is left out.
	noteSize = 256 << 10
	maxNote  = 32 << 20
	// maxElement bounds one element, and maxElements all of a file together.
	maxElement  = 64 << 10
	maxElements = 64 << 20
	// blocksToNote are those of a file that are kept in memory while it is described.
	blocksToNote = 8
)

// describer tells what a file held of what is edited. It is for one goroutine.
type describer struct {
	file   *datacenter.Private
	intact func() error
	// entries is how many the file has: higher numbers are of nodes that edits made.
	entries edit.Number
	// edited is what is edited of each node, and untold what is not told of that. behind
	// are the places at which nodes came to be among siblings.
	edited map[edit.Number]*nodeEdits
	untold map[edit.Number]*nodeEdits
	behind map[siblings][]int
	// room is how many bytes of elements may still be told.
	room int
	// paths are nil until they are needed.
	paths   *identity.Paths[datacenter.Node]
	locator *identity.Locator
}

// nodeEdits is what is edited of a node: some attributes, sorted, and whether it is taken away;
// last tells that something came behind it, the last of its name.
type nodeEdits struct {
	attributes  []string
	taken, last bool
}

// siblings are the children of a node that have one name.
type siblings struct {
	parent edit.Number
	name   string
}

// newDescriber makes one. intact tells whether the file is as it was opened.
func newDescriber(file *datacenter.File, intact func() error) (*describer, error) {
	root, err := file.Root()
	if err != nil {
		return nil, err
	}
	return &describer{
		file: file.Private(blocksToNote), intact: intact, entries: edit.Number(root.Entries()), room: maxElements,
		edited: map[edit.Number]*nodeEdits{}, untold: map[edit.Number]*nodeEdits{}, behind: map[siblings][]int{},
	}, nil
}

// told takes what a note says, so that it is not told again.
func (d *describer) told(nodes []Before) {
	for i := range nodes {
		n := &nodes[i]
		e := d.of(d.edited, n.Number)
		for name := range n.Attributes {
			e.add(name)
		}
		e.taken, e.last = e.taken || n.Taken, e.last || n.Last
	}
}

// of gives what is edited of a node.
func (d *describer) of(in map[edit.Number]*nodeEdits, n edit.Number) *nodeEdits {
	e := in[n]
	if e == nil {
		e = &nodeEdits{}
		in[n] = e
	}
	return e
}

// add adds an attribute, unless it is there.
func (e *nodeEdits) add(name string) {
	if i, there := slices.BinarySearch(e.attributes, name); !there {
		e.attributes = slices.Insert(e.attributes, i, name)
	}
}

// has tells whether all of more is in e.
func (e *nodeEdits) has(more *nodeEdits) bool {
	for _, name := range more.attributes {
		if _, there := slices.BinarySearch(e.attributes, name); !there {
			return false
		}
	}
	return (e.taken || !more.taken) && (e.last || !more.last)
}

// join adds all of more.
func (e *nodeEdits) join(more *nodeEdits) {
	for _, name := range more.attributes {
		e.add(name)
	}
	e.taken, e.last = e.taken || more.taken, e.last || more.last
}

// take takes in what records edit, which is to be told.
func (d *describer) take(records [][]byte) error {
	for _, r := range records {
		if err := d.takeOne(r); err != nil {
			return err
		}
	}
	return nil
}

func (d *describer) takeOne(record []byte) error {
	for e, err := range edit.ParseRecord(record) {
		if err != nil {
			return err
		}
		switch e.Op {
		case edit.SetAttribute, edit.RemoveAttribute:
			d.edit(e.Node, nodeEdits{attributes: []string{e.Name}})
		case edit.RemoveNode:
			d.edit(e.Node, nodeEdits{taken: true})
		case edit.SetKeys, edit.SetFlags:
			d.edit(e.Node, nodeEdits{})
		case edit.MoveNode:
			d.edit(e.Node, nodeEdits{taken: true})
			d.come(&e)
		case edit.AddNode:
			d.come(&e)
		}
	}
	return nil
}

// edit notes that something of a node is edited.
func (d *describer) edit(n edit.Number, what nodeEdits) {
	if e := d.edited[n]; n < d.entries && (e == nil || !e.has(&what)) {
		d.of(d.edited, n).join(&what)
		d.of(d.untold, n).join(&what)
	}
}

// come notes that a node comes to a parent: also told is the sibling that it is behind.
func (d *describer) come(e *edit.Edit) {
	d.edit(e.Parent, nodeEdits{})
	place, s := placeBehind(e.Rank), siblings{e.Parent, e.Name}
	if e.Parent >= d.entries || place < 0 {
		return
	}
	places := d.behind[s]
	if n := len(places); n == 0 || places[n-1] != place {
		d.behind[s] = append(places, place)
	}
}

// placeBehind is the place of the sibling in the file behind which a rank is, if there are so
// many: -1 if it is ahead of all.
func placeBehind(rank uint64) int { return int((max(rank, 1)-1)/edit.RankGap) - 1 }

// isDone tells whether all was told.
func (d *describer) isDone() bool { return len(d.untold)+len(d.behind) == 0 }

// forget gives up memory that is only there to be fast.
func (d *describer) forget() {
	d.paths, d.locator = nil, nil
	d.file.Forget()
}

// tell has put take notes of all that is not told. If ctx ends meanwhile, the rest is left for
// the next time.
func (d *describer) tell(ctx context.Context, put func(note []byte) error) error {
	defer func() {
		if ctx.Err() != nil {
			d.forget() // it goes with ctx
		}
	}()
	if err := d.begin(ctx); err != nil {
		return err
	}
	if err := d.neighbours(); err != nil {
		return err
	}
	numbers := make([]edit.Number, 0, len(d.untold))
	for n := range d.untold {
		numbers = append(numbers, n)
	}
	slices.Sort(numbers)
	note, told := []byte{noteVersion}, 0
	var failed error
	for i, number := range numbers {
		whole, err := d.node(note, number)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err == nil {
			note = whole
		} else {
			failed = err // nothing is known of this one
		}
		if len(note) < noteSize && i < len(numbers)-1 {
			continue
		}
		if err := d.put(note, put); err != nil {
			return err
		}
		for _, n := range numbers[told : i+1] {
			delete(d.untold, n)
		}
		note, told = note[:1], i+1
	}
	return failed
}

// put puts a note, if the file that it is about was as it is to be.
func (d *describer) put(note []byte, put func(note []byte) error) error {
	if err := d.intact(); err != nil || len(note) == 1 || len(note) > maxNote {
		return err
	}
	return put(note)
}

// begin makes what finds nodes and their paths.
func (d *describer) begin(ctx context.Context) (err error) {
	if d.paths != nil {
		return nil
	}
	root, err := d.file.Root()
	if err != nil {
		return err
	}
	if d.locator, err = identity.NewLocator(d.file.File); err != nil {
		return err
	}
	d.paths = identity.NewPaths(identity.NewFile(ctx), root)
	return nil
}

// neighbours finds the siblings behind which nodes came to be.
func (d *describer) neighbours() error {
	for s, places := range d.behind {
		way, err := d.locator.Find(uint32(s.parent))
		if err != nil {
			return err
		}
		numbers, err := way[len(way)-1].Numbers(s.name)
		if err != nil {
			return err
		}
		last := len(numbers) - 1
		for _, place := range places {
			if last >= 0 {
				d.edit(edit.Number(numbers[min(place, last)]), nodeEdits{last: place >= last})
			}
		}
		delete(d.behind, s)
	}
	return nil
}

// node appends what is to be told of a node.
func (d *describer) node(note []byte, number edit.Number) ([]byte, error) {
	way, err := d.locator.Find(uint32(number))
	if err != nil {
		return note, err
	}
	at, untold := &way[len(way)-1], d.untold[number]
	b := &Before{
		Number: number, Name: at.Node.Name(), Place: at.Step.Place, Path: "/",
		Keys: at.Node.Keys(), Flags: at.Node.Flags(), Taken: untold.taken, Last: untold.last,
	}
	if len(way) > 1 {
		b.Parent = edit.Number(way[len(way)-2].Number)
		b.Path, b.Guards, err = d.paths.Find(d.steps(way))
		if err != nil && !errors.Is(err, identity.ErrTooMany) {
			return note, err
		}
	}
	attributes, err := d.attributes(at.Node, untold.attributes)
	if err != nil {
		return note, err
	}
	var element []byte
	if untold.taken {
		if b.Hash, err = d.paths.Hash(at.Node); err != nil {
			return note, err
		}
		element, err = appendElement(nil, at.Node, min(maxElement, d.room))
		if d.room -= len(element); errors.Is(err, errLarge) {
			d.room += len(element)
			element, err = nil, nil
		}
	}
	return appendBefore(note, b, attributes, element), err
}

// steps are those of a way, which go by what is not edited as far as they can.
func (d *describer) steps(way []identity.Located) []identity.Step {
	steps := make([]identity.Step, 0, len(way)-1)
	for i := range way[1:] {
		step := way[i+1].Step
		if e := d.edited[edit.Number(way[i+1].Number)]; e != nil {
			step.Changing = e.attributes
		}
		steps = append(steps, step)
	}
	return steps
}

// attributes are some of a node; one that it has not has no type.
func (d *describer) attributes(n datacenter.Node, names []string) ([]Attribute, error) {
	list := make([]Attribute, len(names))
	for i, name := range names {
		list[i].Name = name
	}
	for a, err := range n.Attributes() {
		if err != nil {
			return nil, err
		}
		i, ok := slices.BinarySearch(names, a.Name())
		if !ok {
			continue
		}
		if list[i].Value, err = a.Value(); err != nil {
			return nil, err
		}
	}
	return list, nil
}
