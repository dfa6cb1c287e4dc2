package dissect_test

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"lorefs/protocol"
	"lorefs/protocol/capture"
	"lorefs/protocol/dissect"
	"lorefs/protocol/prototest"
)

// TestOpen opens logs while definitions are read, and compares what it finds with what New finds
// in the whole log.
func TestOpen(t *testing.T) {
	data, err := prototest.Log(1, 200)
	if err != nil {
		t.Fatal(err)
	}
	revision := append([]byte{6, byte(len(prototest.Revision) + 2), 0}, prototest.Revision...)
	at := bytes.Index(data, revision)
	if at < 0 {
		t.Fatal("the log has no revision")
	}
	behind := slices.Concat(data[:at], data[at+len(revision):], revision)
	const hex = "04008a13\nS_SPAWN_USER 04008a13\n0400bc4d\nS_PARTY_MEMBER_LIST 04000f27\n"
	for _, tt := range []struct {
		name  string
		data  []byte
		files fstest.MapFS
		opts  dissect.Options
	}{
		{"log", data, prototest.Files(), dissect.Options{}},
		{"revision behind the packets", behind, prototest.Files(), dissect.Options{}},
		{"another revision", data, prototest.Files(), dissect.Options{Revision: "1"}},
		{"patch", data, prototest.Files(), dissect.Options{Patch: 8000}},
		{"names in the log", []byte(hex), prototest.Files(), dissect.Options{}},
		{"no definitions", data, nil, dissect.Options{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var lib, other *protocol.Library
			if tt.files != nil {
				lib, other = library(t, tt.files), library(t, tt.files)
			}
			r, err := dissect.Open(t.Context(), bytes.NewReader(tt.data), int64(len(tt.data)), capture.Options{}, lib, tt.opts)
			if err != nil {
				t.Fatal(err)
			}
			s := newRecording(t, openLog(t, tt.data), other, tt.opts)
			if names(r) != names(s) || r.Revision() != s.Revision() || r.Patch() != s.Patch() || r.MapFile() != s.MapFile() {
				t.Errorf("got %s, of revision %s, patch %v and map %s, want %s, of revision %s, patch %v and map %s",
					names(r), r.Revision(), r.Patch(), r.MapFile(), names(s), s.Revision(), s.Patch(), s.MapFile())
			}
			if got, want := lines(t, r), lines(t, s); got != want {
				t.Errorf("got other lines: %.300s, want %.300s", got, want)
			}
		})
	}
}

// TestOpenErrors has Open fail as New and capture.Open do.
func TestOpenErrors(t *testing.T) {
	data, err := prototest.Log(1, 20)
	if err != nil {
		t.Fatal(err)
	}
	files := prototest.Files()
	open := func(ctx context.Context, data []byte) error {
		r, err := dissect.Open(ctx, bytes.NewReader(data), int64(len(data)), capture.Options{}, library(t, files), dissect.Options{})
		if (r == nil) != (err != nil) {
			t.Errorf("a recording %v and an error %v", r != nil, err)
		}
		return err
	}
	cut := append(slices.Clone(data), 4, 0, 0)
	if err := open(t.Context(), cut); !dissect.IsDamage(err) {
		t.Errorf("a log with a block of size 0: %v", err)
	}
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	if err := open(canceled, data); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
	files["map/protocol."+prototest.Revision+".map"] = &fstest.MapFile{Data: []byte("S_CHAT\n")}
	if err := open(t.Context(), data); err == nil || !strings.Contains(err.Error(), "protocol."+prototest.Revision+".map:1") {
		t.Errorf("a map that is wrong: %v", err)
	}
}

func lines(t *testing.T, r *dissect.Recording) string {
	t.Helper()
	var b strings.Builder
	for block, err := range r.Lines(t.Context(), r.All()) {
		if err != nil {
			t.Fatal(err)
		}
		b.Write(block.Text)
	}
	return b.String()
}
