package casctree

import (
	"encoding/binary"
	"errors"
	"fmt"
)

const (
	// maxProblems bounds what is told of the faults that a tree lives with, and
	// maxFaults the errors of files that are listed and can't be read.
	maxProblems = 100
	maxFaults   = 1 << 12
)

// errManyFaults stands for the errors that there are more of than maxFaults.
var errManyFaults = fmt.Errorf("damaged, as are more than %d others", maxFaults)

// live notes a fault that the tree lives with.
func (b *builder) live(err error) {
	b.nProblems++
	if b.nProblems <= maxProblems {
		b.problems = append(b.problems, err)
	}
}

// told are the faults that the tree lives with.
func (b *builder) told() []error {
	if more := b.nProblems - len(b.problems); more > 0 {
		return append(b.problems, fmt.Errorf("%d more like these", more))
	}
	return b.problems
}

// setFault says that a file is listed, and why it can't be read. What is behind the
// number in its key still tells it from others.
func (b *builder) setFault(x *buildFile, err error) {
	n := len(b.faults)
	switch {
	case n > 0 && b.faults[n-1] == err: //nolint:errorlint // many files have the very same
		n--
	case n < maxFaults:
		b.faults = append(b.faults, err)
	default:
		b.faults[n-1] = errManyFaults
		n--
	}
	x.flags |= flagFault
	binary.LittleEndian.PutUint32(x.key[:], uint32(n))
}

// fault is why a file with flagFault can't be read.
func (t *table) fault(e entry) error {
	n := int64(binary.LittleEndian.Uint32(e.ekey()))
	if n >= int64(len(t.faults)) {
		return errors.New("casctree: the table does not say why it can't be read")
	}
	return t.faults[n]
}
