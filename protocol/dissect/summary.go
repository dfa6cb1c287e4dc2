package dissect

import (
	"context"
	"maps"
	"slices"
	"time"

	"lorefs/protocol/capture"
)

// Count counts packets and what became of them.
type Count struct {
	Packets int64 `json:"packets"`
	// Bytes is the size of the packets, headers included.
	Bytes int64 `json:"bytes"`
	// Decoded packets fit their definition. Failed ones do not, or are damaged, or have a
	// wrong definition. Unknown ones have none.
	Decoded int64 `json:"decoded"`
	Failed  int64 `json:"failed"`
	Unknown int64 `json:"unknown"`
}

// Span is when packets were sent, and how many in a second on average.
type Span struct {
	// First and Last are the earliest and the latest time; null if they are unknown.
	First *time.Time `json:"first"`
	Last  *time.Time `json:"last"`
	// The rates are those of the whole session; 0 if its time is unknown.
	PacketsPerSecond float64 `json:"packets_per_second"`
	BytesPerSecond   float64 `json:"bytes_per_second"`
}

// Summary describes a recording.
type Summary struct {
	Format   string `json:"format"`
	Revision string `json:"revision,omitempty"`
	Region   string `json:"region,omitempty"`
	Patch    string `json:"patch,omitempty"`
	// Map is the file of the map that names the packets.
	Map string `json:"map,omitempty"`
	// Old is true for a TeraConnectionLog whose packets have two extra bytes.
	Old bool `json:"old,omitempty"`
	// Incomplete says how the recording ends if that is not with a whole packet.
	Incomplete string `json:"incomplete,omitempty"`
	Count
	// Seconds is the time from the first packet to the last one.
	Seconds float64 `json:"seconds"`
	Span
	Directions []DirectionSummary `json:"directions"`
	Names      []NameSummary      `json:"names"`
	Times      TimesSummary       `json:"times"`
}

// DirectionSummary describes the packets of one sender.
type DirectionSummary struct {
	// From is client or server, or empty for packets whose sender is unknown.
	From string `json:"from"`
	Count
	Span
}

// NameSummary describes the packets of one code.
type NameSummary struct {
	Name       string `json:"name"`
	Code       uint16 `json:"code"`
	From       string `json:"from,omitempty"`
	Definition string `json:"definition,omitempty"`
	Error      string `json:"error,omitempty"` // of the definition
	Count
	Span
}

// TimesSummary says how many packets were sent when.
type TimesSummary struct {
	// Seconds is the length of each interval.
	Seconds int64 `json:"seconds"`
	// Intervals are those with packets, in their order.
	Intervals []Interval `json:"intervals"`
}

// Interval is the packets that were sent in some time.
type Interval struct {
	Begin   time.Time `json:"begin"`
	Packets int64     `json:"packets"`
	Bytes   int64     `json:"bytes"`
}

// tally counts packets of one kind.
type tally struct {
	Count
	first, last time.Time // zero if they are unknown
	from        capture.Direction
}

func (t *tally) add(l *Line) {
	t.Packets++
	t.Bytes += int64(l.Bytes)
	switch l.Is {
	case Decoded:
		t.Decoded++
	case Failed:
		t.Failed++
	case Unknown:
		t.Unknown++
	}
	t.from = l.From
	if l.Time.IsZero() {
		return
	}
	if t.first.IsZero() || l.Time.Before(t.first) {
		t.first = l.Time
	}
	if l.Time.After(t.last) {
		t.last = l.Time
	}
}

// span returns when the packets were sent, in a session of that many seconds.
func (t *tally) span(seconds float64) Span {
	var s Span
	if !t.first.IsZero() {
		first, last := t.first, t.last
		s.First, s.Last = &first, &last
	}
	if seconds > 0 {
		s.PacketsPerSecond, s.BytesPerSecond = rate(t.Packets, seconds), rate(t.Bytes, seconds)
	}
	return s
}

