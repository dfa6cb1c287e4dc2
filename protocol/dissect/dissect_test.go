package dissect_test

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"lorefs/protocol"
	"lorefs/protocol/capture"
	"lorefs/protocol/dissect"
	"lorefs/protocol/prototest"
)

func openLog(t testing.TB, data []byte) *capture.Log {
	t.Helper()
	log, err := capture.Open(t.Context(), bytes.NewReader(data), int64(len(data)), capture.Options{Follow: true})
	if err != nil {
		t.Fatal(err)
	}
	return log
}

func library(t testing.TB, files fstest.MapFS) *protocol.Library {
	t.Helper()
	lib, err := protocol.OpenLibrary(files, protocol.LibraryOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return lib
}

func newRecording(t testing.TB, log *capture.Log, lib *protocol.Library, opts dissect.Options) *dissect.Recording {
	t.Helper()
	s, err := dissect.New(log, lib, opts)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func generated(t testing.TB, n int) *capture.Log {
	t.Helper()
	data, err := prototest.Log(1, n)
	if err != nil {
		t.Fatal(err)
	}
	return openLog(t, data)
}

// names returns the names of a session with their definitions.
func names(s *dissect.Recording) string {
	var list []string
	for _, c := range s.Codes() {
		one := s.Code(c)
		name := one.Name
		if one.Table != nil {
			name += "=" + one.Table.Name()
		}
		if one.Err != nil {
			name += "=wrong"
		}
		list = append(list, name)
	}
	return strings.Join(list, " ")
}

func TestNames(t *testing.T) {
	// 5002, 5002 with another name, 19900, 9999 with two names, the first of which counts,
	// 9998 without a possible name.
	const hex = "04008a13\nS_SPAWN_USER 04008a13\n0400bc4d\nS_PARTY_MEMBER_LIST 04000f27\nS_LOGIN 04000f27\nS_/../X 04000e27\n"
	log := openLog(t, []byte(hex))
	files := prototest.Files()
	for _, tt := range []struct {
		name string
		lib  *protocol.Library
		opts dissect.Options
		want string
	}{
		{"no definitions", nil, dissect.Options{}, "9998 C_CHECK_VERSION S_PARTY_MEMBER_LIST S_SPAWN_USER"},
		{"two maps", library(t, files), dissect.Options{}, "9998 C_CHECK_VERSION S_PARTY_MEMBER_LIST=S_PARTY_MEMBER_LIST.7 S_SPAWN_USER=S_SPAWN_USER.15"},
		{
			"revision", library(t, files),
			dissect.Options{Revision: prototest.Revision},
			"9998 C_CHECK_VERSION S_CHAT=S_CHAT.3 S_PARTY_MEMBER_LIST=S_PARTY_MEMBER_LIST.7",
		},
		{
			"patch", library(t, files),
			dissect.Options{Revision: prototest.Revision, Patch: 8000},
			"9998 C_CHECK_VERSION S_CHAT=S_CHAT.2 S_PARTY_MEMBER_LIST=S_PARTY_MEMBER_LIST.7",
		},
	} {
		s := newRecording(t, log, tt.lib, tt.opts)
		if got := names(s); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.name, got, tt.want)
		}
		if s.Revision() != tt.opts.Revision || s.Log() != log {
			t.Errorf("%s: revision %s", tt.name, s.Revision())
		}
	}
	if s := newRecording(t, generated(t, 20), library(t, files), dissect.Options{}); s.Patch() != 9802 || s.MapFile() != "protocol.373824.map" {
		t.Errorf("patch %v, map %s", s.Patch(), s.MapFile())
	}
	files["map/protocol.6.map"] = &fstest.MapFile{Data: []byte(strings.Repeat("S_", 101) + " 5002\n" + strings.Repeat("C_", 100) + " 9998\n")}
	s := newRecording(t, log, library(t, files), dissect.Options{Revision: "6"})
	if got, want := names(s), "C_CHECK_VERSION "+strings.Repeat("C_", 100)+" S_PARTY_MEMBER_LIST=S_PARTY_MEMBER_LIST.7 S_SPAWN_USER=S_SPAWN_USER.15"; got != want {
		t.Errorf("a map with a long name: got %s, want %s", got, want)
	}
	files["map/protocol.7.map"] = &fstest.MapFile{Data: []byte("S_CHAT\n")}
	if _, err := dissect.New(log, library(t, files), dissect.Options{Revision: "7"}); err == nil || !strings.Contains(err.Error(), "protocol.7.map:1") {
		t.Errorf("a map that is wrong: %v", err)
	}
}

