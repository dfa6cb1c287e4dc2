package dcsave

import (
	"context"
	"errors"
	"slices"
	"sync"

	"lorefs/datacenter"
	"lorefs/datacenter/edit"
	"lorefs/internal/formats/datacenter/identity"
)

const (
	// noteSize is the length at which a note is complete and the next one begins. A note longer
	// than maxNote, because of a single node, is left out.
	noteSize = 256 << 10
	maxNote  = 32 << 20
	// maxElement is the largest size of the element of a node that was removed: to remove a node from
	// another file, its hash is enough. maxMoved is that of a node that was moved, whose content is
	// needed at its new place. maxElements is the largest size of all elements of a file together.
	maxElement  = 64 << 10
	maxMoved    = 16 << 20
	maxElements = 64 << 20
	// blocksToNote is the number of blocks of the file that are kept in memory while it is
	// described.
	blocksToNote = 8
)

// describer describes the nodes of a file that are edited. It is not safe for parallel use.
type describer struct {
	file   *datacenter.Private
	intact func() error
	// entries is the number of nodes in the file. Nodes that edits added have higher numbers.
	entries edit.Number
	// edited has the edits of each node, and untold those that no note describes yet. behind has
	// the places of nodes that were put among siblings.
	edited map[edit.Number]*nodeEdits
	untold map[edit.Number]*nodeEdits
	behind map[siblings][]int
	// room is the number of bytes left for elements.
	room int
	// paths is nil until it is needed.
	paths *identity.FilePaths
	found *foundPaths
	// sketches is used by whoever makes an edit, while others may be described.
	sketches sketcher
}

// foundPaths are the paths of the nodes of a file that were described. It is safe for parallel use.
type foundPaths struct {
	file  *datacenter.File
	paths sync.Map // from edit.Number to string
}

// of returns the path of a node, empty if it was not described.
func (p *foundPaths) of(n edit.Number) string {
	path, _ := p.paths.Load(n)
	expr, _ := path.(string)
	return expr
}

// nodeEdits says what is edited of a node: some attributes, sorted; taken, if the node was removed
// or moved; moved; last, if it is the last of its name and a node was put behind it.
type nodeEdits struct {
	attributes         []string
	taken, moved, last bool
}

// siblings are the children of a node that have the same name.
type siblings struct {
	parent edit.Number
	name   string
}

// newDescriber returns a describer of a file. intact returns an error if the file has changed since
// it was opened.
func newDescriber(file *datacenter.File, intact func() error) (*describer, error) {
	root, err := file.Root()
	if err != nil {
		return nil, err
	}
	return &describer{
		file: file.Private(blocksToNote), intact: intact, entries: edit.Number(root.Entries()), room: maxElements,
		edited: map[edit.Number]*nodeEdits{}, untold: map[edit.Number]*nodeEdits{}, behind: map[siblings][]int{},
		found: &foundPaths{file: file}, sketches: sketcher{file: file, known: map[edit.Number]*nodeEdits{}},
	}, nil
}

// told records what an existing note describes, so that it is not described again.
func (d *describer) told(nodes []Before) {
	for i := range nodes {
		n := &nodes[i]
		e := nodeEdits{taken: n.Taken, moved: n.Element != nil, last: n.Last}
		for name := range n.Attributes {
			e.add(name)
		}
		d.of(d.sketches.known, n.Number).join(&e)
		if !n.Sketch {
			d.of(d.edited, n.Number).join(&e)
			d.found.paths.Store(n.Number, n.Path)
		}
	}
}

// of returns the edits of a node.
func (d *describer) of(in map[edit.Number]*nodeEdits, n edit.Number) *nodeEdits {
	e := in[n]
	if e == nil {
		e = &nodeEdits{}
		in[n] = e
	}
	return e
}

// add adds the name of an attribute.
func (e *nodeEdits) add(name string) {
	if i, there := slices.BinarySearch(e.attributes, name); !there {
		e.attributes = slices.Insert(e.attributes, i, name)
	}
}

// has reports whether all edits in more are in e.
func (e *nodeEdits) has(more *nodeEdits) bool {
	for _, name := range more.attributes {
		if _, there := slices.BinarySearch(e.attributes, name); !there {
			return false
		}
	}
	return (e.taken || !more.taken) && (e.moved || !more.moved) && (e.last || !more.last)
}

