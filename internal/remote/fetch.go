package remote

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"
)

// Times are how long the client waits. The zero value has the defaults.
type Times struct {
	// Connect is for a connection, Header for the beginning of an answer after that, and
	// Progress for each next byte. Default: 10 s, 30 s and 30 s.
	Connect, Header, Progress time.Duration
	// Slow is how long the next 16 KiB of an answer may take. Default: 1 minute.
	Slow time.Duration
	// Vain is how long a client asks for something without getting anything that can be used. Then
	// it asks for nothing for as long as Failed. Default: 30 minutes.
	Vain time.Duration
	// Pause is between the first time that all hosts fail and the second; it doubles each
	// time. Default: 250 ms.
	Pause time.Duration
	// MaxRetryAfter is the longest that a host is left alone as it wants. Default: 30 s.
	MaxRetryAfter time.Duration
	// Bad is how long a host that failed comes after others. Default: 5 minutes.
	Bad time.Duration
	// Failed is how long an object that no host gave is not asked for again. Default: 30 s.
	Failed time.Duration
}

func (t Times) orDefault() Times {
	or := func(d *time.Duration, value time.Duration) {
		if *d <= 0 {
			*d = value
		}
	}
	or(&t.Connect, 10*time.Second)
	or(&t.Header, 30*time.Second)
	or(&t.Progress, 30*time.Second)
	or(&t.Slow, time.Minute)
	or(&t.Vain, 30*time.Minute)
	or(&t.Pause, 250*time.Millisecond)
	or(&t.MaxRetryAfter, 30*time.Second)
	or(&t.Bad, 5*time.Minute)
	or(&t.Failed, 30*time.Second)
	return t
}

const (
	// retries is how often all hosts are asked again.
	retries = 3
	// patience is how many rounds more there are if a host in them wants to be left alone for a
	// while, or its connection was cut: the request itself is all right, and is made as it was.
	patience = 6
)

// attempt is one try to get something from any host.
type attempt struct {
	c    *Client
	r    request
	last map[*host]error
	// passing says that a host failed in this round in a way that may soon be over.
	passing bool
}

// fetch asks the hosts until one gives what is wanted.
func (c *Client) fetch(ctx context.Context, r request) ([]byte, error) {
	a := attempt{c: c, r: r, last: map[*host]error{}}
	ctx, end, ok := c.progress.begin(ctx)
	if !ok {
		return nil, a.vain()
	}
	defer end()
	data, err := a.rounds(ctx)
	switch {
	case err == nil:
		c.progress.gotOn()
	case errors.Is(err, errVain):
		err = a.vain()
	}
	return data, err
}

// rounds asks all hosts until one gives what is wanted.
func (a *attempt) rounds(ctx context.Context) ([]byte, error) {
	c := a.c
	pause, left, patient := c.times.Pause, retries, patience
	if a.r.once {
		left = 0
	}
	for {
		data, ok, err := a.round(ctx)
		if ok || err != nil {
			return data, err
		}
		wait := pause/2 + rand.N(pause)
		switch {
		case len(a.settled()) == len(c.pool.hosts):
			return nil, a.failed()
		case a.passing && patient > 0:
			patient--
		case left > 0:
			left--
			pause *= 2
		default:
			return nil, a.failed()
		}
		if err := sleep(ctx, wait, nil); err != nil {
			return nil, err
		}
	}
}

// round asks each host once, but not those that have said their last word, and reports whether one
// gave it. The error is why the context has ended.
func (a *attempt) round(ctx context.Context) ([]byte, bool, error) {
	asked := a.settled()
	a.passing = false
	for {
		h, err := a.c.pool.acquire(ctx, asked)
		if h == nil || err != nil {
			return nil, false, err
		}
		asked[h] = true
		began := time.Now()
		data, err := a.ask(ctx, h)
		if err == nil {
			a.c.pool.worked(h, began)
			return data, true, nil
		}
		if partly, ok := errors.AsType[*partlyError](err); ok {
			a.c.pool.failed(h, partly.err, a.c.times)
			return data, true, nil
		}
		if cause := context.Cause(ctx); cause != nil {
			return nil, false, cause
		}
		if f, ok := errors.AsType[*finalError](err); ok {
			return nil, false, f.err
		}
		a.last[h] = err
		a.passing = a.passing || isBusy(err) || isCut(err)
		switch {
		case errors.Is(err, errGone): // which is no fault of the host
			a.c.pool.answered(h)
		case isBusy(err):
			a.c.pool.refused(h, began, err, a.c.times)
		default:
			a.c.pool.failed(h, err, a.c.times)
		}
		a.c.log.Debug("a host failed", "host", h.URL, "path", a.r.path, "error", err)
		if !isSettled(err) && a.c.progress.failed() {
			return nil, false, errVain
		}
	}
}

// ask asks a host, and gives it back also if a check panics.
func (a *attempt) ask(ctx context.Context, h *host) (data []byte, err error) {
	n := int64(0)
	defer func() { a.c.pool.release(h, n) }()
	data, n, err = a.c.ask(ctx, h, a.r)
	return data, Brief(err)
}

// settled returns the hosts that would say the same again.
func (a *attempt) settled() map[*host]bool {
	all := map[*host]bool{}
	for h, err := range a.last {
		if isSettled(err) {
			all[h] = true
		}
	}
	return all
}

// vain returns the error of what is not asked for, or not any more, since the client does not get on.
func (a *attempt) vain() error {
	return &Error{Path: a.r.path, Failures: []Failure{{"the hosts", errVain}}}
}

func (a *attempt) failed() error {
	e := &Error{Path: a.r.path}
	for _, h := range a.c.pool.hosts {
		if err := a.last[h]; err != nil {
			e.Failures = append(e.Failures, Failure{h.URL, err})
		}
	}
	return e
}
