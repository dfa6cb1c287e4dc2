package protocol_test

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"lorefs/internal/testneeds"
	"lorefs/protocol"
)

// hostile has packets that break some other readers. Each fails with an error that contains
// err, or makes data. strict is the error in strict mode if it differs.
var hostile = map[string]struct{ data, err, strict string }{
	"truncated int32":              {err: "offset 0 of the packet: fields of 8 bytes: the packet ends at 6"},
	"header length 9 != 8 bytes":   {data: `{"x":1}`, strict: "length of 9, but there are 8 bytes"},
	"header length 4 < 8 bytes":    {data: `{"x":1}`, strict: "length of 4, but there are 8 bytes"},
	"trailing 4 bytes":             {data: `{"x":1}`, strict: "offset 8 of the packet: a byte that belongs to no field"},
	"array here mismatch":          {err: "a[0]: an element says that it is at 9"},
	"array cycle count 3":          {err: "element 3 of 3 says that the next is at 8"},
	"array next=0 but count 2":     {err: "element 1 of 2 says that the next is at 0"},
	"array count 1 but next!=0":    {err: "element 1 of 1 says that the next is at 16"},
	"array count 0 offset nonzero": {data: `{"a":[]}`},
	"array count 1 offset 0":       {err: "an offset of 0: want one behind the header"},
	"array out of order elements":  {data: `{"a":[{"x":2},{"x":1}]}`},
	"array offset past end":        {err: "an offset of 255: want one behind the header and up to 8"},
	"string no NUL":                {err: "s: a string without an end"},
	"string offset in header":      {err: "an offset of 0: want one behind the header"},
	"string odd offset":            {data: `{"s":"A"}`, strict: "offset 6 of the packet: a byte that belongs to no field"},
	"string lone surrogate":        {data: `{"s":"\ud800"}`},
	"bytes count past end":         {err: "bytes of 8 bytes: the packet ends at 10"},
	"bytes offset 0 count 0":       {data: `{"b":""}`},
	"bool=2":                       {data: `{"b":2}`, strict: "b: a bool of 2"},
	"float NaN payload":            {data: `{"f":"NaN:7fc00001"}`},
	"float -0":                     {data: `{"f":-0}`},
	"skillid reserved=3":           {data: `{"s":{"reserved":3,"npc":false,"type":0,"huntingZoneId":0,"id":4,"raw":"0x600000004"}}`},
	"skillid npc type2 hz":         {data: `{"s":{"reserved":0,"npc":true,"type":2,"huntingZoneId":0,"id":5242884,"raw":"0x120500004"}}`},
	"skillid npc type1 hz":         {data: `{"s":{"reserved":0,"npc":true,"type":1,"huntingZoneId":80,"id":4,"raw":"0x110500004"}}`},
	"skillid32 npc type1":          {data: `{"s":{"reserved":0,"npc":true,"type":1,"huntingZoneId":80,"id":4,"raw":"0x44500004"}}`},
	"skillid32 reserved":           {data: `{"s":{"reserved":1,"npc":false,"type":1,"huntingZoneId":0,"id":4,"raw":"0x84000004"}}`},
	"angle -32768":                 {data: `{"a":-3.141592653589793}`},
	"angle 1":                      {data: `{"a":9.587379924285257e-05}`},
	"vec3fa 1.5":                   {data: `{"v":{"x":0.00014381069886427886,"y":0.00019174759848570515,"z":-0}}`},
	"customize":                    {data: `{"c":{"unk":1,"skinColor":2,"faceStyle":3,"faceDecal":4,"hairStyle":5,"hairColor":6,"voice":7,"tattoos":8}}`},
	"int64 min / uint64 max":       {data: `{"a":"-9223372036854775808","b":"18446744073709551615"}`},
}

func TestHostilePackets(t *testing.T) {
	var cases []struct{ Case, Def, Hex string }
	if err := json.Unmarshal(fixtureFile(t, "vectors/malformed.json"), &cases); err != nil {
		t.Fatal(err)
	}
	if len(cases) != len(hostile) {
		t.Errorf("%d cases, want %d", len(cases), len(hostile))
	}
	for _, c := range cases {
		t.Run(c.Case, func(t *testing.T) {
			want, ok := hostile[c.Case]
			if !ok {
				t.Fatal("nobody says what becomes of it")
			}
			packet := unhex(t, c.Hex)
			checkPacket(t, table(t, c.Def, protocol.Options{}), packet, want.data, want.err)
			if want.strict != "" {
				want.data, want.err = "", want.strict
			}
			checkPacket(t, table(t, c.Def, protocol.Options{Strict: true}), packet, want.data, want.err)
		})
	}
}

