package fs

import (
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// counters are the counters behind [Stats].
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

// weight says how serious an error is.
type weight uint8

const (
	// answer is a normal answer: a name does not exist, or exists already; a signal came.
	answer weight = iota
	// plain is an error that counts, but whose number says everything.
	plain
	// odd is an error that is also worth a line in the log.
	odd
)

const (
	// maxErrors is how many errors errorLog remembers.
	maxErrors = 20
	// logEvery is the least time between two logged errors of the same text.
	logEvery = time.Minute
	// loggedPerOp is how many errors of one operation are logged in that time.
	loggedPerOp = 8
	// repeatTime is how long the same error of the same thread is a repetition. One read of a
	// program may be several requests: the kernel reads ahead, and if that fails it asks again
	// for a single page; cat(1) tries to copy before it reads.
	repeatTime = time.Second
)

// errorLog counts errors and remembers the latest. It logs the same text at most once a
// minute, because one damaged block may fail ten thousand reads, and only some errors of
// one operation, because ten thousand blocks may be damaged.
type errorLog struct {
	logger *slog.Logger

	// mu guards the fields below.
	mu    sync.Mutex
	total uint64
	// last is in the order of time. A repeated error is one record.
	last []ErrorRecord
	ops  map[string]logged
	// texts are the texts logged since textsSince.
	texts      map[string]bool
	textsSince time.Time
}

// logged counts the logged errors of an operation since a time.
type logged struct {
	since time.Time
	n     int
}

// add counts and remembers an error, and logs it if it is odd and due. by is the thread that it
// happens to, or 0 if every error counts.
func (l *errorLog) add(by uint32, op, path string, err error, w weight) {
	if l.remember(ErrorRecord{Time: time.Now(), Op: op, Path: path, Err: err.Error(), Times: 1, by: by}, w) {
		l.logger.Error("request failed", "op", op, "path", path, "err", err)
	}
}

// remember does everything but the logging, and reports whether that is due.
func (l *errorLog) remember(r ErrorRecord, w weight) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	same := func(o ErrorRecord) bool { return o.Op == r.Op && o.Path == r.Path && o.Err == r.Err }
	i := slices.IndexFunc(l.last, same)
	if i >= 0 && r.by != 0 && l.last[i].by == r.by && r.Time.Sub(l.last[i].Time) < repeatTime {
		return false
	}
	l.total++
	if i >= 0 {
		r.Times += l.last[i].Times
		l.last = slices.Delete(l.last, i, i+1)
	} else if len(l.last) == maxErrors {
		l.last = slices.Delete(l.last, 0, 1)
	}
	l.last = append(l.last, r)
	return w == odd && l.isDue(r)
}

// isDue reports whether an error is to be logged. The caller holds mu.
func (l *errorLog) isDue(r ErrorRecord) bool {
	if r.Time.Sub(l.textsSince) >= logEvery {
		l.texts, l.textsSince = map[string]bool{}, r.Time
	}
	if l.texts[r.Err] {
		return false
	}
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
	l.texts[r.Err] = true
	return true
}

// records returns the number of errors, and the latest of them.
func (l *errorLog) records() (total uint64, last []ErrorRecord) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.total, slices.Clone(l.last)
}
