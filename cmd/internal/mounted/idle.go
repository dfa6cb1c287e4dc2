package mounted

import (
	"context"
	"errors"
	"time"

	"lorefs/cmd/internal/save"
	"lorefs/fs"
)

const (
	// idleTicks is how often in the time that a mount has to be idle its use is looked at, and
	// leastTick and mostTick are bounds for the time between two looks.
	idleTicks = 8
	leastTick = 20 * time.Millisecond
	mostTick  = 10 * time.Second
)

// UnmountIdle unmounts once nobody has used the mount for some time, and nothing is open. What
// was edited is saved before: if that fails, or texts would be lost, the source stays mounted.
// It returns when the mount is gone, or ctx done.
func (m *Mount) UnmountIdle(ctx context.Context, after time.Duration) {
	w := idleWatch{m: m, after: after}
	tick := time.NewTicker(min(max(after/idleTicks, leastTick), mostTick))
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			if w.look(now) {
				return
			}
		}
	}
}

// idleWatch watches the use of a mount.
type idleWatch struct {
	m     *Mount
	after time.Duration
	// marked says that nothing was in use at the time since, when used and asked were as here.
	marked      bool
	since       time.Time
	used, asked uint64
	// told is why the mount stays, as the log has it already.
	told string
}

// look reports whether the mount is gone.
func (w *idleWatch) look(now time.Time) bool {
	st := w.m.server.Stats()
	if used, asked := st.Used(), w.m.asked.Load(); !w.marked || used != w.used || asked != w.asked {
		w.used, w.asked = used, asked
		w.mark(now)
		return false
	}
	if now.Sub(w.since) < w.after {
		return false
	}
	if why := w.m.saveIdle(); why != "" {
		if why != w.told {
			w.m.opts.Logger.Warn("nobody uses the mount, and it stays: not all can be saved", "mountpoint", w.m.opts.Dir, "err", why)
		}
		w.told = why
		w.mark(now)
		return false
	}
	switch err := w.m.served.Expire(); {
	case err == nil:
		return true
	case errors.Is(err, fs.ErrUsed):
		w.mark(now)
	default: // in use
		w.marked = false
	}
	return false
}

// mark begins to count the time anew.
func (w *idleWatch) mark(now time.Time) {
	w.since, w.marked = now, w.m.server.MarkUnused() == nil
}

// saveIdle saves what was edited. It returns why the source has to stay mounted, or nothing.
func (m *Mount) saveIdle() (why string) {
	if m.source.Sessions == nil {
		return ""
	}
	if a := m.commit(save.How{}); a.Error != "" {
		return a.Error
	}
	if strays := m.source.LeftOut().Strays; strays.Count > 0 {
		return "files without values, such as " + strays.Names[0] + ", would be lost"
	}
	return ""
}
