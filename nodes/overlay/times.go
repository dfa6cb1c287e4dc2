package overlay

import (
	"sync"
	"time"

	"lorefs/nodes"
)

// times are those of nodes that have another one than their source tells. They are
// safe for parallel use.
type times struct {
	now func() time.Time

	mu sync.RWMutex
	at map[nodes.ID]time.Time
}

// newTimes makes times that are told by a clock.
func newTimes(now func() time.Time) *times { return &times{now: now, at: map[nodes.ID]time.Time{}} }

// Of is the time of a node, or its source's if there is no other.
func (t *times) Of(id nodes.ID, source time.Time) time.Time {
	if at, ok := t.Own(id); ok {
		return at
	}
	return source
}

// Own is the time of a node that has another one than its source's; ok is false if it has
// none.
func (t *times) Own(id nodes.ID) (at time.Time, ok bool) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	at, ok = t.at[id]
	return at, ok
}

// Touch gives nodes the time of now.
func (t *times) Touch(ids ...nodes.ID) {
	now := t.now()
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, id := range ids {
		t.at[id] = now
	}
}

// Set gives a node a time.
func (t *times) Set(id nodes.ID, at time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.at[id] = at
}

// Drop lets a node have its source's time again.
func (t *times) Drop(id nodes.ID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.at, id)
}
