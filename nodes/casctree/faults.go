package casctree

import (
	"encoding/binary"
	"errors"
	"fmt"
)

const (
	// maxProblems is how many faults of a tree are reported, and maxFaults how many errors
	// of files that are listed and can't be read.
	maxProblems = 100
	maxFaults   = 1 << 12
)

// errManyFaults stands for the errors after the first maxFaults.
var errManyFaults = fmt.Errorf("damaged, as are more than %d others", maxFaults)

// live notes a fault in spite of which the tree can be used.
func (b *builder) live(err error) {
	b.nProblems++
	if b.nProblems <= maxProblems {
		b.problems = append(b.problems, err)
	}
}

// told returns the noted faults.
func (b *builder) told() []error {
	if more := b.nProblems - len(b.problems); more > 0 {
		return append(b.problems, fmt.Errorf("%d more like these", more))
	}
	return b.problems
}

// setFault marks a file that is listed but can't be read, with the reason. Its key has the
// number of the reason, and behind it bytes that distinguish it from others.
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

// fault returns why a file with flagFault can't be read.
func (t *table) fault(e entry) error {
	n := int64(binary.LittleEndian.Uint32(e.ekey()))
	if n >= int64(len(t.faults)) {
		return errors.New("casctree: the table does not say why it can't be read")
	}
	return t.faults[n]
}