func TestSummary(t *testing.T) {
	s := newRecording(t, generated(t, 900), library(t, prototest.Files()), dissect.Options{})
	total, err := s.Summary(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	// Of nine packets, three have no definition and one has a wrong one; of 27, one is cut
	// short.
	if want := 100 + 34; total.Packets != 900 || total.Unknown != 300 || total.Failed != int64(want) || total.Decoded != int64(600-want) {
		t.Errorf("got %+v", total)
	}
	// 900 packets in 899 times 20 ms, 300 of them from the client.
	first := time.Date(2020, 9, 1, 12, 0, 0, 0, time.UTC)
	if total.Seconds != 17.98 || !total.First.Equal(first) || !total.Last.Equal(first.Add(17980*time.Millisecond)) || total.PacketsPerSecond != 50.056 {
		t.Errorf("got %v s, from %v to %v, %v a second", total.Seconds, total.First, total.Last, total.PacketsPerSecond)
	}
	if d := total.Directions; len(d) != 2 || d[0].From != "client" || d[0].Packets != 300 || d[1].From != "server" || d[1].Packets != 600 || d[0].Bytes+d[1].Bytes != total.Bytes {
		t.Errorf("got %+v", d)
	}
	if in := total.Times.Intervals; total.Times.Seconds != 1 || len(in) != 18 || in[17].Packets != 50 || !in[1].Begin.Equal(first.Add(time.Second)) {
		t.Errorf("got %+v", total.Times)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Summary(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("nobody waits: %v", err)
	}
}

func findings(t *testing.T, s *dissect.Recording) []dissect.Finding {
	t.Helper()
	var list []dissect.Finding
	for f, err := range s.Verify(t.Context(), func(int64, int64) {}) {
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, f)
	}
	return list
}

// TestVerify expects the packets that were cut short, each with its place.
func TestVerify(t *testing.T) {
	log := generated(t, 270)
	list := findings(t, newRecording(t, log, library(t, prototest.Files()), dissect.Options{}))
	if len(list) != 10 {
		t.Fatalf("got %d findings: %v", len(list), list)
	}
	for i, f := range list {
		off := log.Offset(1 + 27*i)
		if f.Packet != 1+27*i || f.Name != "S_CHAT" || f.Off != off || !strings.Contains(f.String(), "not a packet of S_CHAT.3: protocol: offset 0") {
			t.Errorf("got %v", f)
		}
	}
	if got := findings(t, newRecording(t, log, nil, dissect.Options{})); len(got) != 0 {
		t.Errorf("without definitions: %v", got)
	}
	for f, err := range newRecording(t, log, library(t, prototest.Files()), dissect.Options{}).Verify(t.Context(), nil) {
		if err != nil || f.Packet != 1 {
			t.Errorf("first is %v, %v", f, err)
		}
		break // a further call would panic
	}
}

func TestVerifyDamage(t *testing.T) {
	data, err := prototest.Log(1, 9)
	if err != nil {
		t.Fatal(err)
	}
	list := findings(t, newRecording(t, openLog(t, data[:len(data)-3]), nil, dissect.Options{}))
	if len(list) != 1 || list[0].Packet != -1 || list[0].Off == 0 || !strings.Contains(list[0].String(), "end of the log: the file ends within a block") {
		t.Errorf("got %v", list)
	}
	lines := []byte(strings.Repeat("S_CHAT 04000100\n", 3))
	r := newRecording(t, openLog(t, lines), nil, dissect.Options{})
	lines[len(lines)-2] = '?' // a digit of the last packet
	list = findings(t, r)
	if len(list) != 1 || list[0].Packet != 2 || !strings.Contains(list[0].What, "the line changed since the log was opened") {
		t.Errorf("got %v", list)
	}
}

// TestVerifyHidden checks that a hidden definition is verified too.
func TestVerifyHidden(t *testing.T) {
	files := prototest.Files()
	files["old/S_CHAT.3.def"] = &fstest.MapFile{Data: []byte("in32 a\n")}
	lib := library(t, files)
	if hidden := lib.Hidden(); len(hidden) != 1 || hidden[0].Path != "old/S_CHAT.3.def" {
		t.Errorf("hidden are %v", hidden)
	}
	for strict, want := range map[bool]string{
		false: `old/S_CHAT.3.def:1: no such type: "in32" (did you mean "int32"?)`,
		true:  "old/S_CHAT.3.def:1: not used: defs/S_CHAT.3.def is S_CHAT.3 already",
	} {
		var got []string
		for f, err := range dissect.VerifyLibrary(t.Context(), lib, 0, strict) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, f.String())
		}
		if !slices.Contains(got, want) {
			t.Errorf("strict %v: got %q, want %q among them", strict, got, want)
		}
	}
}

