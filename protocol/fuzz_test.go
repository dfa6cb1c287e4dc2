package protocol_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"lorefs/protocol"
	"lorefs/protocol/prototest"
)

// growth bounds how many bytes of JSON a byte of a packet may become: a field of one byte
// has a name, and a long one here.
const growth = 200

// checkAny expects that a packet is refused, or comes back from its JSON and from its
// values, and that nothing grows.
func checkAny(t *testing.T, tab *protocol.Table, packet []byte) (decoded bool) {
	text, err := tab.AppendJSON(nil, packet)
	if err != nil {
		if _, err2 := tab.Decode(packet); err2 == nil {
			t.Errorf("%x is no JSON, but values: %v", packet, err)
		}
		return false
	}
	if len(text) > 1000+growth*len(packet) {
		t.Errorf("%d bytes became %d", len(packet), len(text))
	}
	roundTrip(t, tab, packet)
	return true
}

func FuzzDefinition(f *testing.F) {
	for _, text := range []string{
		"# majorPatchVersion >= 86 && majorPatchVersion < 114\nref a\n\ufeffarray a\n- - int32 x\n",
		"count a\noffset a\narray a\n- offset s\n- string s\r\n",
		"object o\n- string s\nint32 b=7\nobject o\n- bytes b ^86-114 # x\n",
		"array<array<int32[2]>>[interleaved] a\narray[interleaved] b\nskillid32[3][2] c\n",
		"@include X.1.def\n",
	} {
		f.Add(text, []byte("\x10\x00\x01\x00\x01\x00\x08\x00\x08\x00\x00\x00\x00\x00\x00\x00"))
	}
	f.Fuzz(func(t *testing.T, text string, packet []byte) {
		include := func(string) ([]byte, error) { return []byte(text), nil }
		d, err := protocol.Parse("TEST.1.def", []byte(text), protocol.ParseOptions{Include: include})
		if err != nil {
			return
		}
		canonical, err := d.AppendText(nil)
		if err != nil {
			t.Fatal(err)
		}
		again, err := protocol.Parse("TEST.1.def", canonical, protocol.ParseOptions{})
		if err != nil {
			t.Fatalf("%s: %v", canonical, err)
		}
		if twice, _ := again.AppendText(nil); !bytes.Equal(twice, canonical) {
			t.Errorf("printed %q, and then %q", canonical, twice)
		}
		for _, opts := range []protocol.Options{{}, {Inline: true, Patch: 7000, EmptyBytesNull: true}, {Padded: true, Strict: true}} {
			tab, err := protocol.Compile(d, opts)
			if err != nil {
				continue
			}
			checkAny(t, tab, packet)
		}
	})
}

func FuzzCodec(f *testing.F) {
	for seed := range uint64(20) {
		f.Add(seed, []byte(nil))
		f.Add(seed, []byte{1, 8, 2, 8, 5, 4})
	}
	f.Fuzz(func(t *testing.T, seed uint64, changes []byte) {
		r := rand.New(rand.NewPCG(seed, 1))
		def := prototest.Definition(r, 1+r.IntN(25))
		d, err := protocol.Parse("TEST.1.def", []byte(def), protocol.ParseOptions{})
		if err != nil {
			t.Fatalf("%s: %v", def, err)
		}
		tab, err := protocol.Compile(d, protocol.Options{Padded: seed%5 == 0, EmptyBytesNull: seed%3 == 0, Inline: seed%4 == 0})
		if err != nil {
			t.Fatalf("%s: %v", def, err)
		}
		want := &protocol.Message{Code: uint16(seed), Data: prototest.Data(r, d.Fields, 0)}
		packet, err := tab.Encode(want)
		if err != nil {
			t.Fatalf("%s: %v", def, err)
		}
		if got := decode(t, tab, packet); !reflect.DeepEqual(got, want) {
			t.Errorf("%s\ngot  %+v\nwant %+v", def, got, want)
		}
		if !checkAny(t, tab, packet) {
			t.Errorf("%s: %x is refused", def, packet)
		}
		// An edited packet is refused or comes back as it is.
		for i := 0; i+1 < len(changes); i += 2 {
			packet[int(changes[i])%len(packet)] = changes[i+1]
		}
		checkAny(t, tab, packet)
		checkAny(t, tab, packet[:len(packet)-len(changes)%len(packet)])
	})
}

func FuzzJSON(f *testing.F) {
	const def = "string s\narray<vec3fa> a\nbytes b\narray o\n- skillid k\nfloat f\ndouble d=1.5\nangle w\nbool[2] t\ncustomize c\n"
	for _, text := range []string{
		`{"code":1,"data":{"s":"\ud800\u0041\n","a":[{"x":1,"y":"NaN","z":-0}],"b":"00ff","o":[{"k":"0x10"},{"k":{"id":5,"npc":true}},{"k":{"raw":"6","id":6}}]}}`,
		`{"data":{"f":"NaN:7fc00001","d":"-Infinity","w":3.14,"t":[true,2],"c":{"voice":255}},"length":3}`,
		`{"layout":{"size":70,"at":[66],"gaps":[{"at":68,"hex":"01"}]}}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		tab := table(t, def, protocol.Options{})
		m, err := tab.ParseJSON(text)
		if err != nil {
			return
		}
		packet, err := tab.Encode(m)
		if err != nil {
			return
		}
		if !checkAny(t, tab, packet) {
			t.Errorf("%s gave %x, which is refused", text, packet)
		}
	})
}

func FuzzMap(f *testing.F) {
	f.Add([]byte("S_CHAT = 5\r\nC_CHAT 6 # x\n"))
	f.Add([]byte("S_CHAT 5\nS_CHAT 6\n<<<<<<<\nC_CHAT 5\n"))
	f.Add([]byte(`{"S_CHAT": 5, "C_CHAT": [6, 7]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := protocol.ParseMap("protocol.1.map", text)
		if err != nil {
			return
		}
		again, err := protocol.ParseMap("protocol.1.map", m.AppendJSON(nil))
		if err != nil || len(again.Wrong) > 0 {
			t.Fatalf("%s: %v", m.AppendJSON(nil), err)
		}
		if got, want := entries(again), entries(m); !slices.Equal(got, want) {
			t.Errorf("got %s, want %s", got, want)
		}
	})
}

func entries(m *protocol.Map) (list []string) {
	for name, n := range m.All() {
		list = append(list, fmt.Sprint(name, " ", n))
	}
	return list
}
