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
	// A note is written noteAfter the last edit, but at most noteWithin after the first: finding
	// the first path among many siblings takes longer than an edit may take.
	noteAfter  = 500 * time.Millisecond
	noteWithin = 5 * time.Second
	// forgetAfter is how long the memory for finding paths is kept for the next edit.
	forgetAfter = 10 * time.Second
	// noteAtLast is the longest time that closing a session takes to write the last notes.
	noteAtLast = 10 * time.Second
)

// noter writes notes about edited nodes to the journal (see noteVersion), and then how many edits
// there are. Of a node that has no note yet it writes a sketch before the edit returns, see
// takeNew. The whole note comes a little after the edits, which don't wait for it. If the process
// dies before that, the next session writes the notes, if the file is still there; if it is not,
// the sketches are all that a patch is made from.
type noter struct {
	put func(note []byte) error
	// count is called once all edits so far have notes.
	count func()
	log   *slog.Logger

	// working is held while nodes are described. It is taken before mu.
	working sync.Mutex

	// mu guards the fields below. It is held while a note is written, so that no note is taken for
	// one about the next file.
	mu sync.Mutex
	d  *describer
	// records are the records without notes; the first of them was added at since.
	records [][]byte
	since   time.Time
	// timer runs work; busy is set while work runs. held is the number of callers of hold that have
	// not called release.
	timer *time.Timer
	busy  bool
	held  int
	// ctx ends when work has to stop.
	ctx  context.Context
	stop context.CancelFunc
}

func newNoter(put func(note []byte) error, count func(), log *slog.Logger) *noter {
	n := &noter{put: put, count: count, log: log}
	n.ctx, n.stop = context.WithCancel(context.Background())
	return n
}

// take schedules a note about the edits of a record.
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

// takeNew is take for a record that was just written. A sketch of the edited nodes is written before it
// returns.
func (n *noter) takeNew(record []byte) {
	n.mu.Lock()
	note, err := n.d.sketch(record)
	if err == nil && note != nil {
		err = n.d.put(note, n.put)
	}
	n.mu.Unlock()
	if err != nil {
		n.log.Info("the journal does not say yet what an edit was made on", "err", err)
	}
	n.take(record)
}

// wake schedules work. The caller holds mu.
func (n *noter) wake(after time.Duration) {
	if n.held > 0 || n.busy {
		return
	}
	n.sleep()
	n.timer = time.AfterFunc(after, n.work)
}

// sleep cancels wake. The caller holds mu.
func (n *noter) sleep() {
	if n.timer != nil {
		n.timer.Stop()
		n.timer = nil
	}
}

// describe continues with another file, to which the edits of some records belong. The caller holds
// mu, unless n is not shared yet.
func (n *noter) describe(d *describer, records [][]byte) {
	n.d, n.records = d, nil
	for _, r := range records {
		n.records = append(n.records, bytes.Clone(r))
	}
}

// found returns the paths that were found so far of nodes of the edited file.
func (n *noter) found() *foundPaths {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.d.found
}

// rebase calls publish and, if that succeeds, continues with another file. It blocks notes
// meanwhile.
func (n *noter) rebase(d *describer, later [][]byte, publish func(later [][]byte) error) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	err := publish(later)
	if err == nil {
		n.describe(d, later)
	}
	return err
}

// hold stops work until release: a save needs the time, and usually makes the notes unnecessary.
func (n *noter) hold() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.held++
	n.sleep()
	n.stop()
}

// pause is hold, unless edits have waited for their notes too long.
func (n *noter) pause() (release func()) {
	n.mu.Lock()
	isLate := time.Since(n.since) > noteWithin
	n.mu.Unlock()
	if isLate {
		return func() {}
	}
	n.hold()
	return n.release
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

// close stops the noter. If edits is set, unsaved edits stay in the journal, and close writes their
// notes first.
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

// work writes notes for all records that have none.
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
	if n.settle(ctx, d, err, isDone) && len(records) > 0 && ctx.Err() == nil {
		n.count()
	}
}

// settle ends a round of work on d. It reports whether all edits have notes.
func (n *noter) settle(ctx context.Context, d *describer, err error, isDone bool) bool {
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
	return err == nil && n.d == d && len(n.records) == 0
}

// next returns what work has to do. If d is nil, there is nothing to do.
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

// putAbout writes a note about the file of d, if that is still the edited file.
func (n *noter) putAbout(d *describer, note []byte) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.d != d {
		return errOther
	}
	return n.put(note)
}

// errOther ends the work on a file that is no longer the edited one.
var errOther = errors.New("another file is edited")