// rate is in thousandths, which is more than anybody needs.
func rate(n int64, seconds float64) float64 {
	return float64(int64(float64(n)/seconds*1000+0.5)) / 1000
}

// intervals are the lengths of intervals in seconds, of which the shortest is used that makes
// at most maxIntervals. The longest makes no more of all times that a packet can have.
var intervals = [...]int64{1, 10, 60, 600, 3600, 6 * 3600, 24 * 3600, 7 * 24 * 3600, 10_000 * 24 * 3600}

const maxIntervals = 120

// Tally counts the packets of a recording that may grow. The zero value has none.
type Tally struct {
	all      tally
	from     [capture.FromServer + 1]tally
	codes    map[uint16]*tally
	interval int // of intervals
	times    map[int64]*Interval
}

// Add counts a packet.
func (t *Tally) Add(l *Line) {
	if t.codes == nil {
		t.codes, t.times = make(map[uint16]*tally), make(map[int64]*Interval)
	}
	one := t.codes[l.Code]
	if one == nil {
		one = &tally{}
		t.codes[l.Code] = one
	}
	for _, to := range []*tally{&t.all, &t.from[l.From], one} {
		to.add(l)
	}
	if !l.Time.IsZero() {
		t.at(l.Time.Unix(), 1, int64(l.Bytes))
	}
}

// at counts packets that were sent at a time.
func (t *Tally) at(second, packets, bytes int64) {
	length := intervals[t.interval]
	begin := second - second%length
	in := t.times[begin]
	if in == nil {
		in = &Interval{Begin: time.Unix(begin, 0).UTC()}
		t.times[begin] = in
	}
	in.Packets += packets
	in.Bytes += bytes
	if len(t.times) <= maxIntervals || t.interval == len(intervals)-1 {
		return
	}
	t.interval++
	was := t.times
	t.times = make(map[int64]*Interval)
	for _, in := range was {
		t.at(in.Begin.Unix(), in.Packets, in.Bytes)
	}
}

// Summary describes the recording whose packets were counted.
func (t *Tally) Summary(r *Recording) *Summary {
	info := r.log.Info()
	s := &Summary{
		Format: info.Format.String(), Revision: r.Revision(), Region: info.Region, Map: r.MapFile(),
		Old: info.Old, Count: t.all.Count,
		Directions: []DirectionSummary{}, Names: []NameSummary{},
	}
	if p := r.Patch(); p != 0 {
		s.Patch = p.String()
	}
	if info.Incomplete != nil {
		s.Incomplete = info.Incomplete.Error()
	}
	seconds := t.all.last.Sub(t.all.first).Seconds()
	s.Seconds, s.Span = seconds, t.all.span(seconds)
	for d := range t.from {
		if one := &t.from[d]; one.Packets > 0 {
			s.Directions = append(s.Directions, DirectionSummary{capture.Direction(d).String(), one.Count, one.span(seconds)})
		}
	}
	for _, c := range r.sorted {
		one, counted := r.codes[c], t.codes[c]
		if counted == nil {
			continue
		}
		n := NameSummary{Name: one.Name, Code: c, From: counted.from.String(), Count: counted.Count, Span: counted.span(seconds)}
		if one.Table != nil {
			n.Definition = one.Table.Name()
		}
		if one.Err != nil {
			n.Error = one.Err.Error()
		}
		s.Names = append(s.Names, n)
	}
	s.Times = TimesSummary{Seconds: intervals[t.interval], Intervals: []Interval{}}
	for _, begin := range slices.Sorted(maps.Keys(t.times)) {
		s.Times.Intervals = append(s.Times.Intervals, *t.times[begin])
	}
	return s
}

// Summary decodes every packet, to describe the recording.
func (r *Recording) Summary(ctx context.Context) (*Summary, error) {
	var t Tally
	for b, err := range r.Lines(ctx, r.All()) {
		if err != nil {
			return nil, err
		}
		for i := range b.Lines {
			t.Add(&b.Lines[i])
		}
	}
	return t.Summary(r), nil
}
