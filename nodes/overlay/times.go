package overlay

import (
	"sync"
	"time"

	"lorefs/nodes"
)

// times has the nodes whose time differs from that of their source. It is safe for parallel use.
type times struct {
	now func() time.Time

	mu sync.RWMutex
	at map[nodes.ID]time.Time
}

// newTimes returns an empty times that uses now as its clock.
func newTimes(now func() time.Time) *times { return &times{now: now, at: map[nodes.ID]time.Time{}} }

// Of returns the time of a node. It is source if the node has no other time.
func (t *times) Of(id nodes.ID, source time.Time) time.Time {
	if at, ok := t.Own(id); ok {
		return at
	}
	return source
}

// Own returns the time of a node that has its own; ok is false if it has the source's.
func (t *times) Own(id nodes.ID) (at time.Time, ok bool) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	at, ok = t.at[id]
	return at, ok
}

// Touch sets the time of nodes to now.
func (t *times) Touch(ids ...nodes.ID) {
	now := t.now()
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, id := range ids {
		t.at[id] = now
	}
}

// Set sets the time of a node.
func (t *times) Set(id nodes.ID, at time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.at[id] = at
}

// Drop gives a node the time of its source again.
func (t *times) Drop(id nodes.ID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.at, id)
}
