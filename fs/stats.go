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
	lookups, getattrs, opens, opendirs, readdirs, reads, xattrs, others   atomic.Uint64
	creates, removes, renames, setattrs, writes, flushes, syncs, releases atomic.Uint64
	readBytes, forgets, pruned, nameOnly, primed                          atomic.Uint64
}

func (c *counters) stats() Stats {
	s := Stats{
		Lookups: c.lookups.Load(), Getattrs: c.getattrs.Load(), Opens: c.opens.Load(), Opendirs: c.opendirs.Load(),
		Readdirs: c.readdirs.Load(), Reads: c.reads.Load(), Xattrs: c.xattrs.Load(),
		ReadBytes: c.readBytes.Load(), Forgets: c.forgets.Load(), Pruned: c.pruned.Load(),
		NameOnly: c.nameOnly.Load(), Primed: c.primed.Load(),
	}
	s.Creates, s.Removes, s.Renames, s.Setattrs = c.creates.Load(), c.removes.Load(), c.renames.Load(), c.setattrs.Load()
	s.Writes, s.Flushes, s.Syncs, s.Releases = c.writes.Load(), c.flushes.Load(), c.syncs.Load(), c.releases.Load()
	s.Requests = s.Creates + s.Removes + s.Renames + s.Setattrs + s.Writes + s.Flushes + s.Syncs + s.Releases
	s.Requests += s.Lookups + s.Getattrs + s.Opens + s.Opendirs + s.Readdirs + s.Reads + s.Xattrs + c.others.Load()
	return s
}

const (
	// keptErrors is how many errors errorLog remembers.
	keptErrors = 32
	// logEvery is the least time between two logged errors of the same text.
	logEvery = time.Minute
	// loggedPerOp is how many errors of one operation are logged in that time.
	loggedPerOp = 8
)

// errorLog remembers and logs what went wrong: the same text at most once a
// minute, because one damaged block may fail ten thousand reads, and not many
// of one operation, because ten thousand blocks may be damaged.
type errorLog struct {
	logger *slog.Logger
	// total counts failed requests, also those that are not worth a word.
	total atomic.Uint64

	// mu guards what follows.
	mu sync.Mutex
	// last is in the order of time.
	last []ErrorRecord
	ops  map[string]logged
}

// logged is how many errors of an operation were logged since a time.
type logged struct {
	since time.Time
	n     int
}

// add remembers and logs an error if that is due. The path is asked for only
// then: it may cost a search.
func (l *errorLog) add(op string, path func() string, err error) {
	r := ErrorRecord{Time: time.Now(), Op: op, Err: err.Error()}
	if !l.keep(r) {
		return
	}
	r.Path = path()
	l.setPath(r)
	l.logger.Error("request failed", "op", op, "path", r.Path, "err", err)
}

// addChange is add for a change that failed. All of them are remembered, and only
// the same again within a minute is not logged.
func (l *errorLog) addChange(op, path string, err error) {
	r := ErrorRecord{Time: time.Now(), Op: op, Path: path, Err: err.Error()}
	if l.keepChange(r) {
		l.logger.Error("change refused", "op", op, "path", path, "err", err)
	}
}

// keepChange remembers a record and tells whether it is to be logged.
func (l *errorLog) keepChange(r ErrorRecord) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	same := func(o ErrorRecord) bool { return o.Op == r.Op && o.Path == r.Path && o.Err == r.Err }
	if i := slices.IndexFunc(l.last, same); i >= 0 {
		before := l.last[i].Time
		l.last = append(slices.Delete(l.last, i, i+1), r)
		return r.Time.Sub(before) >= logEvery && l.opIsDue(r)
	}
	l.push(r)
	return l.opIsDue(r)
}

// push makes r the newest record. The caller holds mu.
func (l *errorLog) push(r ErrorRecord) {
	if len(l.last) == keptErrors {
		l.last = slices.Delete(l.last, 0, 1)
	}
	l.last = append(l.last, r)
}

// keep remembers a record, without its path yet, unless that is not due.
func (l *errorLog) keep(r ErrorRecord) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	i := slices.IndexFunc(l.last, func(o ErrorRecord) bool { return o.Err == r.Err })
	if i >= 0 && r.Time.Sub(l.last[i].Time) < logEvery {
		return false
	}
	if !l.opIsDue(r) {
		return false
	}
	if i >= 0 {
		l.last = slices.Delete(l.last, i, i+1)
	}
	l.push(r)
	return true
}

// opIsDue counts a record of an operation. The caller holds mu.
func (l *errorLog) opIsDue(r ErrorRecord) bool {
	o := l.ops[r.Op]
	if r.Time.Sub(o.since) >= logEvery {
		o = logged{since: r.Time}
	}
	if o.n == loggedPerOp {
		return false
	}
	o.n++
	if l.ops == nil {
		l.ops = make(map[string]logged)
	}
	l.ops[r.Op] = o
	return true
}

func (l *errorLog) setPath(r ErrorRecord) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range l.last {
		if o := &l.last[i]; o.Err == r.Err && o.Op == r.Op {
			o.Path = r.Path
		}
	}
}

func (l *errorLog) records() []ErrorRecord {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.last)
}
