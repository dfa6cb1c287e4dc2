package capture_test

import (
	"bytes"
	"errors"
	"testing"

	"lorefs/protocol/capture"
)

// fuzzFormat opens data that begins like a format, reads every packet, and wants
// that what can be read can be written and read again.
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
		if is, detectErr := capture.Detect(bytes.NewReader(data), int64(len(data))); detectErr != nil || is && errors.Is(err, capture.ErrUnknown) {
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
		info := capture.Info{Format: capture.Flat}
		got := readAll(t, open(t, build(t, info, 0, packets)))
		for i, p := range packets {
			if !bytes.Equal(got[i].Data, p.Data) || !got[i].Time.Equal(p.Time) && p.Time.Unix() > 0 || got[i].Name != p.Name {
				t.Errorf("packet %d is %+v, want %+v", i, got[i], p)
			}
		}
		if len(got) != len(packets) {
			t.Errorf("%d packets, want %d", len(got), len(packets))
		}
	})
}

func FuzzTeraLog(f *testing.F)  { fuzzFormat(f, capture.TeraLog) }
func FuzzAlkahest(f *testing.F) { fuzzFormat(f, capture.Alkahest, capture.Alkahest0) }
func FuzzFlat(f *testing.F)     { fuzzFormat(f, capture.Flat) }
func FuzzHex(f *testing.F)      { fuzzFormat(f, capture.Hex) }
