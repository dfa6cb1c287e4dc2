package packettree_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"lorefs/internal/testneeds"
	"lorefs/nodes/nodetest"
	"lorefs/protocol"
)

// TestToolboxSession shows the packets of tera-toolbox, one of each definition, as a
// session with names.
func TestToolboxSession(t *testing.T) {
	vectors, err := os.ReadFile(testneeds.Fixture(t, "packets/vectors/tera-toolbox.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	var log strings.Builder
	n := 0
	for line := range bytes.Lines(vectors) {
		var v struct{ Def, Hex string }
		if err := json.Unmarshal(line, &v); err != nil {
			t.Fatal(err)
		}
		// The codes are made up, and some occur twice.
		fmt.Fprintf(&log, "%s %s%02x%02x%s\n", strings.TrimSuffix(v.Def, ".def"), v.Hex[:4], byte(n), n>>8, v.Hex[8:])
		n++
	}
	lib, err := protocol.OpenLibrary(os.DirFS(testneeds.Fixture(t, "packets/tera-toolbox")), protocol.LibraryOptions{})
	if err != nil {
		t.Fatal(err)
	}
	tree := newTree(t, openLog(t, []byte(log.String())), lib)
	var sums struct{ Packets, Decoded, Failed, Unknown int }
	if err := json.Unmarshal([]byte(read(t, tree, "summary.json")), &sums); err != nil {
		t.Fatal(err)
	}
	if n != 836 || sums.Packets != n || sums.Decoded != n {
		t.Errorf("%+v of %d", sums, n)
	}
	nodetest.Run(t, tree)
}

// TestRealDefinitions checks that everything in a folder of definitions is shown.
func TestRealDefinitions(t *testing.T) {
	for corpus, wrong := range map[string]int{"tera-toolbox": 0, "tera-proxy": 2, "meishuu-2017-09": 1} {
		lib, err := protocol.OpenLibrary(os.DirFS(testneeds.Fixture(t, "packets/"+corpus)), protocol.LibraryOptions{})
		if err != nil {
			t.Fatal(err)
		}
		tree := newTree(t, nil, lib)
		n, errs := 0, 0
		for _, name := range list(t, tree, "definitions") {
			text := read(t, tree, "definitions/"+name)
			if !json.Valid([]byte(text)) {
				t.Errorf("%s is no JSON: %s", name, text)
			}
			if strings.HasPrefix(text, `{"file":`) {
				errs++
			}
			n++
		}
		if n < 592 || errs != wrong {
			t.Errorf("%s: %d definitions, %d wrong, want %d", corpus, n, errs, wrong)
		}
	}
}
