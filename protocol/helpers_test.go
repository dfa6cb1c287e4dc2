package protocol_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lorefs/internal/testneeds"
	"lorefs/protocol"
)

// fixtureDefinition parses a definition of the fixtures.
func fixtureDefinition(t testing.TB, dir, name string) (*protocol.Definition, error) {
	t.Helper()
	src, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return protocol.Parse(name, src, protocol.ParseOptions{Include: func(file string) ([]byte, error) {
		return os.ReadFile(filepath.Join(dir, file))
	}})
}

// fixtureNames lists the definitions of a corpus.
func fixtureNames(t testing.TB, corpus string) (dir string, names []string) {
	t.Helper()
	dir = testneeds.Fixture(t, "packets/"+corpus)
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".def") {
			names = append(names, e.Name())
		}
	}
	return dir, names
}

func fixtureFile(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(testneeds.Fixture(t, "packets/"+name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// table compiles a definition's text.
func table(t testing.TB, def string, opts protocol.Options) *protocol.Table {
	t.Helper()
	d, err := protocol.Parse("TEST.1.def", []byte(def), protocol.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	tab, err := protocol.Compile(d, opts)
	if err != nil {
		t.Fatal(err)
	}
	return tab
}

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// roundTrip checks that a packet comes back from its JSON and from its values, and returns
// the JSON.
func roundTrip(t testing.TB, tab *protocol.Table, packet []byte) []byte {
	t.Helper()
	text, err := tab.AppendJSON(nil, packet)
	if err != nil {
		t.Errorf("%s: %x: %v", tab.Name(), packet, err)
		return nil
	}
	m, err := tab.ParseJSON(text)
	if err != nil {
		t.Errorf("%s: %s: %v", tab.Name(), text, err)
		return nil
	}
	for what, m := range map[string]*protocol.Message{"JSON": m, "values": decode(t, tab, packet)} {
		got, err := tab.Encode(m)
		if err != nil || !bytes.Equal(got, packet) {
			t.Errorf("%s: from %s %s\n got %x, %v\nwant %x", tab.Name(), what, text, got, err, packet)
		}
	}
	return text
}

func decode(t testing.TB, tab *protocol.Table, packet []byte) *protocol.Message {
	t.Helper()
	m, err := tab.Decode(packet)
	if err != nil {
		t.Fatalf("%s: %x: %v", tab.Name(), packet, err)
	}
	return m
}

// sameValue compares a value of our JSON with one of the reference's, which has bytes as
// {"$hex": …}, odd numbers as {"$num": …} and only the last of two fields of one name. It
// returns the path of the first difference.
func sameValue(got, want any) string {
	switch want := want.(type) {
	case map[string]any:
		if digits, ok := want["$hex"]; ok {
			return differ(got == digits)
		}
		if num, ok := want["$num"]; ok {
			f, isNumber := got.(float64)
			return differ(got == num || isNumber && num == "-0" && f == 0 && math.Signbit(f))
		}
		object, ok := got.(map[string]any)
		if !ok {
			return " is no object"
		}
		for name, w := range want {
			g := object[name]
			if twice, ok := object[name+"#2"]; ok {
				g = twice
			}
			if d := sameValue(g, w); d != "" {
				return "." + name + d
			}
		}
		return ""
	case []any:
		list, ok := got.([]any)
		if !ok || len(list) != len(want) {
			return " has another length"
		}
		for i, w := range want {
			if d := sameValue(list[i], w); d != "" {
				return "[]" + d
			}
		}
		return ""
	case float64:
		g, ok := got.(float64)
		// We print the shortest text of 32 bits, the reference that of 64 bits.
		return differ(ok && (g == want || float32(g) == float32(want)))
	}
	return differ(got == want)
}

func differ(same bool) string {
	if same {
		return ""
	}
	return " differs"
}

// data returns the "data" of a packet's JSON.
func data(t testing.TB, text []byte) any {
	t.Helper()
	var doc struct{ Data any }
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return doc.Data
}

func wantError(t testing.TB, err error, text string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), text) {
		t.Errorf("got the error %v, want one with %q", err, text)
	}
}
