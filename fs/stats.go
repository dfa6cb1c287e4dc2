package fs

import (
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// counters are what [Stats] is made from. Their fields are for use by many
// goroutines at once.
type counters struct {
	lookups, getattrs, opens, opendirs, readdirs, reads, xattrs, others atomic.Uint64
	readBytes, forgets, pruned, nameOnly, primed                        atomic.Uint64
}

func (c *counters) stats() Stats {
	s := Stats{
		Lookups: c.lookups.Load(), Getattrs: c.getattrs.Load(), Opens: c.opens.Load(), Opendirs: c.opendirs.Load(),
		Readdirs: c.readdirs.Load(), Reads: c.reads.Load(), Xattrs: c.xattrs.Load(),
		ReadBytes: c.readBytes.Load(), Forgets: c.forgets.Load(), Pruned: c.pruned.Load(),
		NameOnly: c.nameOnly.Load(), Primed: c.primed.Load(),
	}
	s.Requests = s.Lookups + s.Getattrs + s.Opens + s.Opendirs + s.Readdirs + s.Reads + s.Xattrs + c.others.Load()
	return s
}

const (
	// keptErrors is how many errors errorLog remembers.
	keptErrors = 32
	// logEvery is the least time between two logged errors of the same text.
	logEvery = time.Minute
)

// errorLog remembers and logs what went wrong: the same text at most once a
// minute, because one damaged block may fail ten thousand reads.
type errorLog struct {
	logger *slog.Logger
	total  atomic.Uint64

	// mu guards last, which is in the order of time.
	mu   sync.Mutex
	last []ErrorRecord
}

// add counts an error, and logs it if that is due. The path is asked for only then.
func (l *errorLog) add(op string, path func() string, err error) {
	l.total.Add(1)
	now := time.Now()
	text := err.Error()
	if !l.due(now, text) {
		return
	}
	r := ErrorRecord{Time: now, Op: op, Path: path(), Err: text}
	l.mu.Lock()
	l.last = slices.DeleteFunc(l.last, func(o ErrorRecord) bool { return o.Err == text })
	if len(l.last) == keptErrors {
		l.last = slices.Delete(l.last, 0, 1)
	}
	l.last = append(l.last, r)
	l.mu.Unlock()
	l.logger.Error("request failed", "op", op, "path", r.Path, "err", err)
}

func (l *errorLog) due(now time.Time, text string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, r := range l.last {
		if r.Err == text {
			return now.Sub(r.Time) >= logEvery
		}
	}
	return true
}

func (l *errorLog) records() []ErrorRecord {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.last)
}