// join adds all edits in more.
func (e *nodeEdits) join(more *nodeEdits) {
	for _, name := range more.attributes {
		e.add(name)
	}
	e.taken, e.moved, e.last = e.taken || more.taken, e.moved || more.moved, e.last || more.last
}

// take records which nodes some records edit. tell describes them later.
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
			d.edit(e.Node, nodeEdits{taken: true, moved: true})
			d.come(&e)
		case edit.AddNode:
			d.come(&e)
		}
	}
	return nil
}

// edit records that a node of the file is edited.
func (d *describer) edit(n edit.Number, what nodeEdits) {
	if e := d.edited[n]; n < d.entries && (e == nil || !e.has(&what)) {
		d.of(d.edited, n).join(&what)
		d.of(d.untold, n).join(&what)
	}
}

// come records that an edit puts a node below a parent. The parent has to be described, and the
// sibling before the new place.
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

// placeBehind returns the place of the sibling in the file after which a rank lies, -1 if the rank
// is before all of them. The file may have fewer siblings than that.
func placeBehind(rank uint64) int { return int((max(rank, 1)-1)/edit.RankGap) - 1 }

// isDone reports whether everything is described.
func (d *describer) isDone() bool { return len(d.untold)+len(d.behind) == 0 }

// forget frees memory that only makes things faster.
func (d *describer) forget() {
	d.paths = nil
	d.file.Forget()
}

// tell calls put with notes of everything that is not described yet. When ctx ends it stops, and
// the next call describes the rest.
func (d *describer) tell(ctx context.Context, put func(note []byte) error) error {
	defer func() {
		if ctx.Err() != nil {
			d.forget() // paths stops working when ctx ends
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
			failed = err // this node is left out
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

// put calls put with a note if the file has not changed: otherwise the note may be wrong.
func (d *describer) put(note []byte, put func(note []byte) error) error {
	if err := d.intact(); err != nil || len(note) == 1 || len(note) > maxNote {
		return err
	}
	return put(note)
}

// begin makes paths. They avoid edited attributes where they can.
func (d *describer) begin(ctx context.Context) (err error) {
	if d.paths == nil {
		d.paths, err = identity.NewFilePaths(ctx, d.file.File, func(number uint32) []string {
			if e := d.edited[edit.Number(number)]; e != nil {
				return e.attributes
			}
			return nil
		})
	}
	return err
}

// neighbours finds the siblings behind which nodes were put.
func (d *describer) neighbours() error {
	for s, places := range d.behind {
		way, err := d.paths.Find(uint32(s.parent))
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

// node appends the description of a node.
func (d *describer) node(note []byte, number edit.Number) ([]byte, error) {
	way, err := d.paths.Find(uint32(number))
	if err != nil {
		return note, err
	}
	at, untold := &way[len(way)-1], d.untold[number]
	b := &Before{
		Number: number, Name: at.Node.Name(), Place: at.Step.Place,
		Keys: at.Node.Keys(), Flags: at.Node.Flags(), Taken: untold.taken, Last: untold.last,
	}
	if len(way) > 1 {
		b.Parent = edit.Number(way[len(way)-2].Number)
	}
	b.Path, b.Guards, err = d.paths.Path(way)
	if err != nil && !errors.Is(err, identity.ErrTooMany) {
		return note, err
	}
	d.found.paths.Store(number, b.Path)
	attributes, err := d.attributes(at.Node, untold.attributes)
	if err != nil {
		return note, err
	}
	var element []byte
	if untold.taken {
		if b.Hash, err = d.paths.Hash(at.Node); err != nil {
			return note, err
		}
		b.Entries = int64(at.Node.Entries())
		most := maxElement
		if untold.moved {
			most = maxMoved
		}
		element, err = appendElement(nil, at.Node, min(most, d.room))
		if d.room -= len(element); errors.Is(err, errLarge) {
			d.room += len(element)
			element, err = nil, nil
		}
	}
	return appendBefore(note, b, attributes, element), err
}

// attributes returns the attributes of a node that have the given names. One that the node does not
// have has no type.
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