// checkPacket expects an error that contains errText, or the data and the same bytes again.
func checkPacket(t *testing.T, tab *protocol.Table, packet []byte, data, errText string) {
	t.Helper()
	if errText != "" {
		text, err := tab.AppendJSON(nil, packet)
		_, err2 := tab.Decode(packet)
		wantError(t, err, errText)
		wantError(t, err2, errText)
		if len(text) != 0 {
			t.Errorf("%s was written all the same", text)
		}
		return
	}
	text := roundTrip(t, tab, packet)
	var doc struct{ Data json.RawMessage }
	if err := json.Unmarshal(text, &doc); err != nil || string(doc.Data) != data {
		t.Errorf("got %s, %v, want data %s", text, err, data)
	}
}

// TestNamesGrow checks that a small packet does not grow without bounds, however many names
// the definition has for a byte.
func TestNamesGrow(t *testing.T) {
	const n = 1000
	packet := elements(n)
	var empty strings.Builder
	for i := range 9000 {
		fmt.Fprintf(&empty, "- object object_number_%d\n", i)
	}
	text := roundTrip(t, table(t, "array a\n- byte b\n"+empty.String(), protocol.Options{}), packet)
	if len(text) > 10*n {
		t.Errorf("%d bytes of JSON", len(text))
	}
	// Objects nested deeper than a text can have them.
	fields := []protocol.Field{{Name: "b", Type: protocol.TypeByte}}
	for range 25 {
		fields = []protocol.Field{{Name: strings.Repeat("o", 255), Type: protocol.TypeObject, Fields: fields}}
	}
	d := &protocol.Definition{Fields: []protocol.Field{{Name: "a", Type: protocol.TypeArray, Fields: fields}}}
	deep, err := protocol.Compile(d, protocol.Options{})
	if err != nil {
		t.Fatal(err)
	}
	checkPacket(t, deep, elements(12_000), "", "the names of the fields alone would be more than 8388608 bytes of JSON")
}

// elements returns a packet with one array, whose elements are a byte each.
func elements(n int) []byte {
	packet := []byte{0, 0, 1, 0, byte(n), byte(n >> 8), 8, 0}
	for i := range n {
		here, next := len(packet), len(packet)+5
		if i == n-1 {
			next = 0
		}
		packet = append(packet, byte(here), byte(here>>8), byte(next), byte(next>>8), 1)
	}
	packet[0], packet[1] = byte(len(packet)), byte(len(packet)>>8)
	return packet
}

// TestLongNames compiles a definition of half a megabyte that once took 5 GB, as each of
// its fields has all names above it.
func TestLongNames(t *testing.T) {
	for _, def := range []string{"byte %s\n", "array %s\n- byte b\n"} {
		table(t, fmt.Sprintf(def, strings.Repeat("A", 255)), protocol.Options{})
		_, err := protocol.Parse("TEST.1.def", fmt.Appendf(nil, def, strings.Repeat("A", 256)), protocol.ParseOptions{})
		wantError(t, err, "TEST.1.def:1: a name of 256 bytes: want at most 255")
	}
}

// TestHostileJSON checks that JSON takes no memory for what it could become, if it is small
// or makes no packet.
func TestHostileJSON(t *testing.T) {
	var def strings.Builder
	def.WriteString("array a\n")
	for i := range 9_000 {
		fmt.Fprintf(&def, "- byte b%d\n", i)
	}
	tab := table(t, def.String(), protocol.Options{})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := tab.ParseJSON([]byte(`{"data":{"a":[` + strings.Repeat("{},", 2000) + "{}]}}")); err != nil {
		t.Error(err)
	}
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > 50<<20 { // 720 MB, had each element room for all its fields
		t.Errorf("%d bytes were allocated", n)
	}
	for text, want := range map[string]string{
		`{"data":{"a":[` + strings.Repeat("{},", protocol.MaxPacket) + "{}]}}": "data.a: more than 65535 values",
		`{"data":` + strings.Repeat(" ", protocol.MaxJSON) + "{}}":             "16777227 bytes of JSON: want at most 16777216",
	} {
		_, err := tab.ParseJSON([]byte(text))
		wantError(t, err, want)
	}
}

// TestManyValues expects that all lists of a packet together have a bound, because a value takes
// far more memory than its text.
func TestManyValues(t *testing.T) {
	testneeds.Seconds(t)
	testneeds.Alone(t)
	tab := table(t, "array a\n- array<byte> b\n- byte[2] c\n", protocol.Options{})
	list := func(n int) string { return "[" + strings.Repeat("0,", n-1) + "0]" }
	_, err := tab.ParseJSON([]byte(`{"data":{"a":[{"b":` + list(40_000) + `},{"b":` + list(40_000) + `}]}}`))
	wantError(t, err, "more than 65535 values")
	_, err = tab.ParseJSON([]byte(`{"data":{"a":[{"c":` + list(3_000_000) + `}]}}`))
	wantError(t, err, "more than 2097120 values")
	if _, err := tab.ParseJSON([]byte(`{"data":{"a":[{"b":` + list(30_000) + `},{"b":` + list(30_000) + `}]}}`)); err != nil {
		t.Error(err)
	}
}
