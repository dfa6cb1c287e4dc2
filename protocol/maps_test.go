package protocol_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"lorefs/protocol"
)

func TestFixtureMaps(t *testing.T) {
	for _, tt := range []struct {
		file, kind, revision string
		names                int
		name                 string
		number               uint32
	}{
		{"maps/alkahest/protocol.353338.map", "protocol", "353338", 0, "C_CHECK_VERSION", 19900},
		{"maps/meishuu/protocol.311383.map", "protocol", "311383", 0, "S_CHECK_VERSION", 19901},
		{"maps/meishuu/protocol.313623.map", "protocol", "313623", 0, "I_TELEPORT", 0},
		{"maps/meishuu/sysmsg.313623.map", "sysmsg", "313623", 0, "SMT_UNDEFINED", 0},
		{"maps/tera-proxy/protocol.343506.map", "protocol", "343506", 0, "C_ACCEPT_CONTRACT", 50196},
		{"maps/tera-proxy/protocol.373824.map", "protocol", "373824", 1900, "CU_CHANGE_EP_PAGE", 30083},
		{"maps/tera-proxy/sysmsg.27.map", "sysmsg", "27", 0, "SMT_LOBBY_CANNOT_CONNECT", 1},
		{"maps/tera-proxy/sysmsg.98.map", "sysmsg", "98", 0, "SMT_LOBBY_CHARACTER_NAME_OK", 11},
		{"maps/tera-toolbox/maps.387396.json", "maps", "387396", 416, "C_ADD_FRIEND", 46213},
		{"maps/tera-toolbox/maps.387463.json", "maps", "387463", 416, "C_CHAT", 55478},
	} {
		m, err := protocol.ParseMap(tt.file[len(tt.file)-len(baseName(tt.file)):], fixtureFile(t, tt.file))
		if err != nil {
			t.Fatal(err)
		}
		n, _ := m.Number(tt.name)
		name, _ := m.Name(tt.number)
		if m.Kind != tt.kind || m.Revision != tt.revision || n != tt.number || name != tt.name || len(m.Warnings) > 0 {
			t.Errorf("%s: %s %s, %s is %d, %d is %s, %v", tt.file, m.Kind, m.Revision, tt.name, n, tt.number, name, m.Warnings)
		}
		if m.Len() != tt.names && tt.names > 0 || m.Len() < 400 {
			t.Errorf("%s has %d names, want %d", tt.file, m.Len(), tt.names)
		}
		again, err := protocol.ParseMap(m.File, m.AppendJSON(nil))
		if err != nil || fmt.Sprint(again) != fmt.Sprint(m) {
			t.Errorf("%s: not the same again: %v", tt.file, err)
		}
	}
}

func baseName(path string) string {
	for i := len(path) - 1; i >= 0; i-- {
		if path[i] == '/' {
			return path[i+1:]
		}
	}
	return path
}

func TestMaps(t *testing.T) {
	m, err := protocol.ParseMap("protocol.map", []byte("\ufeffS_A 1 # x\r\nS_B=2\n\nS_C\t=\t1\nS_A 5\nS_A 1\n"))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(m.AppendJSON(nil)), "{\n \"S_A\": [1,5],\n \"S_B\": 2,\n \"S_C\": 1\n}\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	for number, want := range map[uint32]string{1: "S_A", 2: "S_B", 5: "S_A"} {
		if name, _ := m.Name(number); name != want {
			t.Errorf("%d is %q, want %s", number, name, want)
		}
	}
	if n, _ := m.Number("S_A"); n != 1 || m.Len() != 3 || m.Revision != "" || len(m.Wrong) > 0 {
		t.Errorf("S_A is written as %d, of %d names, revision %q, %v", n, m.Len(), m.Revision, m.Wrong)
	}
	const want = "[protocol.map:4: S_C has the number 1, as S_A has protocol.map:5: S_A has the number 1, too" +
		" protocol.map:6: S_A has the number 1 already]"
	if got := fmt.Sprint(m.Warnings); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	for text, want := range map[string]string{
		"S_A":            `x.map:1: want NAME NUMBER or NAME = NUMBER, got "S_A"`,
		"\nS_A 1 2":      "x.map:2: want NAME NUMBER",
		"S_A -1":         `want a name and a number below 2^32, got "S_A" and "-1"`,
		"S/A 1":          `got "S/A" and "1"`,
		"S_A 4294967296": "below 2^32",
		`{"S_A": 1`:      "no JSON",
		`{"S_A": "1"}`:   "want a name and a number",
	} {
		_, err := protocol.ParseMap("x.map", []byte(text))
		wantError(t, err, want)
	}
}

// TestMapsCodes checks that a map of packets has no code that a packet can't have.
func TestMapsCodes(t *testing.T) {
	for file, wrong := range map[string]int{"protocol.1.map": 1, "maps.json": 1, "sysmsg.1.map": 0} {
		text := "S_A 65535\nS_B 65536\n"
		if file == "maps.json" {
			text = `{"S_A": 65535, "S_B": 65536}`
		}
		m, err := protocol.ParseMap(file, []byte(text))
		if err != nil || len(m.Wrong) != wrong || m.Len() != 2-wrong {
			t.Errorf("%s: %d names, %v, %v", file, m.Len(), m.Wrong, err)
		}
		if wrong > 0 && !strings.Contains(m.Wrong[0].Text, "below 2^16") {
			t.Errorf("%s: %v", file, m.Wrong)
		}
	}
}

