package dcsave

import (
	"sync"
	"time"
)

// countAfter is how long after the last edit the edits are counted.
const countAfter = 500 * time.Millisecond

// counter calls count a little after the last edit: to count the edits takes longer than an edit
// may take. If the process dies before that, a reader of the journal makes the edits again to count
// them.
type counter struct {
	count func()

	// mu guards the fields below. It is not held while the edits are counted.
	mu     sync.Mutex
	timer  *time.Timer
	closed bool
	// running is held while they are counted.
	running sync.Mutex
}

// wake has the edits counted soon.
func (c *counter) wake() {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.closed:
	case c.timer == nil:
		c.timer = time.AfterFunc(countAfter, c.run)
	default:
		c.timer.Reset(countAfter)
	}
}

// run counts the edits, unless the counter is closed.
func (c *counter) run() {
	c.running.Lock()
	defer c.running.Unlock()
	c.mu.Lock()
	closed := c.closed
	c.mu.Unlock()
	if !closed {
		c.count()
	}
}

// close returns when nothing is counted any more, and nothing will be.
func (c *counter) close() {
	c.mu.Lock()
	c.closed = true
	if c.timer != nil {
		c.timer.Stop()
	}
	c.mu.Unlock()
	c.running.Lock()
	defer c.running.Unlock()
}
