package edit

import (
	"context"
	"errors"
)

// Target says what Revert takes back.
type Target struct {
	// Node is a number in the Draft.
	Node Number
	// Attribute is the name of an attribute of the node. If it is empty, the node and
	// everything below it is meant. Node 0 is then the whole Draft.
	Attribute string
}

// ErrPart means that a Target is only a part of something that was added.
var ErrPart = errors.New("it is part of what was added")

// Revert makes what targets name as it is in the base, and returns how many changes
// (see [Snapshot.Changes]) there are less. It makes ordinary edits, which are logged like others, and
// watchers find by in [Applied.By].
func (d *Draft) Revert(ctx context.Context, by any, what []Target) (taken int64, err error) {
	return 0, errors.New("datacenter: not yet")
}
