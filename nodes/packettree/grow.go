package packettree

import (
	"context"
	"time"

	"lorefs/nodes"
)

// lookEvery is how often a watched tree looks whether its log has grown.
const lookEvery = 250 * time.Millisecond

// Watch implements [nodes.Changing]. From then on, until Close, the tree looks whether its log
// has grown.
func (t *Tree) Watch(f func(nodes.Change)) {
	if t.opts.Grown == nil {
		return
	}
	ctx, stop := context.WithCancel(context.Background())
	t.stop = stop
	t.following.Go(func() {
		tick := time.NewTicker(lookEvery)
		defer tick.Stop()
		for t.look(ctx, f) == nil {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
		}
	})
}

// Caps implements [nodes.Capable].
func (t *Tree) Caps() nodes.Caps {
	if t.opts.Grown == nil {
		return 0
	}
	return nodes.CapChange
}

// Close ends what Watch has begun.
func (t *Tree) Close() {
	if t.stop != nil {
		t.stop()
	}
	t.following.Wait()
}

// look takes what was appended to the log, and tells what that changes. An error ends the
// growth; whoever asks for something gets it from Check.
func (t *Tree) look(ctx context.Context, tell func(nodes.Change)) error {
	was := t.now.Load()
	r, modTime, err := t.opts.Grown(ctx)
	if err != nil || r == nil {
		return err
	}
	s := newSession(r, modTime, was)
	touched := map[nodes.ID]bool{linesID: true}
	for i := was.len(); i < s.len(); i++ {
		touched[makeID(kindName, r.Code(s.log.Code(i)).Place)] = true
	}
	var changes []nodes.Change
	for id := range touched {
		// What is measured is of packets that were there before: nobody knows more.
		changes = append(changes, nodes.Change{ID: id, From: t.measured.size(id)})
	}
	for _, id := range []nodes.ID{rootID, packetsID, byNameID, summaryID, pictureID} {
		changes = append(changes, nodes.Change{ID: id})
	}
	t.now.Store(s)
	for _, c := range changes {
		tell(c)
	}
	return nil
}
