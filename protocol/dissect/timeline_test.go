package dissect_test

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"lorefs/protocol/capture"
	"lorefs/protocol/dissect"
)

// sent is a packet of a code, so many milliseconds after the first.
type sent struct {
	code   uint16
	millis int
	from   capture.Direction
}

// recordingOf writes packets without content in a format, and opens them.
func recordingOf(t *testing.T, format capture.Format, packets []sent) *dissect.Recording {
	t.Helper()
	var b bytes.Buffer
	w, err := capture.NewWriter(&b, capture.Info{Format: format, Revision: "1"})
	if err != nil {
		t.Fatal(err)
	}
	begin := time.Date(2020, 9, 1, 12, 0, 0, 0, time.UTC)
	for _, s := range packets {
		p := capture.Packet{Time: begin.Add(time.Duration(s.millis) * time.Millisecond), From: s.from, Data: []byte{4, 0, byte(s.code), byte(s.code >> 8)}}
		if format == capture.Hex {
			p.Time, p.From = time.Time{}, capture.Unknown
		}
		if err := w.Write(p); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return newRecording(t, openLog(t, b.Bytes()), nil, dissect.Options{})
}

func timeline(t *testing.T, r *dissect.Recording, lanes, steps int) *dissect.Timeline {
	t.Helper()
	line, err := r.Timeline(t.Context(), lanes, steps)
	if err != nil {
		t.Fatal(err)
	}
	return line
}

func TestTimeline(t *testing.T) {
	const client, server = capture.FromClient, capture.FromServer
	// From 0 to 999 ms, in steps of 100.
	r := recordingOf(t, capture.TeraLog, []sent{
		{500, 0, server},
		{600, 99, client},
		{500, 100, server},
		{700, 550, server},
		{600, 550, client},
		{600, 551, client},
		{800, 998, server},
		{500, 999, server},
		{600, 999, client},
	})
	line := timeline(t, r, 2, 10)
	if line.Last.Sub(line.First) != 999*time.Millisecond || !line.First.Equal(time.Date(2020, 9, 1, 12, 0, 0, 0, time.UTC)) {
		t.Errorf("the time is from %v to %v", line.First, line.Last)
	}
	want := []dissect.Lane{
		{Name: "500", Names: 1, From: server, Packets: 3, Counts: []int{1, 1, 0, 0, 0, 0, 0, 0, 0, 1}},
		{Name: "600", Names: 1, From: client, Packets: 4, Counts: []int{1, 0, 0, 0, 0, 2, 0, 0, 0, 1}},
	}
	others := dissect.Lane{Names: 2, From: server, Packets: 2, Counts: []int{0, 0, 0, 0, 0, 1, 0, 0, 0, 1}}
	for i, lane := range append(slices.Clone(line.Lanes), line.Others) {
		want := append(want, others)[i]
		if lane.Name != want.Name || lane.Names != want.Names || lane.From != want.From || lane.Packets != want.Packets || !slices.Equal(lane.Counts, want.Counts) {
			t.Errorf("lane %d is %+v, want %+v", i, lane, want)
		}
	}
	if line := timeline(t, r, 9, 10); len(line.Lanes) != 4 || line.Others.Names+line.Others.Packets != 0 {
		t.Errorf("%d lanes, and others %+v", len(line.Lanes), line.Others)
	}
}

// TestTimelineWithoutTimes has packets lie along the line by their numbers.
func TestTimelineWithoutTimes(t *testing.T) {
	line := timeline(t, recordingOf(t, capture.Hex, []sent{{code: 500}, {code: 500}, {code: 600}, {code: 500}}), 5, 2)
	if !line.First.IsZero() || !line.Last.IsZero() {
		t.Errorf("the time is from %v to %v", line.First, line.Last)
	}
	if a, b := line.Lanes[0].Counts, line.Lanes[1].Counts; !slices.Equal(a, []int{2, 1}) || !slices.Equal(b, []int{0, 1}) {
		t.Errorf("the lanes have %v and %v", a, b)
	}
}

// TestTimelineOfOneMoment has all packets in the first step, and of none no lane.
func TestTimelineOfOneMoment(t *testing.T) {
	line := timeline(t, recordingOf(t, capture.TeraLog, []sent{{code: 5, from: capture.FromServer}, {code: 5, from: capture.FromServer}}), 5, 3)
	if len(line.Lanes) != 1 || !slices.Equal(line.Lanes[0].Counts, []int{2, 0, 0}) {
		t.Errorf("the lanes are %+v", line.Lanes)
	}
	if line := timeline(t, recordingOf(t, capture.TeraLog, nil), 5, 3); len(line.Lanes) != 0 {
		t.Errorf("nothing has the lanes %+v", line.Lanes)
	}
}

// TestTimelineOfCenturies has times that are as far apart as they can be.
func TestTimelineOfCenturies(t *testing.T) {
	r := recordingOf(t, capture.TeraLog, []sent{{code: 5, from: capture.FromServer}, {5, 200 * 365 * 24 * 3600 * 1000, capture.FromServer}})
	if line := timeline(t, r, 1, 4); !slices.Equal(line.Lanes[0].Counts, []int{1, 0, 0, 1}) {
		t.Errorf("the lane has %v", line.Lanes[0].Counts)
	}
}

func TestTimelineCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := recordingOf(t, capture.TeraLog, []sent{{code: 5, from: capture.FromServer}}).Timeline(ctx, 1, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("it returns %v", err)
	}
}
