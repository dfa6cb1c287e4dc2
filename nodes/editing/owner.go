package editing

import (
	"context"
	"fmt"
	"sync"
	"time"

	"lorefs/nodes"
)

// Owner is what of an editable tree is not its own way of doing things.
type Owner struct {
	tree nodes.Tree
	// editing and mu are the tree's locks, see the package.
	editing sync.Locker
	mu      *sync.RWMutex
	// Sync makes durable what was committed. It is called without a lock.
	Sync func() error
	// Now is the time that edits happen at.
	Now func() time.Time
	// Tell tells of a change that nobody asked for by its number.
	Tell func(nodes.Change)
	// Times are those of the tree's nodes.
	Times *Times
}

// NewOwner makes that of a tree, with the tree's locks. Without sync nothing is made
// durable, without now the time is that of the clock.
func NewOwner(t nodes.Tree, editing sync.Locker, mu *sync.RWMutex, sync func() error, now func() time.Time) *Owner {
	if sync == nil {
		sync = func() error { return nil }
	}
	if now == nil {
		now = time.Now
	}
	return &Owner{t, editing, mu, sync, now, func(nodes.Change) {}, NewTimes(now)}
}

// Hold sees to it that a file's text is held: if it is not, all that the file shows.
// The caller holds Editing.
func (o *Owner) Hold(ctx context.Context, file nodes.ID, text *Text) error {
	if o.isHeld(text) {
		return nil
	}
	attr, err := o.tree.Attr(ctx, file)
	if err != nil {
		return err
	}
	b := make([]byte, attr.Size)
	if n, err := o.tree.ReadAt(ctx, file, b, 0); n < len(b) {
		return fmt.Errorf("read %d bytes of %d: %w", n, len(b), err)
	}
	o.HoldAs(text, b)
	return nil
}

// HoldAs has a text hold data, unless it holds something.
func (o *Owner) HoldAs(text *Text, data []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !text.held {
		text.Hold(data)
	}
}

func (o *Owner) isHeld(text *Text) bool {
	o.mu.RLock()
	defer o.mu.RUnlock()
	return text.held
}
