package protocol_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"lorefs/internal/testneeds"
	"lorefs/protocol"
)

// byHand are packets laid out by hand from the descriptions.
var byHand = []struct {
	name, def string
	opts      protocol.Options
	packet    string
	want      string
}{
	{"empty", "", protocol.Options{}, "0400 0700", `{"code":7,"data":{}}`},
	{
		"seed 001: members, channel name, password", "array members\n- uint32 player_id\nstring channel_name\nuint16 password",
		protocol.Options{},
		"1800 0100 0100 0c00 1400 d204 0c00 0000 09000000 6100 0000",
		`{"code":1,"guessed":["password"],"data":{"members":[{"player_id":9}],"channel_name":"a","password":1234}}`,
	},
	{
		"inline: the pointer stands between values", "uint16 a\nstring s\nuint16 b",
		protocol.Options{},
		"0c00 0100 0300 0a00 0400 0000", `{"code":1,"guessed":["b"],"data":{"a":3,"s":"","b":4}}`,
	},
	{
		"all scopes are of one dialect", "uint16 a\narray e\n- uint16 x\n- string s\nuint16 b",
		protocol.Options{},
		"1800 0100 0300 0100 0c00 0400 0c00 0000 0500 1400 6100 0000", `{"code":1,"guessed":["b"],"data":{"a":3,"e":[{"x":5,"s":"a"}],"b":4}}`,
	},
	{
		"told to be inline: the pointer stands behind the value", "uint16 a\nstring s",
		protocol.Options{Inline: true},
		"0a00 0100 0300 0800 0000", `{"code":1,"data":{"a":3,"s":""}}`,
	},
	{
		"told to be inline, which is no guess", "string s\nuint16 b",
		protocol.Options{Inline: true},
		"0a00 0100 0800 0400 0000", `{"code":1,"data":{"s":"","b":4}}`,
	},
	{
		"inline by what only that dialect has", "string s\nuint16 b=7",
		protocol.Options{},
		"0a00 0100 0800 0400 0000", `{"code":1,"data":{"s":"","b":4}}`,
	},
	{
		"hoisted: the pointer stands first", "uint16 a\nstring s",
		protocol.Options{},
		"0a00 0100 0800 0300 0000", `{"code":1,"data":{"a":3,"s":""}}`,
	},
	{
		"a guess in an element and in an object", "array e\n- bytes d\n- object o\n- - byte x\nobject p\n- string s\n- byte y",
		protocol.Options{},
		"1600 0100 0100 0b00 1400 05 0b00 0000 1400 0000 06 0000",
		`{"code":1,"guessed":["e[].o.x","p.y"],"data":{"e":[{"d":"","o":{"x":6}}],"p":{"s":"","y":5}}}`,
	},
	{
		"count and offset apart", "count a\nint16 x\noffset a\narray a\n- byte y",
		protocol.Options{},
		"0f00 0100 0100 0700 0a00 0a00 0000 05", `{"code":1,"data":{"x":7,"a":[{"y":5}]}}`,
	},
	{
		"pointers in another order than data", "ref b\nref s\nstring s\nbytes b",
		protocol.Options{},
		"0e00 0100 0c00 0200 0a00 0000 0102", `{"code":1,"data":{"s":"","b":"0102"}}`,
	},
	{
		"a pointer to nothing that is described", "count a\noffset a\nint16 x",
		protocol.Options{},
		"0a00 0100 0300 0900 0700", `{"code":1,"data":{"a#count":3,"a#offset":9,"x":7}}`,
	},
	{
		"array<string>", "array<string> a",
		protocol.Options{},
		"1a00 0100 0200 0800 0800 1000 0e00 0000 1000 0000 1600 6200 0000", `{"code":1,"data":{"a":["","b"]}}`,
	},
	{
		"interleaved", "array[interleaved] a\n- byte x\narray<int16>[interleaved] b",
		protocol.Options{},
		"1c00 0100 0200 0c00 0100 1100 0c00 1700 01 1100 0000 0900 1700 0000 02", `{"code":1,"data":{"a":[{"x":1},{"x":2}],"b":[9]}}`,
	},
	{"skillid before patch 74", "skillid s", protocol.Options{Patch: 7300}, "0800 0100 04005044", `{"code":1,"data":{"s":{"reserved":0,"npc":true,"type":1,"huntingZoneId":80,"id":4,"raw":"0x44500004"}}}`},
	{"fields of a patch", "int16 a ^0-86\nint32 a ^86\nbyte b ^90", protocol.Options{Patch: 8603}, "0800 0100 05000000", `{"code":1,"data":{"a":5}}`},
	{"fields of the newest patch", "int16 a ^0-86\nint32 a ^86\nbyte b ^90", protocol.Options{}, "0900 0100 05000000 06", `{"code":1,"data":{"a":5,"b":6}}`},
	{"split object", "object o\n- byte a\nbyte b\nobject o\n- byte a\n- byte c", protocol.Options{}, "0800 0100 01020304", `{"code":1,"data":{"o":{"a":1,"a#2":3,"c":4},"b":2}}`},
	{"three of a name", "byte a\nbyte a\nbyte a", protocol.Options{}, "0700 0100 010203", `{"code":1,"data":{"a":1,"a#2":2,"a#3":3}}`},
	{"fixed arrays", "byte[2][3] a\nbool[2] b", protocol.Options{}, "0c00 0100 010203040506 0100", `{"code":1,"data":{"a":[[1,2,3],[4,5,6]],"b":[true,false]}}`},
	{"padded", "string s", protocol.Options{Padded: true}, "1000 0100 0102030405060708 0e00 0000", `{"code":1,"padding":"0102030405060708","data":{"s":""}}`},
	{"empty bytes at 0", "bytes b\nstring s", protocol.Options{EmptyBytesNull: true}, "0c00 0100 0000 0000 0a00 0000", `{"code":1,"data":{"b":"","s":""}}`},
	{"empty bytes at 0, unlike the rule", "bytes b\nstring s", protocol.Options{}, "0c00 0100 0000 0000 0a00 0000", `{"code":1,"data":{"b":"","s":""},"layout":{"size":12,"at":[0,10],"gaps":[]}}`},
	{
		"gaps", "bytes b\nstring s",
		protocol.Options{},
		"1200 0100 0c00 0100 0e00 00ff 01 ee 0000 0800",
		`{"code":1,"data":{"b":"01","s":""},"layout":{"size":18,"at":[12,14],"gaps":[{"at":11,"hex":"ff"},{"at":13,"hex":"ee"},{"at":16,"hex":"08"}]}}`,
	},
}

