package dissect

import (
	"cmp"
	"context"
	"slices"
	"time"

	"lorefs/protocol/capture"
)

// Timeline says when the packets of each name were sent.
type Timeline struct {
	// First and Last are the earliest and the latest time. They are zero if no packet has one:
	// then packets lie along the line by their numbers.
	First, Last time.Time
	// Lanes are the names with the most packets, in the order of the first packets that have
	// them. Others has those of all other names; it has none if there are no others.
	Lanes  []Lane
	Others Lane
}

// Lane is the packets of a name, or of several.
type Lane struct {
	Name string
	// Names is how many names it has.
	Names int
	// From sent the first packet.
	From    capture.Direction
	Packets int
	// Counts are the packets in each step from First to Last.
	Counts []int
}

// Timeline divides the time of the recording into steps, and counts packets in at most so many
// lanes. It reads every packet twice, and decodes none.
func (r *Recording) Timeline(ctx context.Context, lanes, steps int) (*Timeline, error) {
	t, laneOf := r.lanes(lanes, steps)
	err := r.eachTime(ctx, func(_ int, p *capture.Packet) {
		if p.Time.IsZero() {
			return
		}
		if t.First.IsZero() || p.Time.Before(t.First) {
			t.First = p.Time
		}
		if p.Time.After(t.Last) {
			t.Last = p.Time
		}
	})
	if err != nil {
		return nil, err
	}
	return t, r.eachTime(ctx, func(i int, p *capture.Packet) {
		lane := laneOf[r.codes[r.log.Code(i)].Place]
		if lane.Packets == 0 {
			lane.From = p.From
		}
		lane.Packets++
		if step := t.step(i, r.log.Len(), p.Time, steps); step >= 0 {
			lane.Counts[step]++
		}
	})
}

// lanes chooses the lanes, and returns that of each name by its place.
func (r *Recording) lanes(most, steps int) (t *Timeline, laneOf []*Lane) {
	packets := make([]int, len(r.first))
	for i := range r.log.Len() {
		packets[r.codes[r.log.Code(i)].Place]++
	}
	places := make([]int, len(r.first))
	for i := range places {
		places[i] = i
	}
	slices.SortStableFunc(places, func(a, b int) int { return cmp.Compare(packets[b], packets[a]) })
	places = places[:min(len(places), most)]
	slices.Sort(places)
	t = &Timeline{Lanes: make([]Lane, len(places)), Others: Lane{Names: len(r.first) - len(places), Counts: make([]int, steps)}}
	laneOf = make([]*Lane, len(r.first))
	for i := range laneOf {
		laneOf[i] = &t.Others
	}
	for i, place := range places {
		t.Lanes[i] = Lane{Name: r.first[place], Names: 1, Counts: make([]int, steps)}
		laneOf[place] = &t.Lanes[i]
	}
	return t, laneOf
}

// step returns the step of a packet, or -1 if it has no time though others have.
func (t *Timeline) step(number, packets int, at time.Time, steps int) int {
	switch {
	case t.First.IsZero():
		return number * steps / packets
	case at.IsZero():
		return -1
	}
	// Milliseconds, since the nanoseconds of 8,000 years are more than a number holds.
	return int(at.Sub(t.First).Milliseconds() * int64(steps) / (t.Last.Sub(t.First).Milliseconds() + 1))
}

// eachTime calls f for each packet, which need not be whole.
func (r *Recording) eachTime(ctx context.Context, f func(i int, p *capture.Packet)) error {
	log := r.log.Sequential()
	var buf []byte
	for i := range log.Len() {
		if i%askEvery == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		p, err := log.Packet(i, buf)
		if err != nil && !IsDamage(err) {
			return err
		}
		if cap(p.Data) > cap(buf) {
			buf = p.Data
		}
		f(i, &p)
	}
	return nil
}