// TestMapsWithWrongLines checks that a bad line is reported and costs no other line. Seven
// maps in public histories have such lines, some left by a merge.
func TestMapsWithWrongLines(t *testing.T) {
	const merged = "S_A 1\nS_EMPTY \n<<<<<<< HEAD\nS_B 2\n=======\nS_B 3\n>>>>>>> other\nS_C = x\nS_D 4\n"
	m, err := protocol.ParseMap("protocol.7.map", []byte(merged))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(m.AppendJSON(nil)), "{\n \"S_A\": 1,\n \"S_B\": [2,3],\n \"S_D\": 4\n}\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	var lines []int
	for _, d := range m.Wrong {
		if d.File != "protocol.7.map" || d.Text == "" {
			t.Errorf("%+v", d)
		}
		lines = append(lines, d.Line)
	}
	if want := []int{2, 3, 5, 7, 8}; !slices.Equal(lines, want) {
		t.Errorf("lines %v are wrong, want %v", lines, want)
	}
	again, err := protocol.ParseMap("maps.7.json", m.AppendJSON(nil))
	if err != nil || string(again.AppendJSON(nil)) != string(m.AppendJSON(nil)) {
		t.Errorf("not the same again: %v", err)
	}
	// Not all of many bad lines are listed; the last entry says so.
	m, err = protocol.ParseMap("x.map", []byte(strings.Repeat("?\n", 50)+"S_A 1\n"))
	if err != nil || m.Len() != 1 || len(m.Wrong) != 21 || !strings.Contains(m.Wrong[20].Text, "not listed") {
		t.Errorf("%v, %v", m, err)
	}
	// The same for JSON, as far as it can be parsed.
	m, err = protocol.ParseMap("maps.7.json", []byte(`{"S_A": 1, "S_B": "x", "S_A": 2, "S_C": [3, 4, true]}`))
	if err != nil || string(m.AppendJSON(nil)) != "{\n \"S_A\": [1,2],\n \"S_C\": [3,4]\n}\n" || len(m.Wrong) != 2 {
		t.Errorf("%s, %v", m.AppendJSON(nil), err)
	}
}

func TestLists(t *testing.T) {
	revisions, err := protocol.ParseRevisions("revisions.json", fixtureFile(t, "tera-proxy/revisions.json"))
	if err != nil {
		t.Fatal(err)
	}
	if r := revisions["373824"]; r.Region != "eu" || r.Patch != 9802 || len(revisions) != 5 {
		t.Errorf("got %+v", revisions)
	}
	deprecated, err := protocol.ParseDeprecations("deprecated.json", fixtureFile(t, "tera-toolbox/deprecated.json"))
	if err != nil {
		t.Fatal(err)
	}
	if len(deprecated) != 8 || !deprecated.Allows("S_ITEMLIST", 6, 11400) {
		t.Errorf("got %+v", deprecated)
	}
	padded, err := protocol.ParseNames("98.json", fixtureFile(t, "tera-proxy/integrity/98.json"))
	if err != nil {
		t.Fatal(err)
	}
	if !padded["C_ACCEPT_CONTRACT"] || padded["C_CHAT"] {
		t.Errorf("got %+v", padded)
	}
	_, err = protocol.ParseRevisions("r.json", []byte(`{"1":"eu-x"}`))
	wantError(t, err, `r.json:1: 1: protocol: patch "x"`)
	_, err = protocol.ParseNames("n.json", []byte(`{}`))
	wantError(t, err, "n.json:1: want an array of packet names")
	r, err := protocol.ParseRevisions("r.json", []byte("\ufeff"+`{"1":"27.07/28"}`))
	if err != nil || r["1"] != (protocol.Revision{Patch: 2707, Sysmsg: "28"}) {
		t.Errorf("got %+v, %v", r, err)
	}
}

func TestPatches(t *testing.T) {
	for text, want := range map[string]protocol.Patch{"86": 8600, "86.03": 8603, "86.3": 8603, "100.02": 10002, "0": 0} {
		if p, err := protocol.ParsePatch(text); p != want || err != nil {
			t.Errorf("%s is %d, %v, want %d", text, p, err, want)
		}
	}
	for _, text := range []string{"", "x", "-1", "1.2.3", "1.100", "1.", "9999999"} {
		if p, err := protocol.ParsePatch(text); err == nil {
			t.Errorf("%q is %d", text, p)
		}
	}
	r := protocol.PatchRange{Min: 8600, Before: 11400}
	for p, want := range map[protocol.Patch]bool{8599: false, 8600: true, 11399: true, 11400: false, 0: false} {
		if r.Contains(p) != want {
			t.Errorf("%v: %v", p, !want)
		}
	}
}
