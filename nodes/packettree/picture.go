package packettree

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"lorefs/internal/flight"
	"lorefs/internal/shown"
	"lorefs/nodes/internal/svg"
	"lorefs/protocol/capture"
	"lorefs/protocol/dissect"
)

// pictureName is the name of the drawing of the session.
const pictureName = "session.svg"

// pictureSize is the size of its file. All lanes fit if none of their names has letters that take
// more room than others.
const pictureSize = 128 << 10

// How the drawing is laid out, in its units.
const (
	pictureLanes = 40
	pictureSteps = 180
	stepWidth    = 5
	laneHeight   = 18
	barHeight    = 15
	namesWidth   = 270
	countsWidth  = 80
	headHeight   = 56
	footHeight   = 24
	barsWidth    = pictureSteps * stepWidth
	// longestName is how many characters of a name there is room for.
	longestName = 34
)

// picture is the latest drawing.
type picture struct {
	makes flight.Group[int, []byte]
	last  atomic.Pointer[pictureOf]
}

// pictureOf is a drawing of the first so many packets.
type pictureOf struct {
	packets int
	data    []byte
}

// pictureText returns the content of session.svg. It is drawn once, and anew when there are more
// packets.
func (t *Tree) pictureText(ctx context.Context) ([]byte, error) {
	s := t.now.Load()
	if last := t.picture.last.Load(); last != nil && last.packets == s.len() {
		return last.data, nil
	}
	return t.picture.makes.Do(ctx, s.len(), func(ctx context.Context) ([]byte, error) {
		line, err := s.recording.Timeline(ctx, pictureLanes, pictureSteps)
		if err != nil {
			return nil, err
		}
		data := draw(line, s)
		t.picture.last.Store(&pictureOf{s.len(), data})
		return data, nil
	})
}

// draw draws a lane for each name.
func draw(line *dissect.Timeline, s *session) []byte {
	lanes := line.Lanes
	if line.Others.Packets > 0 {
		others := line.Others
		others.Name = shown.Plural(others.Names, "other name")
		lanes = append(slices.Clip(lanes), others)
	}
	height := headHeight + laneHeight*len(lanes) + footHeight
	d := svg.New(pictureSize, namesWidth+barsWidth+countsWidth, float64(height), "Packets of a session by name")
	head(d, line, s)
	most := 1
	for _, lane := range lanes {
		for _, n := range lane.Counts {
			most = max(most, n)
		}
	}
	for i := range lanes {
		drawLane(d, &lanes[i], i, most)
	}
	foot(d, line, s, height)
	return d.Bytes()
}

// The colours of texts, and of the packets by who sent them.
const (
	darkText  = "#222"
	lightText = "#667"
)

var senders = [...]struct{ colour, name string }{
	capture.Unknown:    {"#777", "unknown sender"},
	capture.FromClient: {"#1d5fd0", "client"},
	capture.FromServer: {"#c2540c", "server"},
}

// head tells what is drawn.
func head(d *svg.Drawing, line *dissect.Timeline, s *session) {
	text := shown.Plural(s.len(), "packet")
	if !line.First.IsZero() {
		text += ", " + line.First.UTC().Format(time.DateTime) + " to " + line.Last.UTC().Format(time.DateTime) + " UTC"
	}
	d.Text(10, 24, 16, svg.Start, darkText, text)
	for i, from := range [...]capture.Direction{capture.FromClient, capture.FromServer} {
		x := float64(namesWidth + barsWidth - 160 + 80*i)
		d.Rect(svg.Rect{X: x, Y: 14, Width: 10, Height: 10}, svg.Style{Fill: senders[from].colour})
		d.Text(x+14, 23, 12, svg.Start, darkText, senders[from].name)
	}
	d.Text(10, 44, 11, svg.Start, lightText, "A bar is the packets of a name in a moment; its height grows with the logarithm of their number.")
}

// drawLane draws the packets of a name. most is the largest number in a step of any lane.
func drawLane(d *svg.Drawing, lane *dissect.Lane, i, most int) {
	base := headHeight + laneHeight*(i+1)
	if i%2 == 0 {
		d.Rect(svg.Rect{X: 0, Y: float64(base - laneHeight), Width: namesWidth + barsWidth + countsWidth, Height: laneHeight}, svg.Style{Fill: "#f2f4f6"})
	}
	var bars []byte
	for step, n := range lane.Counts {
		if n > 0 {
			high := max(1, int(barHeight*math.Log1p(float64(n))/math.Log1p(float64(most))))
			bars = fmt.Appendf(bars, "M%d %dv-%d", namesWidth+step*stepWidth+stepWidth/2, base-1, high)
		}
	}
	y, from := float64(base-5), senders[lane.From]
	title := fmt.Sprintf("%s: %s, %s", lane.Name, shown.Plural(lane.Packets, "packet"), from.name)
	d.Path(string(bars), svg.Style{Stroke: from.colour, Width: stepWidth - 1, Title: title})
	d.Text(namesWidth-8, y, 12, svg.End, darkText, svg.Cut(lane.Name, longestName))
	d.Text(namesWidth+barsWidth+countsWidth-8, y, 12, svg.End, lightText, fmt.Sprint(lane.Packets))
}

// foot tells the times, or the numbers, along the lanes.
func foot(d *svg.Drawing, line *dissect.Timeline, s *session, height int) {
	length, round, name := int64(s.len()), roundNumbers, decimal
	if !line.First.IsZero() {
		length, round, name = line.Last.Sub(line.First).Milliseconds(), roundTimes, afterStart
	}
	step := markStep(length, round)
	for at := int64(0); at <= length; at += step {
		x := namesWidth + float64(barsWidth*at)/float64(max(1, length))
		d.Path(fmt.Sprintf("M%.1f %dV%d", x, headHeight, height-footHeight+4), svg.Style{Stroke: "#ccd", Width: 0.5})
		d.Text(x, float64(height-8), 11, svg.Middle, lightText, name(at))
	}
}

// roundNumbers are distances that marks may have, and roundTimes are those of times in milliseconds.
var (
	roundNumbers = []int64{1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000}
	roundTimes   = []int64{
		1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 15_000, 30_000,
		60_000, 120_000, 300_000, 600_000, 900_000, 1_800_000, 3_600_000,
	}
)

// markStep returns the least round distance of which at most six fit.
func markStep(length int64, round []int64) int64 {
	for _, step := range round {
		if length/step <= 6 {
			return step
		}
	}
	step := round[len(round)-1]
	for length/step > 6 {
		step *= 2
	}
	return step
}

func decimal(n int64) string { return strconv.FormatInt(n, 10) }

// afterStart says how long after the start a mark is.
func afterStart(milliseconds int64) string {
	text := (time.Duration(milliseconds) * time.Millisecond).String()
	for _, zero := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(text, zero) {
			text = text[:len(text)-len("0s")]
		}
	}
	return "+" + text
}
