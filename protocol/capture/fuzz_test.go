package capture_test

import (
	"bytes"
	"errors"
	"testing"

	"lorefs/protocol/capture"
)

// fuzzFormat opens data that begins like a format and reads every packet. What can be read
// must be writable and readable again.
func fuzzFormat(f *testing.F, want capture.Format) {
	for _, form := range formats {
		if form.info.Format == want {
			f.Add(build(f, form.info, sessionFor(form.info, 5, form.names)))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		l, err := capture.Open(t.Context(), bytes.NewReader(data), int64(len(data)), capture.Options{MaxPackets: 1000})
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
		rewrite(t, packets)
	})
}

// rewrite writes hex lines of the packets that they can hold, and checks that these come back.
func rewrite(t *testing.T, packets []capture.Packet) {
	var b bytes.Buffer
	w, err := capture.NewWriter(&b, capture.Info{Format: capture.Hex})
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
	if len(want) == 0 {
		return // an empty file is no log
	}
	got := readAll(t, open(t, b.Bytes()))
	if len(got) != len(want) {
		t.Fatalf("%d packets, want %d", len(got), len(want))
	}
	for i, p := range want {
		if !bytes.Equal(got[i].Data, p.Data) || !got[i].Time.Equal(p.Time) || got[i].Name != p.Name {
			t.Errorf("packet %d is %+v, want %+v", i, got[i], p)
		}
	}
}

func FuzzTeraLog(f *testing.F) { fuzzFormat(f, capture.TeraLog) }
func FuzzHex(f *testing.F)     { fuzzFormat(f, capture.Hex) }
