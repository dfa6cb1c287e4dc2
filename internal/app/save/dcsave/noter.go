package dcsave

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"
)

const (
	// noteAfter is how long it is waited for the next edit until it is noted what they were
	// made on, and noteWithin for how long at most: to find the first path among many siblings
	// takes longer than an edit may.
	noteAfter  = 500 * time.Millisecond
	noteWithin = 5 * time.Second
	// forgetAfter is how long what is known of siblings is kept for the next edit.
	forgetAfter = 10 * time.Second
	// noteAtLast bounds how long a session that ends notes what is left.
	noteAtLast = 10 * time.Second
)

// noter notes in the journal what the file held of what was edited, see noteVersion. It does
// so a little later than the edit, which doesn't wait for it. If the process dies before, the
// next session does it, as long as the file is still there.
type noter struct {
	put func(note []byte) error
	log *slog.Logger

	// working is held by who describes. It is taken before mu.
	working sync.Mutex

	// mu guards what follows. It is held while a note is put, so that no note is taken for one
	// about the file that comes next.
	mu sync.Mutex
	d  *describer
	// records are those of which nothing was noted, the first of them since a time.
	records [][]byte
	since   time.Time
	// timer runs work, and busy tells that this runs. held counts who wants it to wait.
	timer *time.Timer
	busy  bool
	held  int
	// ctx ends when work is to stop.
	ctx  context.Context
	stop context.CancelFunc
}

func newNoter(put func(note []byte) error, log *slog.Logger) *noter {
	n := &noter{put: put, log: log}
	n.ctx, n.stop = context.WithCancel(context.Background())
	return n
}

// take has it noted what the edits of a record are made on.
func (n *noter) take(record []byte) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.records) == 0 {
		n.since = time.Now()
	}
	n.records = append(n.records, bytes.Clone(record))
	if n.timer == nil || time.Since(n.since) < noteWithin-noteAfter {
		n.wake(noteAfter)
	}
}

// wake has work run. The caller holds mu.
func (n *noter) wake(after time.Duration) {
	if n.held > 0 || n.busy {
		return
	}
	n.sleep()
	n.timer = time.AfterFunc(after, n.work)
}

// sleep gives up what wake did. The caller holds mu.
func (n *noter) sleep() {
	if n.timer != nil {
		n.timer.Stop()
		n.timer = nil
	}
}

// describe goes on with another file, to which the edits of some records belong. The caller
// holds mu, unless nobody else knows n yet.
func (n *noter) describe(d *describer, records [][]byte) {
	n.d, n.records = d, nil
	for _, r := range records {
		n.records = append(n.records, bytes.Clone(r))
	}
}

// rebase goes on with another file if publish succeeds. Meanwhile nothing is noted.
func (n *noter) rebase(d *describer, later [][]byte, publish func(later [][]byte) error) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	err := publish(later)
	if err == nil {
		n.describe(d, later)
	}
	return err
}

// hold has nothing noted until release: a save has no time for it, and most likely no need.
func (n *noter) hold() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.held++
	n.sleep()
	n.stop()
}

func (n *noter) release() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.held--; n.held > 0 {
		return
	}
	n.ctx, n.stop = context.WithCancel(context.Background())
	n.wake(noteAfter)
}

// close ends all. First it notes what is left, if there are edits that stay in the journal.
func (n *noter) close(edits bool) {
	n.hold()
	if edits {
		n.release()
		limit := time.AfterFunc(noteAtLast, n.hold)
		n.work()
		if limit.Stop() {
			n.hold()
		}
	}
	n.working.Lock()
	defer n.working.Unlock()
}

// work notes what there is to note.
func (n *noter) work() {
	n.working.Lock()
	defer n.working.Unlock()
	d, records, ctx := n.next()
	if d == nil {
		return
	}
	err := d.take(records)
	isDone := err == nil && d.isDone()
	if err == nil && !isDone {
		err = d.tell(ctx, func(note []byte) error { return n.putAbout(d, note) })
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.busy = false
	switch {
	case err != nil && n.d == d && ctx.Err() == nil:
		n.log.Info("the journal does not say what all edits were made on", "err", err)
		fallthrough
	case isDone, n.d != d:
		d.forget()
	}
	switch {
	case len(n.records) > 0:
		n.wake(noteAfter)
	case err == nil && !isDone:
		n.wake(forgetAfter)
	}
}

// next gives what there is to do: nothing if d is nil.
func (n *noter) next() (d *describer, records [][]byte, ctx context.Context) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.held > 0 {
		return nil, nil, nil
	}
	n.sleep()
	n.busy = true
	records, n.records = n.records, nil
	return n.d, records, n.ctx
}

// putAbout puts a note about the file of d, if that is still the one that is edited.
func (n *noter) putAbout(d *describer, note []byte) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.d != d {
		return errOther
	}
	return n.put(note)
}

// errOther ends work on a file that is not edited any more.
var errOther = errors.New("another file is edited")
