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

// Own is a tree's own way of doing things. P is its kind of a Place.
type Own[P Placer] struct {
	// Find looks at a name of a directory.
	Find func(ctx context.Context, dir nodes.ID, name string) (P, error)
	// Remove removes what is at a place, which is of the kind that was asked for.
	Remove func(ctx context.Context, at P) error
	// Rename renames what is at one place to another, where there is nothing or what is
	// as much a directory as that. Exchange swaps what is at two places.
	Rename, Exchange func(ctx context.Context, from, to P) error
}

// Placer is what has a Place.
type Placer interface{ place() *Place }

// Methods are those of [nodes.Mutable] that all trees have alike, to be embedded.
type Methods[P Placer] struct {
	owner *Owner
	own   Own[P]
}

// NewMethods makes those of a tree.
func NewMethods[P Placer](o *Owner, own Own[P]) Methods[P] { return Methods[P]{o, own} }

// Remove implements [nodes.Mutable].
func (m Methods[P]) Remove(ctx context.Context, dir nodes.ID, name string, kind nodes.Kind) error {
	m.owner.editing.Lock()
	defer m.owner.editing.Unlock()
	at, err := m.own.Find(ctx, dir, name)
	if err == nil {
		err = at.place().checkRemove(kind)
	}
	if err == nil {
		err = m.own.Remove(ctx, at)
	}
	if err == nil {
		m.owner.Times.Touch(dir)
	}
	return err
}

// Rename implements [nodes.Mutable].
func (m Methods[P]) Rename(
	ctx context.Context, dir nodes.ID, name string, toDir nodes.ID, toName string, mode nodes.RenameMode,
) error {
	m.owner.editing.Lock()
	defer m.owner.editing.Unlock()
	from, err := m.own.Find(ctx, dir, name)
	if err != nil {
		return err
	}
	to, err := m.own.Find(ctx, toDir, toName)
	if err != nil {
		return err
	}
	same, err := checkRename(from.place(), to.place(), mode)
	if err != nil || same {
		return err
	}
	rename := m.own.Rename
	if mode == nodes.RenameExchange {
		rename = m.own.Exchange
	}
	if err := rename(ctx, from, to); err != nil {
		return err
	}
	m.owner.Times.Touch(dir, toDir)
	return nil
}

// SetModTime implements [nodes.Mutable].
func (m Methods[P]) SetModTime(ctx context.Context, id nodes.ID, mtime time.Time) error {
	attr, err := m.owner.tree.Attr(ctx, id)
	if err != nil {
		return err
	}
	if !attr.Writable {
		return nodes.ErrReadOnly
	}
	m.owner.Times.Set(id, mtime)
	return nil
}

// Sync implements [nodes.Mutable].
func (m Methods[P]) Sync(context.Context) error { return m.owner.Sync() }

// Watch implements [nodes.Mutable].
func (m Methods[P]) Watch(f func(nodes.Change)) { m.owner.Tell = f }