func TestPackets(t *testing.T) {
	for _, tt := range byHand {
		t.Run(tt.name, func(t *testing.T) {
			tab := table(t, tt.def, tt.opts)
			packet := unhex(t, tt.packet)
			if text := roundTrip(t, tab, packet); string(text) != tt.want {
				t.Errorf("got  %s\nwant %s", text, tt.want)
			}
		})
	}
}

func TestScalars(t *testing.T) {
	for _, tt := range []struct{ typ, hex, want string }{
		{"bool", "00", "false"},
		{"bool", "01", "true"},
		{"bool", "ff", "255"},
		{"byte", "ff", "255"},
		{"int16", "0080", "-32768"},
		{"uint16", "ffff", "65535"},
		{"int32", "00000080", "-2147483648"},
		{"uint32", "ffffffff", "4294967295"},
		{"int64", "0000000000000080", `"-9223372036854775808"`},
		{"uint64", "ffffffffffffffff", `"18446744073709551615"`},
		{"float", "cdcccc3d", "0.1"},
		{"float", "00000080", "-0"},
		{"float", "01000000", "1e-45"},
		{"float", "ffff7f7f", "3.4028235e+38"},
		{"float", "0000807f", `"Infinity"`},
		{"float", "000080ff", `"-Infinity"`},
		{"float", "0000c07f", `"NaN"`},
		{"float", "0100807f", `"NaN:7f800001"`},
		{"float", "0000c0ff", `"NaN:ffc00000"`},
		{"double", "9a9999999999b93f", "0.1"},
		{"double", "000000000000f07f", `"Infinity"`},
		{"double", "000000000000f0ff", `"-Infinity"`},
		{"double", "000000000000f87f", `"NaN"`},
		{"double", "010000000000f07f", `"NaN:7ff0000000000001"`},
		{"angle", "ff7f", "3.1414967797905504"},
		{"vec3", "0000803f000000c00000c07f", `{"x":1,"y":-2,"z":"NaN"}`},
		{"vec3fa", "0000803f0000807f0100c07f", `{"x":9.587379924285257e-05,"y":"Infinity","z":"NaN:7fc00001"}`},
		{"vec3fa", "ffff7f7f0100000001008000", ""},
		{"skillid", "ffffffffffffffff", `{"reserved":2147483647,"npc":true,"type":15,"huntingZoneId":0,"id":268435455,"raw":"0xffffffffffffffff"}`},
		{"skillid", "ffffff1ffdffffff", `{"reserved":2147483646,"npc":true,"type":1,"huntingZoneId":4095,"id":65535,"raw":"0xfffffffd1fffffff"}`},
		{"skillid32", "ffffffff", `{"reserved":1,"npc":true,"type":15,"huntingZoneId":0,"id":67108863,"raw":"0xffffffff"}`},
		{"skillid32", "ffffff47", `{"reserved":0,"npc":true,"type":1,"huntingZoneId":1023,"id":65535,"raw":"0x47ffffff"}`},
	} {
		tab := table(t, tt.typ+" v", protocol.Options{})
		packet := append([]byte{byte(4 + len(tt.hex)/2), 0, 1, 0}, unhex(t, tt.hex)...)
		text := roundTrip(t, tab, packet)
		if want := `{"code":1,"data":{"v":` + tt.want + `}}`; tt.want != "" && string(text) != want {
			t.Errorf("%s %s: got %s, want %s", tt.typ, tt.hex, text, want)
		}
	}
}

