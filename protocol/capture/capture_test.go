package capture_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"lorefs/protocol/capture"
)

// packet makes a packet of a code and a payload.
func packet(code uint16, payload ...byte) []byte {
	n := len(payload) + 4
	return append([]byte{byte(n), byte(n >> 8), byte(code), byte(code >> 8)}, payload...)
}

var start = time.Date(2017, 9, 5, 18, 30, 12, 345e6, time.UTC)

// session returns packets with fields that every format can hold.
func session(n int) []capture.Packet {
	var list []capture.Packet
	for i := range n {
		p := capture.Packet{
			Time: start.Add(time.Duration(i/3) * 17 * time.Millisecond), From: capture.FromServer,
			Name: "S_CHAT", Data: packet(uint16(1000+i%7), bytes.Repeat([]byte{byte(i)}, i%50)...),
		}
		if i%4 == 1 {
			p.From, p.Name = capture.FromClient, "C_CHAT"
		}
		list = append(list, p)
	}
	if n > 5 {
		list[5].Data = packet(77, bytes.Repeat([]byte("large "), 10900)...)
	}
	return list
}

func build(t testing.TB, info capture.Info, packets []capture.Packet) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := capture.NewWriter(&b, info)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range packets {
		if err := w.Write(p); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func open(t testing.TB, data []byte) *capture.Log {
	t.Helper()
	l, err := capture.Open(t.Context(), bytes.NewReader(data), int64(len(data)), capture.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func readAll(t testing.TB, l *capture.Log) []capture.Packet {
	t.Helper()
	var list []capture.Packet
	for i := range l.Len() {
		p, err := l.Packet(i, nil)
		if err != nil {
			t.Fatal(err)
		}
		if p.Code() != l.Code(i) {
			t.Errorf("packet %d has code %d, the index %d", i, p.Code(), l.Code(i))
		}
		list = append(list, p)
	}
	return list
}

// formats are all formats of logs.
var formats = []struct {
	name  string
	info  capture.Info
	names bool // it holds the names
}{
	{"teralog", capture.Info{Format: capture.TeraLog, Revision: "319259", Region: "EU"}, false},
	{"teralog old", capture.Info{Format: capture.TeraLog, Old: true}, false},
	{"hex", capture.Info{Format: capture.Hex}, true},
}

// sessionFor returns a session as a format returns it.
func sessionFor(info capture.Info, n int, names bool) []capture.Packet {
	list := session(n)
	if info.Old {
		list[0] = capture.Packet{Time: start, From: capture.FromClient, Data: packet(19900, make([]byte, 28)...)}
	}
	for i := range list {
		if !names {
			list[i].Name = ""
		}
	}
	return list
}

func TestFormats(t *testing.T) {
	for _, f := range formats {
		t.Run(f.name, func(t *testing.T) {
			want := sessionFor(f.info, 400, f.names)
			l := open(t, build(t, f.info, want))
			if got := l.Info(); !reflect.DeepEqual(got, f.info) {
				t.Errorf("info is %+v, want %+v", got, f.info)
			}
			got := readAll(t, l)
			if len(got) != len(want) {
				t.Fatalf("%d packets, want %d", len(got), len(want))
			}
			for i := range want {
				if !reflect.DeepEqual(got[i], want[i]) {
					t.Fatalf("packet %d is %+v, want %+v", i, got[i], want[i])
				}
			}
		})
	}
}

// TestCutOff checks that a recording that was cut off has all packets before, and says so.
func TestCutOff(t *testing.T) {
	for _, f := range formats {
		t.Run(f.name, func(t *testing.T) {
			want := sessionFor(f.info, 40, f.names)
			data := build(t, f.info, want)
			l := open(t, data[:len(data)-6])
			if l.Info().Incomplete == nil {
				t.Error("it does not say that it is incomplete")
			}
			got := readAll(t, l)
			if len(got) == 0 || len(got) >= len(want) {
				t.Fatalf("%d packets of %d", len(got), len(want))
			}
			for i := range got {
				if !bytes.Equal(got[i].Data, want[i].Data) {
					t.Errorf("packet %d is %x", i, got[i].Data)
				}
			}
		})
	}
}

// TestLastLine checks that a bad last line of a log is reported with its number.
func TestLastLine(t *testing.T) {
	for _, end := range []string{"0400e80", "hello\r\n", "hello\n\n \n", `{"hex":"0400`} {
		l := open(t, []byte("0400e803\n0400e903\n"+end))
		e, ok := errors.AsType[*capture.FormatError](l.Info().Incomplete)
		if l.Len() != 2 || !ok || e.Off != 18 || e.What != "line 3" || e.Err == nil {
			t.Errorf("%q: %d packets, %v", end, l.Len(), l.Info().Incomplete)
		}
	}
}

// TestLabels checks that a code gets the name of the first of its packets that has one.
func TestLabels(t *testing.T) {
	tera := open(t, build(t, capture.Info{Format: capture.TeraLog}, []capture.Packet{{Data: packet(1), Name: "S_ONE", Version: 3}}))
	if name, _ := tera.Label(1); name != "" {
		t.Errorf("%q in a TeraConnectionLog, which has no names", name)
	}
	l := open(t, []byte("04000100\nS_/../X 04000100\n{\"name\":\"123\",\"hex\":\"04000100\"}\nS_ONE.3 04000100\nS_OTHER.4 04000100\n"+
		strings.Repeat("S_", 101)+" 04000200\n04000300\n"))
	if name, version := l.Label(1); name != "S_ONE" || version != 3 {
		t.Errorf("hex lines: %q %d", name, version)
	}
	if name, _ := l.Label(2); name != "" {
		t.Errorf("a long name: %q", name)
	}
	if name, _ := l.Label(3); name != "" {
		t.Errorf("%q for a packet without a name", name)
	}
}

func TestHexLines(t *testing.T) {
	const text = "\ufeff# a session\r\n\r\n" +
		"0600E8030102\r\n" +
		"S->C 1504636212345 S_CHAT.3 06 00 e8 03 01 02\n" +
		"2017-09-05T18:30:12.345Z,C_CHAT,0600e8030102\n" +
		`{"name":"S_CHAT","version":2,"timestamp":1504636212345,"hex":"0600e8030102","fake":true}` + "\n" +
		`{"dir":"client","data":"0600e8030102"}`
	data, _ := hex.DecodeString("0600e8030102")
	want := []capture.Packet{
		{Data: data},
		{Data: data, From: capture.FromServer, Time: start, Name: "S_CHAT", Version: 3},
		{Data: data, From: capture.FromClient, Time: start, Name: "C_CHAT"},
		{Data: data, From: capture.FromServer, Time: start, Name: "S_CHAT", Version: 2, Fake: true},
		{Data: data, From: capture.FromClient},
	}
	if got := readAll(t, open(t, []byte(text))); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
}

// TestTimes checks that all formats, and both ways of writing a time in hex, accept the
// same times.
func TestTimes(t *testing.T) {
	for _, tt := range []struct {
		text string
		is   bool
	}{
		{"1969-12-31T23:59:59.999Z", false},
		{"1970-01-01T00:00:00Z", false},
		{"1970-01-01T00:00:00.001Z", true},
		{"2014-12-31T23:59:59.999Z", true},
		{"2015-01-01T00:00:00Z", true},
		{"9017-09-05T18:30:12.362Z", true},
		{"9999-12-31T23:59:59.999Z", true},
		{"9999-12-31T23:59:59.999-00:01", false},
	} {
		at, err := time.Parse(time.RFC3339Nano, tt.text)
		if err != nil {
			t.Fatal(err)
		}
		var want time.Time
		if tt.is {
			want = at.UTC()
		}
		for _, word := range []string{tt.text, strconv.FormatInt(at.UnixMilli(), 10)} {
			if p, ok, err := capture.ParseLine(word + " 0400e803"); !p.Time.Equal(want) || !ok || err != nil {
				t.Errorf("%s: the time is %v, want %v; %v", word, p.Time, want, err)
			}
		}
		for _, f := range formats {
			packets := []capture.Packet{{Time: at, Data: packet(1000)}}
			if !tt.is || f.info.Format == capture.TeraLog && at.Year() < 2015 {
				w, err := capture.NewWriter(io.Discard, f.info)
				if err = errors.Join(err, w.Write(packets[0])); err == nil || !strings.Contains(err.Error(), "the time "+at.String()) {
					t.Errorf("%s, %s: %v, want an error with the time", f.name, tt.text, err)
				}
				continue
			}
			if got := readAll(t, open(t, build(t, f.info, packets))); !got[0].Time.Equal(at) {
				t.Errorf("%s, %s: the time is %v", f.name, tt.text, got[0].Time)
			}
		}
	}
}

// TestNoTime: a TeraLog can't end a time, and packets before the first time have none.
func TestNoTime(t *testing.T) {
	none, some := capture.Packet{Data: packet(1000)}, capture.Packet{Time: start, Data: packet(1000)}
	for _, f := range formats {
		l := open(t, build(t, f.info, []capture.Packet{none, some}))
		if got := readAll(t, l); !got[0].Time.IsZero() || !got[1].Time.Equal(start) {
			t.Errorf("%s: %v and %v", f.name, got[0].Time, got[1].Time)
		}
		w, err := capture.NewWriter(io.Discard, f.info)
		if err = errors.Join(err, w.Write(some), w.Write(none)); (err == nil) == (f.info.Format == capture.TeraLog) {
			t.Errorf("%s: a packet without a time behind one with a time: %v", f.name, err)
		}
	}
}

// TestTeraLogBytes reads a TeraConnectionLog made by hand from the specification.
func TestTeraLogBytes(t *testing.T) {
	const text = "01 1300 54657261436f6e6e656374696f6e4c6f67" + // magic
		"06 0800 333139323539 02 0200" + // revision, start
		"03 0400 1027" + // 10 s
		"05 0500 e803 07 09 0400 ffff" + // packet, unknown block
		"03 0300 05" + "04 0400 bc4d" // 5 ms, packet
	data, err := hex.DecodeString(strings.ReplaceAll(text, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	l := open(t, data)
	epoch := time.Date(2015, 1, 1, 0, 0, 0, 0, time.UTC)
	want := []capture.Packet{
		{Time: epoch.Add(10 * time.Second), From: capture.FromServer, Data: []byte{5, 0, 0xe8, 3, 7}},
		{Time: epoch.Add(5 * time.Millisecond), From: capture.FromClient, Data: []byte{4, 0, 0xbc, 0x4d}},
	}
	if got := readAll(t, l); !reflect.DeepEqual(got, want) || l.Info().Revision != "319259" {
		t.Errorf("got %+v of %+v\nwant %+v", got, l.Info(), want)
	}
}

// TestDamage expects an error that says what is wrong, and where.
func TestDamage(t *testing.T) {
	tera := build(t, capture.Info{Format: capture.TeraLog}, session(3))
	set := func(data []byte, off int, b ...byte) []byte {
		data = bytes.Clone(data)
		copy(data[off:], b)
		return data
	}
	for _, tt := range []struct {
		name string
		data []byte
		want string
	}{
		{"empty block", set(tera, 20, 3, 1, 0), "offset 0x14 of the file: a block of size 1"},
		{"long time", append(bytes.Clone(tera), 3, 11, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9), "a time of 9 bytes"},
		{"short packet", append(bytes.Clone(tera), 5, 3, 0, 1), "a packet of 3 bytes"},
		{"hex", []byte("# x\n0400e803\n0400e80\n0400e803\n"), "capture: offset 0xd of the file: line 3: want a packet of 4 to 65535 bytes in hex digits, got \"0400e80\""},
		{"hex, the only line", []byte("# x\n0400e80\n"), "line 2"},
		{"no hex", []byte("hello\n"), "want a packet"},
		{"nothing", nil, "the file is empty"},
		{"JSON", []byte("{\"hex\":\"00\"}\n"), "line 1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := capture.Open(t.Context(), bytes.NewReader(tt.data), int64(len(tt.data)), capture.Options{})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got the error %v, want one with %q", err, tt.want)
			}
			if _, ok := errors.AsType[*capture.FormatError](err); !ok {
				t.Errorf("%T is no FormatError", err)
			}
		})
	}
	for _, text := range []string{
		"\x00\x01\x02\x03",
		"TPPL\x01\x00\x00\x00\x04\xa1\x2a\x05\x00\x00\x00\x00\x00\x00",                                     // Alkahest's log
		"\x0c\x00\x00\x00\x00\x00\x06\x00\x08\x00\x04\x00\x06\x00\x00\x00\x04\x00\x00\x00\x00\x00\x00\x00", // FlatBuffers
	} {
		if _, err := capture.Open(t.Context(), strings.NewReader(text), int64(len(text)), capture.Options{}); !errors.Is(err, capture.ErrUnknown) {
			t.Errorf("%q: got the error %v, want ErrUnknown", text, err)
		}
		if format, err := capture.Detect(strings.NewReader(text), int64(len(text))); format != 0 || err != nil {
			t.Errorf("%q: detected %v, %v", text, format, err)
		}
	}
}

func TestLimits(t *testing.T) {
	data := build(t, capture.Info{Format: capture.TeraLog}, session(100))
	_, err := capture.Open(t.Context(), bytes.NewReader(data), int64(len(data)), capture.Options{MaxPackets: 99})
	if err == nil || !strings.Contains(err.Error(), "more than 99 packets") {
		t.Errorf("got the error %v", err)
	}
}

// failing is a source that can't be read behind some offset.
type failing struct {
	io.ReaderAt
	from int64
}

func (f failing) ReadAt(p []byte, off int64) (int, error) {
	if off+int64(len(p)) > f.from {
		return 0, iotest.ErrTimeout
	}
	return f.ReaderAt.ReadAt(p, off)
}

// TestReadErrors checks that an error of reading is not reported as damage.
func TestReadErrors(t *testing.T) {
	for _, f := range formats {
		data := build(t, f.info, sessionFor(f.info, 400, f.names))
		_, err := capture.Open(t.Context(), failing{bytes.NewReader(data), int64(len(data)) - 1}, int64(len(data)), capture.Options{})
		if !errors.Is(err, iotest.ErrTimeout) {
			t.Errorf("%s: %v, want the error of reading", f.name, err)
		}
	}
}

func TestWriterErrors(t *testing.T) {
	for _, tt := range []struct {
		info capture.Info
		data []byte
		want string
	}{
		{capture.Info{}, nil, "cannot write Format(0)"},
		{capture.Info{Format: capture.TeraLog}, []byte{3, 0, 0}, "a packet of 3 bytes"},
		{capture.Info{Format: capture.TeraLog}, []byte{5, 0, 0, 0}, "a packet of 4 bytes whose header states 5"},
		{capture.Info{Format: capture.TeraLog, Old: true}, make([]byte, 65534), "65533 in an old log"},
		{capture.Info{Format: capture.Hex}, make([]byte, 65536), "a packet of 65536 bytes"},
	} {
		w, err := capture.NewWriter(io.Discard, tt.info)
		if err == nil {
			err = w.Write(capture.Packet{Data: tt.data})
		}
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v: %v, want %q", tt.info, err, tt.want)
		}
	}
	for _, p := range []capture.Packet{{Name: "S_A 0400e803"}, {Name: "chat"}, {Name: "S_\n"}, {Name: "S_\xff"}, {Name: strings.Repeat("S_", 200)}, {Version: 65536}} {
		w, err := capture.NewWriter(io.Discard, capture.Info{Format: capture.Hex})
		p.Data = packet(1000)
		if err = errors.Join(err, w.Write(p)); err == nil {
			t.Errorf("the name %q, version %d: no error", p.Name, p.Version)
		}
	}
}

// TestDetect checks that a file counts as a log only if its beginning looks like one.
func TestDetect(t *testing.T) {
	long := "# " + strings.Repeat("remark ", 20_000) + "\n"
	for text, want := range map[string]bool{
		"":                                    false,
		"# only a remark\n":                   false,
		"It was a dark and stormy night.\n":   false,
		"# remark\n\n S->C S_CHAT 0400e903\n": true,
		"0400e903":                            true,
		"0400e9zz":                            false,
		`{"hex":"0400e903"}`:                  true,
		`{"name":"anything"}`:                 false,
		"\x01\x02\x03\x04\x05\x06":            false,
		long:                                  false,
	} {
		if got, err := capture.Detect(strings.NewReader(text), int64(len(text))); (got != 0) != want || err != nil {
			t.Errorf("%.30q: got %v, %v", text, got, err)
		}
	}
	for _, f := range []capture.Format{capture.TeraLog, capture.Hex} {
		var b bytes.Buffer
		w, err := capture.NewWriter(&b, capture.Info{Format: f})
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(w.Write(capture.Packet{Data: []byte{4, 0, 1, 0}}), w.Close()); err != nil {
			t.Fatal(err)
		}
		if got, err := capture.Detect(bytes.NewReader(b.Bytes()), int64(b.Len())); got != f || err != nil {
			t.Errorf("%v: got %v, %v", f, got, err)
		}
	}
	if _, err := capture.Detect(failing{strings.NewReader("0400e903"), 0}, 8); err == nil {
		t.Error("a file that can't be read: no error")
	}
}

// TestOpenCancelled cancels the opening of a long log.
func TestOpenCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	text := "0400e903\n"
	if _, err := capture.Open(ctx, strings.NewReader(text), int64(len(text)), capture.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// TestSeen is called for the first packet of each code, in every format.
func TestSeen(t *testing.T) {
	for _, f := range formats {
		t.Run(f.name, func(t *testing.T) {
			data := build(t, f.info, sessionFor(f.info, 60, f.names))
			var seen, want []uint16
			l, err := capture.Open(t.Context(), bytes.NewReader(data), int64(len(data)), capture.Options{Seen: func(so capture.Info, code uint16) {
				if so.Format != f.info.Format {
					t.Errorf("the format is %v when code %d is seen", so.Format, code)
				}
				seen = append(seen, code)
			}})
			if err != nil {
				t.Fatal(err)
			}
			for i := range l.Len() {
				if c := l.Code(i); !slices.Contains(want, c) {
					want = append(want, c)
				}
			}
			if !slices.Equal(seen, want) {
				t.Errorf("got %d, want %d", seen, want)
			}
		})
	}
}
