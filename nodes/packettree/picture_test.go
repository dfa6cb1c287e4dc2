package packettree_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"lorefs/internal/svg/svgtest"
	"lorefs/protocol/capture"
)

func TestPicture(t *testing.T) {
	tree := newTree(t, session(t, 90), library(t))
	got := svgtest.Texts(t, []byte(read(t, tree, "session.svg")))
	for _, want := range []string{
		"90 packets, 2020-09-01 12:00:00 to 2020-09-01 12:00:01 UTC", "client", "server",
		"C_PLAYER_LOCATION", "C_PLAYER_LOCATION: 20 packets, client", "20", "S_LOGIN: 10 packets, server",
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
	for _, want := range []string{"10000 packets", "100: 200 packets, unknown sender", "139: 200 packets, unknown sender", "10 other names", "2000"} {
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
