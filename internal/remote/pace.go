package remote

import "time"

// pace is how fast a host may be asked. A host that has never refused a request is asked as fast
// as answers come. From its refusals, lorefs learns how many requests it takes in a time: who asked
// it as fast as before would be refused for every few requests that it answers.
type pace struct {
	// gap is the time between two requests, and ready when the next may come.
	gap   time.Duration
	ready time.Time
	// since is when the host was last refusing, and answers how many it has given from then on.
	since   time.Time
	answers int
	// slowed is when it last made the pace slower, and how many times it did so without an
	// answer in between.
	slowed  time.Time
	refusal int
}

const (
	// minGap is too short to matter.
	minGap = 10 * time.Millisecond
	// gapShrinks is by which part of it the gap shrinks with the first answer after a refusal, so
	// that a pace that was too slow does not stay so. It shrinks faster with each further one, up
	// to gapShrinksMost.
	gapShrinks, gapShrinksMost = 50, 8
	// atFirst is how many requests a host is thought to take in the time that it wants to be left
	// alone, when it says so for the first time.
	atFirst = 4
	// maxDoubled is how often the pause doubles of a host that does not say how long it wants it.
	maxDoubled = 7
)

// limit returns how many requests a host gets at a time, if it gets most while it refuses none.
func (p *pace) limit(most int) int {
	if p.gap > 0 {
		return max(1, most/2)
	}
	return most
}

// start notes that a request is made.
func (p *pace) start(now time.Time) {
	if p.since.IsZero() {
		p.since = now
	}
	if p.gap > 0 {
		p.ready = now.Add(p.gap)
	}
}

// served notes an answer.
func (p *pace) served() {
	p.answers++
	p.refusal = 0
	if p.gap -= p.gap / time.Duration(max(gapShrinks-p.answers, gapShrinksMost)); p.gap < minGap {
		p.gap, p.ready = 0, time.Time{}
	}
}

// refused notes a refusal of a request that was made at a time, and returns until when the host
// is to be left alone. after is how long it wants that, or 0.
func (p *pace) refused(now, asked time.Time, after time.Duration, t Times) time.Time {
	if !asked.After(p.slowed) { // with others, of which one told the pace
		return now.Add(after)
	}
	if after == 0 {
		after = min(max(t.Pause<<min(p.refusal, maxDoubled), 2*p.gap), t.MaxRetryAfter)
	}
	switch known := (now.Sub(p.since) + after) / time.Duration(max(p.answers, 1)); {
	case p.gap == 0:
		p.gap = min(known, after/atFirst)
	case p.answers > 0:
		p.gap = min(known, after)
	default:
		p.gap = min(2*p.gap, after)
	}
	p.since, p.slowed, p.answers = now.Add(after), now, 0
	p.refusal++
	return p.since
}
