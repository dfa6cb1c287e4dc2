package protocol_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"lorefs/internal/testneeds"
	"lorefs/protocol"
	"lorefs/protocol/prototest"
)

// TestCorpora reads every public definition. Those that are refused are listed.
func TestCorpora(t *testing.T) {
	for _, tt := range []struct {
		corpus string
		files  int
		refuse map[string]string
	}{
		{"tera-toolbox", 836, nil},
		{"tera-proxy", 1172, map[string]string{
			"C_START_CLIMBING.1.def":                 `:1: no such type: "uint"`,
			"S_TRADE_BROKER_HISTORY_ITEM_LIST.2.def": `:18: no such type: "uint8"`,
		}},
		{"meishuu-2017-09", 592, map[string]string{
			"C_START_CLIMBING.1.def": `:1: no such type: "uint"`,
			// One listed pointer switches off all implied ones.
			"S_PARTY_MEMBER_INFO.1.def": "lists its pointers, but none for string info",
			"S_PARTY_MEMBER_INFO.2.def": "lists its pointers, but none for string info",
			"S_REPLY_GUILD_LIST.1.def":  "lists its pointers, but none for string unk",
		}},
	} {
		t.Run(tt.corpus, func(t *testing.T) {
			dir, names := fixtureNames(t, tt.corpus)
			if len(names) != tt.files {
				t.Errorf("%d definitions, want %d", len(names), tt.files)
			}
			for _, name := range names {
				err := compileFixture(t, dir, name)
				want, refused := tt.refuse[name]
				if refused != (err != nil) || refused && !strings.Contains(err.Error(), want) {
					t.Errorf("%s: %v, want an error with %q", name, err, want)
				}
			}
		})
	}
}

func compileFixture(t *testing.T, dir, name string) error {
	d, err := fixtureDefinition(t, dir, name)
	if err != nil {
		return err
	}
	for _, opts := range []protocol.Options{{}, {Patch: 8603}, {Inline: true, Patch: 7300}} {
		if _, err := protocol.Compile(d, opts); err != nil {
			return err
		}
	}
	return nil
}

// withRefs returns the text of a definition with a line for each pointer, so that its
// dialect is certain: at its field's line if inline is set, else before the others of the
// scope.
func withRefs(fields []protocol.Field, inline bool) []protocol.Field {
	var refs, list []protocol.Field
	var add func(fields []protocol.Field, into *[]protocol.Field, path []string)
	ref := func(f *protocol.Field, path []string) protocol.Field {
		r := protocol.Field{Name: f.Name, Type: protocol.TypeRef, Patches: f.Patches}
		for _, name := range slices.Backward(path) {
			r = protocol.Field{Name: name, Type: protocol.TypeObject, Fields: []protocol.Field{r}}
		}
		return r
	}
	add = func(fields []protocol.Field, into *[]protocol.Field, path []string) {
		for _, f := range fields {
			switch f.Type {
			case protocol.TypeObject:
				var below []protocol.Field
				add(f.Fields, &below, append(slices.Clone(path), f.Name))
				f.Fields = below
			case protocol.TypeString, protocol.TypeBytes, protocol.TypeArray:
				if f.Elem == nil {
					f.Fields = withRefs(f.Fields, inline)
				}
				if inline {
					*into = append(*into, ref(&f, nil))
				} else {
					refs = append(refs, ref(&f, path))
				}
			}
			*into = append(*into, f)
		}
	}
	add(fields, &list, nil)
	return append(refs, list...)
}

// TestDialects checks that the dialect of a definition is recognized: packets are as if the
// pointers were listed where their fields stand in those of tera-proxy, and first in those
// of tera-toolbox and the older ones. Guesses must be reported.
func TestDialects(t *testing.T) {
	for _, tt := range []struct {
		corpus  string
		inline  bool
		files   int
		guessed []string // alone; in their folder, those that are not of its dialect
	}{
		{"tera-proxy", true, 1170, nil},
		{"tera-toolbox", false, 836, []string{"I_INPUT_COMMAND.1.def:3"}},
		{"meishuu-2017-09", false, 588, []string{"S_SPAWN_NPC.2.def:12"}},
	} {
		t.Run(tt.corpus, func(t *testing.T) {
			lib, err := protocol.OpenLibrary(os.DirFS(testneeds.Fixture(t, "packets/"+tt.corpus)), protocol.LibraryOptions{})
			if err != nil {
				t.Fatal(err)
			}
			var told []string
			n := 0
			for i, file := range lib.Definitions() {
				tab, err := lib.Table(i, 0)
				if err != nil {
					continue // TestCorpora has the reason
				}
				n++
				if len(tab.Guessed()) > 0 {
					told = append(told, fmt.Sprintf("%s:%d", file.Path, tab.Guessed()[0].Line))
					continue
				}
				d, err := lib.Definition(i)
				if err != nil {
					t.Fatal(err)
				}
				sameAsListed(t, tab, d, tt.inline)
			}
			if n != tt.files || !slices.Equal(told, tt.guessed) {
				t.Errorf("%d definitions, and guessed are %q; want %d and %q", n, told, tt.files, tt.guessed)
			}
		})
	}
}

// sameAsListed makes a packet, and compares it with the packet of the definition with
// listed pointers.
func sameAsListed(t *testing.T, tab *protocol.Table, d *protocol.Definition, inline bool) {
	t.Helper()
	if slices.ContainsFunc(d.Fields, func(f protocol.Field) bool { return isListed(&f) }) {
		return
	}
	listed := *d
	listed.Fields = withRefs(d.Fields, inline)
	byList, err := protocol.Compile(&listed, protocol.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var packets [2][]byte
	for i, tab := range []*protocol.Table{tab, byList} {
		r := rand.New(rand.NewPCG(1, 2))
		if packets[i], err = tab.Encode(&protocol.Message{Data: prototest.Data(r, d.Fields, 0)}); err != nil {
			t.Fatalf("%s: %v", d.Name, err)
		}
		roundTrip(t, tab, packets[i])
	}
	if !bytes.Equal(packets[0], packets[1]) {
		t.Errorf("%s: %x, and %x with pointers listed", d.Name, packets[0], packets[1])
	}
}

func isListed(f *protocol.Field) bool {
	return f.Type == protocol.TypeRef || f.Type == protocol.TypeCount || f.Type == protocol.TypeOffset ||
		slices.ContainsFunc(f.Fields, func(f protocol.Field) bool { return isListed(&f) })
}
