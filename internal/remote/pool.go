package remote

import (
	"context"
	"slices"
	"sync"
	"time"
)

const (
	// maxHost is how many requests a host gets at a time, and maxAll all of them.
	maxHost = 8
	maxAll  = 16
)

// host is a host, and what is known of it. The pool's mutex guards all but Host and limit.
type host struct {
	Host
	limit int
	busy  int
	// bad is until when the host comes after others, and rest until when it gets no request.
	bad, rest time.Time
	// failed is when it last failed.
	failed time.Time
	pace   pace
	stats  HostStats
}

// pool hands out hosts.
type pool struct {
	hosts []*host // those without fallback first

	mu    sync.Mutex // guards the rest, and the hosts
	busy  int
	freed chan struct{} // closed and replaced when a host has one request less
}

func newPool(hosts []Host) *pool {
	hosts = slices.Clone(hosts)
	slices.SortStableFunc(hosts, func(a, b Host) int { return rankOf(a) - rankOf(b) })
	p := &pool{freed: make(chan struct{})}
	for _, h := range hosts {
		limit := maxHost
		if h.MaxHosts > 0 {
			limit = min(limit, h.MaxHosts)
		}
		p.hosts = append(p.hosts, &host{Host: h, limit: limit, stats: HostStats{URL: h.URL}})
		if h.Strict {
			break
		}
	}
	return p
}

func rankOf(h Host) int {
	if h.Fallback {
		return 1
	}
	return 0
}

// rank orders hosts by how well they can be asked now.
func (h *host) rank(now time.Time) int {
	rank := rankOf(h.Host)
	if now.Before(h.bad) {
		rank += 2
	}
	if now.Before(h.rest) {
		rank += 4
	}
	return rank
}

// acquire returns a host that is not in asked, for one request. It waits until one may get a
// request. It returns nil if all are in asked.
func (p *pool) acquire(ctx context.Context, asked map[*host]bool) (*host, error) {
	for {
		h, freed, wait := p.next(asked)
		if h != nil || freed == nil {
			return h, nil
		}
		if err := sleep(ctx, wait, freed); err != nil {
			return nil, err
		}
	}
}

// next returns a host, or what to wait for: a host that becomes free, and the end of the time
// for which a host wants to be left alone, if that is not 0. It returns nothing if there is no
// host.
func (p *pool) next(asked map[*host]bool) (*host, <-chan struct{}, time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	var best []*host
	bestRank := 0
	for _, h := range p.hosts {
		if asked[h] {
			continue
		}
		rank := h.rank(now)
		if len(best) == 0 || rank < bestRank {
			best, bestRank = nil, rank
		}
		if rank == bestRank {
			best = append(best, h)
		}
	}
	if len(best) == 0 {
		return nil, nil, 0
	}
	wait := time.Duration(0)
	for _, h := range best {
		if rest := h.rest.Sub(now); rest > 0 {
			if wait == 0 || rest < wait {
				wait = rest
			}
			continue
		}
		if rest := h.pace.ready.Sub(now); rest > 0 {
			if wait == 0 || rest < wait {
				wait = rest
			}
			continue
		}
		if p.busy < maxAll && h.busy < h.pace.limit(h.limit) {
			p.busy++
			h.busy++
			h.pace.start(now)
			h.stats.Requests++
			return h, nil, 0
		}
	}
	return nil, p.freed, wait
}

// release gives a host back after a request that brought n bytes.
func (p *pool) release(h *host, n int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.busy--
	h.busy--
	h.stats.Bytes += n
	close(p.freed)
	p.freed = make(chan struct{})
}

// worked notes that a host gave what it was asked for at a time. That says nothing of a failure
// after it.
func (p *pool) worked(h *host, asked time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !asked.Before(h.failed) {
		h.bad = time.Time{}
	}
	h.pace.served()
}

// answered notes that a host has said that it does not have something.
func (p *pool) answered(h *host) {
	p.mu.Lock()
	defer p.mu.Unlock()
	h.pace.served()
}

// refused notes that a host which was asked at a time wants to be left alone for a while.
func (p *pool) refused(h *host, asked time.Time, err error, t Times) {
	p.failed(h, err, t)
	p.mu.Lock()
	defer p.mu.Unlock()
	rest := h.pace.refused(time.Now(), asked, min(retryAfter(err), t.MaxRetryAfter), t)
	if rest.After(h.rest) {
		h.rest = rest
	}
}

// failed notes what a host did.
func (p *pool) failed(h *host, err error, t Times) {
	p.mu.Lock()
	defer p.mu.Unlock()
	h.stats.Failures++
	h.stats.LastFailure = err.Error()
	h.failed = time.Now()
	h.bad = h.failed.Add(t.Bad)
}

func (p *pool) stats() []HostStats {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := make([]HostStats, len(p.hosts))
	for i, h := range p.hosts {
		all[i] = h.stats
	}
	return all
}

// sleep waits for a time or until wake is closed, or for wake alone if the time is 0.
func sleep(ctx context.Context, d time.Duration, wake <-chan struct{}) error {
	var timeout <-chan time.Time
	if d > 0 {
		timer := time.NewTimer(d)
		defer timer.Stop()
		timeout = timer.C
	} else if wake == nil {
		return context.Cause(ctx)
	}
	select {
	case <-timeout:
		return nil
	case <-wake:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