func TestVerifyLibrary(t *testing.T) {
	files := prototest.Files()
	files["defs/S_TWICE.1.def"] = &fstest.MapFile{Data: []byte("int32 a\nint32 a\n")}
	files["defs/S_INCLUDES.1.def"] = &fstest.MapFile{Data: []byte("@include S_WRONG.1.def\n")}
	for _, tt := range []struct {
		strict bool
		want   []string
	}{
		{false, []string{"defs/S_WRONG.1.def:1", "defs/S_WRONG.1.def:1", "map/sysmsg.99.map:1"}},
		{true, []string{"defs/S_WRONG.1.def:1", "defs/S_TWICE.1.def:2", "defs/S_WRONG.1.def:1", "map/sysmsg.99.map:1"}},
	} {
		var got []string
		for f, err := range dissect.VerifyLibrary(t.Context(), library(t, files), 0, tt.strict) {
			if err != nil || f.What == "" {
				t.Fatal(f, err)
			}
			got = append(got, f.Where())
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("strict %v: got %v, want %v", tt.strict, got, tt.want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for f, err := range dissect.VerifyLibrary(ctx, library(t, files), 0, false) {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("nobody waits: %v, %v", f, err)
		}
	}
}

// TestLines checks that lines come in order and as they are made one by one, whatever is
// selected.
func TestLines(t *testing.T) {
	r := newRecording(t, generated(t, 3000), library(t, prototest.Files()), dissect.Options{})
	begin := time.Date(2020, 9, 1, 12, 0, 0, 0, time.UTC)
	for name, s := range map[string]dissect.Selection{
		"all":      r.All(),
		"numbers":  {From: 1999, To: 2100},
		"too many": {From: -5, To: 10_000},
		"none":     {From: 3000, To: 4000},
		"names":    {To: 3000, Code: func(c *dissect.Code) bool { return c.Name == "S_CHAT" }},
		"times":    {To: 3000, Since: begin.Add(time.Second), Until: begin.Add(2 * time.Second)},
		"until":    {To: 3000, Until: begin.Add(2 * time.Second)},
	} {
		var want, got bytes.Buffer
		for i := range r.Log().Len() {
			p, err := r.Log().Packet(i, nil)
			if err != nil {
				t.Fatal(err)
			}
			at := time.Duration(i) * 20 * time.Millisecond
			switch {
			case i < s.From, i >= s.To, s.Code != nil && !s.Code(r.Code(p.Code())):
			case !s.Since.IsZero() && at < time.Second, !s.Until.IsZero() && at > 2*time.Second:
			default:
				line, _ := r.AppendJSON(nil, i, &p, nil)
				want.Write(line)
			}
		}
		if (want.Len() == 0) != (name == "none") {
			t.Errorf("%s: %d bytes are wanted", name, want.Len())
		}
		for b, err := range r.Lines(t.Context(), s) {
			if err != nil {
				t.Fatal(err)
			}
			sum := 0
			for _, l := range b.Lines {
				sum += l.Text
			}
			if sum != len(b.Text) {
				t.Errorf("%s: lines of %d bytes in %d", name, sum, len(b.Text))
			}
			got.Write(b.Text)
		}
		if !bytes.Equal(got.Bytes(), want.Bytes()) {
			t.Errorf("%s: %d bytes, want %d", name, got.Len(), want.Len())
		}
	}
	for _, err := range r.Lines(t.Context(), r.All()) {
		if err != nil {
			t.Error(err)
		}
		break // nobody may wait for what is not wanted
	}
}

// TestGrown has a recording grow by packets of new codes. What was there stays the same.
func TestGrown(t *testing.T) {
	data := []byte("S_LOGIN 04000f27\nS_CHAT 04000e27\nS_LOGIN 04000f27\nA_NEW 04000d27\nS_CHAT 04000c27\n")
	log, err := capture.Open(t.Context(), bytes.NewReader(data), 17, capture.Options{Follow: true})
	if err != nil {
		t.Fatal(err)
	}
	r := newRecording(t, log, library(t, prototest.Files()), dissect.Options{})
	if log, err = log.Grown(t.Context(), int64(len(data))); err != nil {
		t.Fatal(err)
	}
	g, err := r.Grown(log)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := names(r), "S_LOGIN"; got != want {
		t.Errorf("before it had %s, want %s", got, want)
	}
	if got, want := names(g), "A_NEW S_CHAT=S_CHAT.3 S_CHAT=S_CHAT.3 S_LOGIN"; got != want {
		t.Errorf("it has %s, want %s", got, want)
	}
	if got, want := strings.Join(g.Names(), " "), "S_LOGIN S_CHAT A_NEW"; got != want {
		t.Errorf("the names are %s, want %s", got, want)
	}
}
