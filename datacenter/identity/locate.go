package identity

import (
	"context"
	"fmt"
	"slices"
	"sort"

	"lorefs/datacenter"
	"lorefs/datacenter/query"
)

// Locator leads to the nodes of a file by their numbers: how many entries a walk meets before
// them. To ask for numbers that ascend costs one pass over the siblings on the way. For others, it
// remembers the numbers of many siblings. It is for one goroutine.
type Locator struct {
	file  *datacenter.File
	root  datacenter.Node
	stack []Located
	// starts has the numbers of the children of nodes that have many, and remembered is how many
	// numbers these are.
	starts     map[uint32][]uint32
	remembered int
}

// Located is a node on the way to another.
type Located struct {
	Node   datacenter.Node
	Number uint32
	// Step leads to it from the one above; that to the root is empty.
	Step Step
	// below and next are where to go on looking: a place in the run of children, and the
	// number of what begins there.
	below int
	next  uint32
}

// NewLocator makes one for a file.
func NewLocator(f *datacenter.File) (*Locator, error) {
	root, err := f.Root()
	return &Locator{file: f, root: root}, err
}

// Find gives the way from the root to the node with a number. It is good until the next.
func (l *Locator) Find(number uint32) ([]Located, error) {
	for i := len(l.stack) - 1; i >= 0; i-- {
		if at := &l.stack[i]; number == at.Number || number > at.Number && number-at.Number < at.Node.Entries() && number >= at.next {
			break
		}
		l.stack = l.stack[:i]
	}
	if len(l.stack) == 0 {
		l.stack = append(l.stack, located(l.root, 0, Step{}))
	}
	for {
		at := &l.stack[len(l.stack)-1]
		if at.Number == number {
			return l.stack, nil
		}
		child, err := l.holding(at, number)
		if err != nil {
			return nil, err
		}
		l.stack = append(l.stack, child)
	}
}

// Number returns the number of the node to which steps lead that have a name and a place each.
func (l *Locator) Number(steps []query.PlainStep) (number uint32, err error) {
	n := l.root
	for _, s := range steps {
		index := slices.Index(l.file.Names(), s.Name) + 1
		c, ok, err := n.ChildNamed(uint16(index), s.Nth-1)
		if err != nil {
			return 0, err
		}
		if !ok {
			return 0, ErrNoNode
		}
		number = NumberBelow(number, n, c)
		n = c
	}
	return number, nil
}

// NumberBelow returns the number of a child of the node with a number.
func NumberBelow(number uint32, n, child datacenter.Node) uint32 {
	return number + 1 + uint32(n.AttributeCount()) + n.EntriesBefore(n.ChildIndex(child))
}

func located(n datacenter.Node, number uint32, step Step) Located {
	return Located{Node: n, Number: number, Step: step, next: number + 1 + uint32(n.AttributeCount())}
}

// holding goes on to the child that an entry is, or is below.
func (l *Locator) holding(at *Located, entry uint32) (Located, error) {
	n := at.Node.ChildCount()
	if n >= wide {
		starts := l.startsOf(at)
		at.below = max(sort.Search(n, func(i int) bool { return starts[i] > entry })-1, 0)
		at.next = starts[at.below]
	}
	for ; at.below < n && entry >= at.next; at.below++ {
		entries := l.file.Entries(at.Node.ChildAddress(at.below))
		if entry-at.next < entries {
			c, err := at.Node.ChildAt(at.below)
			if err != nil {
				return Located{}, err
			}
			place, err := at.Node.Ordinal(c)
			return located(c, at.next, Step{Name: c.Name(), Place: place}), err
		}
		at.next += entries
	}
	return Located{}, fmt.Errorf("%w: number %d", ErrNoNode, entry)
}

const (
	// wide is the number of children from which on their numbers are remembered, and maxStarts how
	// many numbers are.
	wide      = 64
	maxStarts = 1 << 20
)

// startsOf returns the numbers of the children of a node.
func (l *Locator) startsOf(at *Located) []uint32 {
	if starts, ok := l.starts[at.Number]; ok {
		return starts
	}
	n := at.Node.ChildCount()
	if l.remembered += n; l.remembered > maxStarts || l.starts == nil {
		l.starts, l.remembered = map[uint32][]uint32{}, n
	}
	starts, next := make([]uint32, n), at.Number+1+uint32(at.Node.AttributeCount())
	for i := range starts {
		starts[i] = next
		next += l.file.Entries(at.Node.ChildAddress(i))
	}
	l.starts[at.Number] = starts
	return starts
}

// FilePaths finds the paths of nodes of a file by their numbers. Like Locator, it is for one
// goroutine, and fast if the numbers ascend.
type FilePaths struct {
	*Locator
	paths    *Paths[datacenter.Node]
	changing func(number uint32) []string
	steps    []Step
}

// NewFilePaths makes one for a file, which works until ctx ends. changing returns the
// attributes of a node that are about to change, see [Step].
func NewFilePaths(ctx context.Context, f *datacenter.File, changing func(number uint32) []string) (*FilePaths, error) {
	l, err := NewLocator(f)
	if err != nil {
		return nil, err
	}
	return &FilePaths{Locator: l, paths: NewPaths(NewFile(ctx), l.root), changing: changing}, nil
}

// Path returns the path of the node that a way of the Locator leads to, as [Paths.Find]
// does. It is "/" for the root.
func (p *FilePaths) Path(way []Located) (expr string, err error) {
	if len(way) == 1 {
		return "/", nil
	}
	return p.paths.Find(p.along(way))
}

// along returns the steps of a way.
func (p *FilePaths) along(way []Located) []Step {
	p.steps = p.steps[:0]
	for i := range way[1:] {
		step := way[i+1].Step
		step.Changing = p.changing(way[i+1].Number)
		p.steps = append(p.steps, step)
	}
	return p.steps
}