// TestEveryAngle reads and writes all angles; the reference changes eight.
func TestEveryAngle(t *testing.T) {
	tab := table(t, "angle a", protocol.Options{})
	for i := range 1 << 16 {
		if testneeds.Quick() && i%64 > 1 {
			continue
		}
		packet := []byte{6, 0, 1, 0, byte(i), byte(i >> 8)}
		text, err := tab.AppendJSON(nil, packet)
		if err != nil {
			t.Fatal(err)
		}
		m, err := tab.ParseJSON(text)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := tab.Encode(m); err != nil || !bytes.Equal(got, packet) {
			t.Fatalf("%s: got %x, %v, want %x", text, got, err, packet)
		}
	}
	if a, ok := protocol.AngleOf(math.Pi); a != -32768 || !ok {
		t.Errorf("pi is %d, %v", a, ok)
	}
	for _, bad := range []float64{3.2, -3.2, math.NaN(), math.Inf(1)} {
		if a, ok := protocol.AngleOf(bad); ok {
			t.Errorf("%v is %d", bad, a)
		}
	}
}

func TestText(t *testing.T) {
	tab := table(t, "string s", protocol.Options{})
	for hex, want := range map[string]string{
		"":                              `""`,
		"2200 5c00 2f00 0100 0a00 7f00": `"\"\\/\u0001\n\u007f"`,
		"ac88 3dd8 09dc":                `"袬🐉"`,
		"3dd8":                          `"\ud83d"`,
		"09dc 3dd8":                     `"\udc09\ud83d"`,
		"3dd8 3dd8 09dc":                `"\ud83d🐉"`,
	} {
		n := 8 + len(unhex(t, hex))
		text := roundTrip(t, tab, unhex(t, fmt.Sprintf("%02x00 0100 0600 %s 0000", n, hex)))
		if got := string(text); got != `{"code":1,"data":{"s":`+want+`}}` {
			t.Errorf("%s: got %s, want %s", hex, got, want)
		}
	}
}

