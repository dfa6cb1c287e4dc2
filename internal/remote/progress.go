package remote

import (
	"context"
	"sync"
	"time"
)

const (
	// leastBytes is how many bytes of an answer have to come in Times.Slow.
	leastBytes = 16 << 10
	// maxVain is how many requests may fail one after another before the hosts are given up. An
	// archive that is wrong from end to end has fewer files.
	maxVain = 100_000
	// laterPart is the part of Times.Vain, and of maxVain, that the hosts get after that.
	laterPart = 16
)

// progress tells whether a client gets on: whether anything comes that can be used. What a host
// sends is bounded in size and speed, and each failure ends in time. All of them together would
// still keep a command busy for years.
type progress struct {
	vain, rest time.Duration

	mu sync.Mutex // guards the rest
	// busy is how many objects are asked for, and since from when on without getting on. spent is the
	// time before that, without those in which nothing was asked for.
	busy  int
	since time.Time
	spent time.Duration
	// failures are the requests that failed since then.
	failures int
	// until is until when no host is asked.
	until time.Time
}

// begin begins to ask for an object, unless the hosts are given up. The context ends when they are.
func (p *progress) begin(ctx context.Context) (asking context.Context, end func(), ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	if now.Before(p.until) {
		return nil, nil, false
	}
	if p.busy == 0 {
		p.since = now
	}
	p.busy++
	asking, cancel := context.WithCancelCause(ctx)
	var timer *time.Timer
	timer = time.AfterFunc(p.left(now), func() {
		switch left := p.check(); {
		case asking.Err() != nil:
		case left > 0:
			timer.Reset(left)
		default:
			cancel(errVain)
		}
	})
	return asking, func() {
		timer.Stop()
		cancel(nil)
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.busy--; p.busy == 0 {
			p.spent += time.Since(p.since)
		}
	}, true
}

// left returns for how long the hosts may be asked without getting on. The caller holds mu.
func (p *progress) left(now time.Time) time.Duration {
	if p.busy == 0 {
		return p.vain - p.spent
	}
	return p.vain - p.spent - now.Sub(p.since)
}

// check returns left, or 0 if the hosts are given up.
func (p *progress) check() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	if now.Before(p.until) {
		return 0
	}
	left := p.left(now)
	if left <= 0 || p.failures >= maxVain {
		p.until, p.since = now.Add(p.rest), now
		p.spent, p.failures = p.vain-p.vain/laterPart, maxVain-maxVain/laterPart
		return 0
	}
	return left
}

// gotOn notes that something came that can be used.
func (p *progress) gotOn() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.since, p.spent, p.failures = time.Now(), 0, 0
}

// failed notes a request that failed, and reports whether the hosts are given up.
func (p *progress) failed() bool {
	p.mu.Lock()
	p.failures++
	p.mu.Unlock()
	return p.check() == 0
}
