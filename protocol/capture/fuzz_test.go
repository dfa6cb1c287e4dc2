package capture_test

import (
	"bytes"
	"errors"
	"testing"

	"lorefs/protocol/capture"
)

// fuzzFormat opens data that begins like a format and reads every packet. What can be read
// must be writable and readable again.
func fuzzFormat(f *testing.F, want ...capture.Format) {
	for _, form := range formats {
		for _, format := range want {
			if form.info.Format == format {
				f.Add(build(f, form.info, form.level, sessionFor(form.info, 5, form.names)))
			}
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		l, err := capture.Open(t.Context(), bytes.NewReader(data), int64(len(data)), capture.Options{MaxPackets: 1000, MaxInflated: 1 << 22})
		if is, detectErr := capture.Detect(bytes.NewReader(data), int64(len(data))); detectErr != nil || is != 0 && errors.Is(err, capture.ErrUnknown) {
			t.Errorf("Detect: %v, %v; Open: %v", is, detectErr, err)
		}
		if err != nil {
			return
		}
		var packets []capture.Packet
		for i := range l.Len() {
			p, err := l.Packet(i, nil)
			if err != nil || len(p.Data) < 4 {
				return
			}
			packets = append(packets, p)
		}
		if n := rewrite(t, capture.Flat, packets); n != len(packets) {
			t.Errorf("FlatBuffers can hold %d packets of %d", n, len(packets))
		}
		for _, format := range []capture.Format{capture.Alkahest, capture.Alkahest0, capture.Hex} {
			rewrite(t, format, packets)
		}
	})
}

// rewrite writes a log of the packets that the format can hold, checks that they come back,
// and returns their number.
func rewrite(t *testing.T, format capture.Format, packets []capture.Packet) int {
	var b bytes.Buffer
	w, err := capture.NewWriter(&b, capture.Info{Format: format}, 0)
	if err != nil {
		t.Fatal(err)
	}
	var want []capture.Packet
	for _, p := range packets {
		if w.Write(p) == nil {
			want = append(want, p)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if format == capture.Hex && len(want) == 0 {
		return 0 // an empty file is no log
	}
	got := readAll(t, open(t, b.Bytes()))
	if len(got) != len(want) {
		t.Fatalf("%v: %d packets, want %d", format, len(got), len(want))
	}
	named := format == capture.Flat || format == capture.Hex
	for i, p := range want {
		if !bytes.Equal(got[i].Data, p.Data) || !got[i].Time.Equal(p.Time) || named && got[i].Name != p.Name {
			t.Errorf("%v: packet %d is %+v, want %+v", format, i, got[i], p)
		}
	}
	return len(want)
}

func FuzzTeraLog(f *testing.F)  { fuzzFormat(f, capture.TeraLog) }
func FuzzAlkahest(f *testing.F) { fuzzFormat(f, capture.Alkahest, capture.Alkahest0) }
func FuzzFlat(f *testing.F)     { fuzzFormat(f, capture.Flat) }
func FuzzHex(f *testing.F)      { fuzzFormat(f, capture.Hex) }