func TestJSONErrors(t *testing.T) {
	tab := table(t, "byte n\nstring s\nbytes b\narray a\n- int16 x\nvec3 v\nskillid k\ncustomize c\nbool[2] t\nangle w\nfloat f", protocol.Options{})
	for text, want := range map[string]string{
		`{`:                                    "no JSON",
		`[]`:                                   "want an object, got []",
		`{"x":1}`:                              "x: want code, length, padding, guessed, data or layout; the packet's fields stand below data",
		`{"code":65536}`:                       "code: want a number of 0 to 65535, got 65536",
		`{"padding":"0102030405060708"}`:       "padding: want 8 bytes, for a packet that is padded",
		`{"data":{"m":1}}`:                     `data: there is no field "m"`,
		`{"data":{"n":1,"n":2}}`:               `data: "n" is there twice`,
		`{"data":{"n":256}}`:                   `data.n: "256" is no byte`,
		`{"data":{"n":-1}}`:                    `data.n: "-1" is no byte`,
		`{"data":{"n":1.0}}`:                   `data.n: "1.0" is no byte`,
		`{"data":{"n":null}}`:                  `data.n: want a value, got null`,
		`{"data":{"n":{}}}`:                    `data.n: want a value, got {}`,
		`{"data":{"s":1}}`:                     `data.s: want a string, got 1`,
		`{"data":{"b":"0"}}`:                   `data.b: want hex digits, got "0"`,
		`{"data":{"a":{}}}`:                    `data.a: want an array, got {}`,
		`{"data":{"a":[{"x":1},{"x":40000}]}}`: `data.a[1].x: "40000" is no int16`,
		`{"data":{"v":{"w":1}}}`:               `data.v: there is no field "w"`,
		`{"data":{"v":{"":1}}}`:                `data.v: there is no field ""`,
		`{"data":{"v":{"x":1e39}}}`:            `"1e39" is no float`,
		`{"data":{"k":{"npc":1}}}`:             `data.k: want true or false, got 1`,
		`{"data":{"k":{"id":5,"raw":"0x6"}}}`:  `data.k: raw is {ID:6`,
		`{"data":{"k":{"id":-1}}}`:             `want a number of 32 bits`,
		`{"data":{"c":{"voice":256}}}`:         `want a number of 8 bits`,
		`{"data":{"w":4}}`:                     `"4" is no angle`,
		`{"data":{"f":"NaN:00000001"}}`:        `"NaN:00000001" is no float`,
		`{"layout":{"x":1}}`:                   `layout: there is no field "x"`,
	} {
		_, err := tab.ParseJSON([]byte(text))
		wantError(t, err, want)
	}
	for text, want := range map[string]string{
		`{"data":{"s":"a\u0000"}}`:                        "s: a string cannot hold U+0000",
		`{"data":{"t":[true]}}`:                           "t: want an array of 2 values",
		`{"data":{"k":{"id":65536,"npc":true,"type":1}}}`: "k: {ID:65536",
		`{"data":{"k":{"huntingZoneId":1}}}`:              "does not fit a skillid",
	} {
		m, err := tab.ParseJSON([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		_, err = tab.Encode(m)
		wantError(t, err, want)
		if !errors.Is(err, protocol.ErrValue) {
			t.Errorf("%v does not match ErrValue", err)
		}
	}
}

// TestLooseJSON reads JSON as people write it.
func TestLooseJSON(t *testing.T) {
	tab := table(t, "int16 a=-5\nuint64 b\nskillid k\nbool c\nstring s", protocol.Options{})
	m, err := tab.ParseJSON([]byte(" { \"code\" : 7 , \"data\" : { \"b\" : 18446744073709551615 ,\n \"k\" : \"0x0000000110500004\", \"s\":\"\\u0041\\/\" } } "))
	if err != nil {
		t.Fatal(err)
	}
	got, err := tab.Encode(m)
	if want := unhex(t, "1f00 0700 1900 fbff ffffffffffffffff 0400501001000000 00 4100 2f00 0000"); err != nil || !bytes.Equal(got, want) {
		t.Errorf("got %x, %v, want %x", got, err, want)
	}
}

func TestValueErrors(t *testing.T) {
	tab := table(t, "int16 n\nfloat f\narray a\n- bool x\nobject o\n- string s", protocol.Options{})
	for _, tt := range []struct {
		data protocol.Object
		want string
	}{
		{protocol.Object{{Name: "n", Value: protocol.Int(40000)}}, "n: 40000 is out of range of signed 16 bits"},
		{protocol.Object{{Name: "n", Value: protocol.Uint(uint64(1 << 63))}}, "out of range"},
		{protocol.Object{{Name: "n", Value: protocol.Text("1")}}, "n: want an integer, got string"},
		{protocol.Object{{Name: "f", Value: protocol.Double(1e39)}}, "f: 1e+39 is out of range"},
		{protocol.Object{{Name: "a", Value: protocol.List(protocol.Int(1))}}, "a[0]: want an object, got int"},
		{protocol.Object{{Name: "a", Value: protocol.List(protocol.Object{{Name: "x", Value: protocol.Int(1)}}.Value())}}, "a[0].x: want a bool, got int"},
		{protocol.Object{{Name: "o", Value: protocol.Object{{Name: "s", Value: protocol.Int(1)}}.Value()}}, "o.s: want a string, got int"},
		{protocol.Object{{Name: "z", Value: protocol.Int(1)}}, `there is no field "z"`},
	} {
		_, err := tab.Encode(&protocol.Message{Data: tt.data})
		wantError(t, err, tt.want)
	}
	for _, data := range []protocol.Object{
		{{Name: "o", Value: protocol.Object{{Name: "s", Value: protocol.Text(strings.Repeat("x", 40_000))}}.Value()}},
		{{Name: "a", Value: protocol.List(make([]protocol.Value, 20_000)...)}},
	} {
		if _, err := tab.Encode(&protocol.Message{Data: data}); !errors.Is(err, protocol.ErrTooLong) {
			t.Errorf("got %v, want ErrTooLong", err)
		}
	}
}

// TestLayout uses a layout for its own values, and expects an error for others.
func TestLayout(t *testing.T) {
	tab := table(t, "string a\nbytes b\narray c\n- byte x", protocol.Options{})
	// The data lies in the order c, b, a, with a byte before and two behind.
	packet := unhex(t, "1c00 0100 1600 1400 0200 0100 0f00 00 0f00 0000 09 0b0c 61000000 bb00")
	text := roundTrip(t, tab, packet)
	m, err := tab.ParseJSON(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	for _, edit := range []func(*protocol.Message){
		func(m *protocol.Message) { m.Data[0].Value = protocol.Text("longer") },
		func(m *protocol.Message) {
			m.Data[2].Value = protocol.List(protocol.Object{}.Value(), protocol.Object{}.Value())
		},
		func(m *protocol.Message) { m.Layout.Size = 3 },
		func(m *protocol.Message) { m.Layout.At[0] = 1 },
		func(m *protocol.Message) { m.Layout.At[0] = 70000 },
		func(m *protocol.Message) { m.Layout.At[1] = m.Layout.At[0] },
		func(m *protocol.Message) { m.Layout.Gaps[0].Off = 29 },
	} {
		m := decode(t, tab, packet)
		edit(m)
		if got, err := tab.Encode(m); !errors.Is(err, protocol.ErrLayout) {
			t.Errorf("got %x, %v, want ErrLayout", got, err)
		}
	}
	m.Data[2].Value.At(0).Object()[0].Value = protocol.Uint(byte(77))
	if got, err := tab.Encode(m); err != nil || !bytes.Contains(got, []byte{77}) || len(got) != len(packet) {
		t.Errorf("an edit that fits: %x, %v", got, err)
	}
	m.Layout = nil
	if got, err := tab.Encode(m); err != nil || bytes.Equal(got, packet) {
		t.Errorf("without the layout: %x, %v", got, err)
	}
}

// TestNoGrowth has pointers that share data. They can't make a packet grow.
func TestNoGrowth(t *testing.T) {
	const elements, size, text = 1000, 8, 20_000
	packet := make([]byte, 8+elements*size+2*text+2)
	put := func(off, v int) { packet[off], packet[off+1] = byte(v), byte(v>>8) }
	put(0, len(packet))
	put(4, elements)
	put(6, 8)
	for i := range elements {
		at := 8 + i*size
		put(at, at)
		if i+1 < elements {
			put(at+2, at+size)
		}
		put(at+4, 8+elements*size) // all strings are one
	}
	for i := range text {
		put(8+elements*size+2*i, 'x')
	}
	for _, opts := range []protocol.Options{{}, {Strict: true}} {
		_, err := table(t, "array a\n- string s\n- int16 x", opts).AppendJSON(nil, packet)
		wantError(t, err, "a[2].s: string: the fields refer to more bytes than the packet has")
	}
	// An array of arrays that are all one.
	_, err := table(t, "array a\n- array b\n- - int16 x", protocol.Options{}).AppendJSON(nil, packet)
	if err == nil {
		t.Error("no error")
	}
}

// TestSharedBytes has bytes that belong to two fields. They count once, also in a packet
// that would be too long otherwise.
func TestSharedBytes(t *testing.T) {
	const n = 40_000
	packet := make([]byte, 12+n)
	for i, v := range []uint16{12 + n, 1, 12, n, 12, n} {
		binary.LittleEndian.PutUint16(packet[2*i:], v)
	}
	packet[12] = 7
	tab := table(t, "bytes a\nbytes b\n", protocol.Options{})
	roundTrip(t, tab, packet)
	m := decode(t, tab, packet)
	m.Length = new(uint16(12 + n)) // the right one anyway
	if got, err := tab.Encode(m); err != nil || !bytes.Equal(got, packet) {
		t.Errorf("with its length: %d bytes, %v", len(got), err)
	}
	m.Data[1].Value = protocol.Bytes(make([]byte, n))
	if _, err := tab.Encode(m); !errors.Is(err, protocol.ErrLayout) {
		t.Errorf("other bytes in one place: %v, want ErrLayout", err)
	}
}

// TestReopenedObject continues an object where it was begun, also if a field had its name.
func TestReopenedObject(t *testing.T) {
	tab := table(t, "byte o\nobject o\n- byte a\nobject o\n- byte b\n", protocol.Options{})
	text := roundTrip(t, tab, []byte{7, 0, 1, 0, 1, 2, 3})
	if want := `{"code":1,"data":{"o":1,"o#2":{"a":2,"b":3}}}`; string(text) != want {
		t.Errorf("got %s, want %s", text, want)
	}
}
