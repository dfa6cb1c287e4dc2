package capture_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"lorefs/internal/testneeds"
	"lorefs/protocol/capture"
)

// openPart opens a file of which only the first bytes are there yet.
func openPart(t *testing.T, data []byte, size int) *capture.Log {
	t.Helper()
	l, err := capture.Open(t.Context(), bytes.NewReader(data), int64(size), capture.Options{Follow: true})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// TestGrown has recordings of every format grow by parts of packets, by packets, and by many
// at once.
func TestGrown(t *testing.T) {
	for _, f := range formats {
		t.Run(f.name, func(t *testing.T) {
			data := build(t, f.info, sessionFor(f.info, 60, f.names))
			r := rand.New(rand.NewPCG(1, uint64(len(data))))
			for _, most := range []int{3, len(data) / 50, len(data) / 5} {
				size := max(len(data)/4, len(data)-40*most)
				l := openPart(t, data, size)
				for size < len(data) {
					size = min(size+1+r.IntN(most), len(data))
					before, n := l, l.Len()
					var err error
					if l, err = l.Grown(t.Context(), int64(size)); err != nil {
						t.Fatalf("at %d: %v", size, err)
					}
					want := openPart(t, data, size)
					if l.Len() != want.Len() || before.Len() != n || fmt.Sprint(l.Info()) != fmt.Sprint(want.Info()) {
						t.Fatalf("at %d: %d packets of %v\nwant %d of %v", size, l.Len(), l.Info(), want.Len(), want.Info())
					}
				}
				if got, want := readAll(t, l), readAll(t, openPart(t, data, size)); len(got) != 60 || !reflect.DeepEqual(got, want) {
					t.Errorf("by up to %d bytes: %d packets, %v\nwant %v", most, len(got), got, want)
				}
				if got, want := readAll(t, l.Sequential()), readAll(t, l); !reflect.DeepEqual(got, want) {
					t.Errorf("one by one they are %v\nwant %v", got, want)
				}
			}
		})
	}
}

// TestGrownLines has hex lines end in the midst of a packet, of a line and of its end.
func TestGrownLines(t *testing.T) {
	const text = "0400e803\n" +
		"C->S 0600e9030102\r\n" +
		"# a remark\n" +
		"0800ea0301020304"
	for at, want := range map[int]int{13: 1, 16: 1, 22: 1, 25: 1, 26: 2, 27: 2, 28: 2, 34: 2, 39: 2, 50: 2, len(text): 3} {
		l := openPart(t, []byte(text), at)
		if l.Len() != want {
			t.Errorf("%q: %d packets, want %d", text[:at], l.Len(), want)
		}
		l, err := l.Grown(t.Context(), int64(len(text)))
		if err != nil || l.Len() != 3 || l.Info().Incomplete != nil {
			t.Errorf("from %q on: %d packets, %v, %v", text[:at], l.Len(), l.Info().Incomplete, err)
		}
	}
}

// TestNotGrown has files that were not only appended to.
func TestNotGrown(t *testing.T) {
	data := build(t, formats[0].info, sessionFor(formats[0].info, 60, formats[0].names))
	half := len(data) / 2
	for name, change := range map[string]func(b []byte) []byte{
		"cut":            func(b []byte) []byte { return b[:half-1] },
		"another begin":  func(b []byte) []byte { b[40]++; return b },
		"another end":    func(b []byte) []byte { b[half-3]++; return b },
		"another middle": func(b []byte) []byte { b[half/2]++; return b },
	} {
		b := bytes.Clone(data)
		l := openPart(t, b, half)
		b = change(b)
		if g, err := l.Grown(t.Context(), int64(len(b))); !errors.Is(err, capture.ErrRewritten) {
			t.Errorf("%s: %v, %v", name, g, err)
		}
	}
	b := append(bytes.Clone(data), 4, 0, 0)
	if g, err := openPart(t, b, len(data)).Grown(t.Context(), int64(len(b))); err == nil || !strings.Contains(err.Error(), "a block of size 0") {
		t.Errorf("nonsense was appended: %v, %v", g, err)
	}
	b = []byte("0400e803 0400e803\n")
	if g, err := openPart(t, b, 8).Grown(t.Context(), int64(len(b))); err == nil || !strings.Contains(err.Error(), "line 1 goes on") {
		t.Errorf("a line goes on: %v, %v", g, err)
	}
}

// TestRewritten has a long file rewritten in its midst while it grows: that is noticed, if not the
// first time, because each time another part of the file is compared.
func TestRewritten(t *testing.T) {
	testneeds.Seconds(t)
	const step = 7 // the size of a block of 4 bytes
	data := build(t, capture.Info{Format: capture.TeraLog}, nil)
	head := len(data)
	for range 5_000_000 {
		data = append(data, 5, 6, 0, 1, 2, 3, 4)
	}
	size := len(data) - 100*step
	for _, at := range []int{head + 4*step + 6, 4 << 20, 20 << 20, 30 << 20, size - step - 1} {
		l := openPart(t, data, size)
		data[at]++
		err, n := error(nil), size
		for range 3 {
			n += step
			if l, err = l.Grown(t.Context(), int64(n)); err != nil {
				break
			}
		}
		if !errors.Is(err, capture.ErrRewritten) {
			t.Errorf("a byte at %d was changed: %v", at, err)
		}
		data[at]--
	}
	l := openPart(t, data, size)
	for n := size; n < len(data); n += 3 * step {
		var err error
		if l, err = l.Grown(t.Context(), int64(n)); err != nil {
			t.Fatalf("nothing was changed: %v", err)
		}
	}
	l, err := capture.Open(t.Context(), bytes.NewReader(data), int64(size), capture.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.Grown(t.Context(), int64(len(data))); err == nil {
		t.Error("a log that nobody follows grows")
	}
}
