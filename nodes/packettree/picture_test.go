package packettree_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"lorefs/nodes/internal/svg/svgtest"
	"lorefs/protocol/capture"
	"lorefs/protocol/prototest"
)

func TestPicture(t *testing.T) {
	tree := newTree(t, session(t, 90), library(t))
	got := svgtest.Texts(t, []byte(read(t, tree, "session.svg")))
	for _, want := range []string{
		"90 packets, 2020-09-01 12:00:00 to 2020-09-01 12:00:01 UTC", "client", "server",
		"C_PLAYER_LOCATION", "C_PLAYER_LOCATION: 20 packets, client", "20", "S_LOGIN: 10 packets, server",
		"+0s", "+500ms", "+1s", "+1.5s",
	} {
		if !slices.Contains(got, want) {
			t.Errorf("the drawing lacks %q, it has %q", want, got)
		}
	}
	if again := newTree(t, session(t, 90), library(t)); read(t, again, "session.svg") != read(t, tree, "session.svg") {
		t.Error("it is drawn in another way the next time")
	}
}

// TestPictureOfMuch draws a session with as many names as fit, and more, all with packets in every
// step. Everything is there.
func TestPictureOfMuch(t *testing.T) {
	var b bytes.Buffer
	for i := range 200 * 50 {
		code := 100 + i%50
		fmt.Fprintf(&b, "0400%02x%02x\n", code&0xff, code>>8)
	}
	log, err := capture.Open(t.Context(), bytes.NewReader(b.Bytes()), int64(b.Len()), capture.Options{})
	if err != nil {
		t.Fatal(err)
	}
	got := svgtest.Texts(t, []byte(read(t, newTree(t, log, nil), "session.svg")))
	for _, want := range []string{"10000 packets", "100: 200 packets, unknown sender", "139: 200 packets, unknown sender", "10 other names", "2000", "8000"} {
		if !slices.Contains(got, want) {
			t.Errorf("the drawing lacks %q, it has %q", want, got)
		}
	}
}

// countedReader counts reads.
type countedReader struct {
	io.ReaderAt
	reads int
}

func (r *countedReader) ReadAt(p []byte, off int64) (int, error) {
	r.reads++
	return r.ReaderAt.ReadAt(p, off)
}

// TestPictureIsDrawnOnce asks for the size of the drawing, and reads it in pieces.
func TestPictureIsDrawnOnce(t *testing.T) {
	var data bytes.Buffer
	data.WriteString(strings.Repeat("0400e803\n", 100))
	src := &countedReader{ReaderAt: bytes.NewReader(data.Bytes())}
	log, err := capture.Open(t.Context(), src, int64(data.Len()), capture.Options{})
	if err != nil {
		t.Fatal(err)
	}
	tree := newTree(t, log, nil)
	reads := src.reads
	e := find(t, tree, "session.svg")
	if attr, err := tree.Attr(t.Context(), e.ID); err != nil || attr.Size != e.Size || src.reads != reads {
		t.Errorf("the size is %d and %d, %v; it took %d reads", attr.Size, e.Size, err, src.reads-reads)
	}
	if got := read(t, tree, "session.svg"); int64(len(got)) != e.Size {
		t.Errorf("the drawing has %d bytes, want %d", len(got), e.Size)
	}
	reads = src.reads
	for off := int64(0); off < e.Size; off += 1000 {
		if _, err := tree.ReadAt(t.Context(), e.ID, make([]byte, 1000), off); err != nil && !errors.Is(err, io.EOF) {
			t.Fatal(err)
		}
	}
	if src.reads != reads {
		t.Errorf("reading it again took %d reads", src.reads-reads)
	}
}

// TestPictureMarks draws sessions of different lengths.
func TestPictureMarks(t *testing.T) {
	for _, c := range []struct {
		length time.Duration
		want   []string
	}{
		{27 * time.Second, []string{"+0s", "+5s", "+10s", "+15s", "+20s", "+25s"}},
		{100 * time.Second, []string{"+0s", "+15s", "+30s", "+45s", "+1m", "+1m15s", "+1m30s"}},
		{3 * time.Hour, []string{"+0s", "+30m", "+1h", "+1h30m", "+2h", "+2h30m", "+3h"}},
		{23 * time.Hour, []string{"+0s", "+4h", "+8h", "+12h", "+16h", "+20h"}},
		{40 * 24 * time.Hour, []string{"+0s", "+256h", "+512h", "+768h"}}, // more milliseconds than 31 bits hold
	} {
		log := lasting(t, c.length)
		var got []string
		for _, text := range svgtest.Texts(t, []byte(read(t, newTree(t, log, nil), "session.svg"))) {
			if strings.HasPrefix(text, "+") {
				got = append(got, text)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("in %v the marks are %q, want %q", c.length, got, c.want)
		}
	}
}

// lasting makes a session of two packets, the second of which is so much later.
func lasting(t *testing.T, length time.Duration) *capture.Log {
	t.Helper()
	var b bytes.Buffer
	w, err := capture.NewWriter(&b, capture.Info{Format: capture.TeraLog, Revision: prototest.Revision})
	if err != nil {
		t.Fatal(err)
	}
	start := time.Date(2020, 9, 1, 20, 0, 0, 0, time.UTC)
	for _, at := range []time.Time{start, start.Add(length)} {
		if err := w.Write(capture.Packet{Time: at, From: capture.FromClient, Data: []byte{4, 0, 1, 0}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return openLog(t, b.Bytes())
}
