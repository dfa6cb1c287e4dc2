package protocol_test

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"

	"lorefs/protocol"
	"lorefs/protocol/prototest"
)

// Every public definition is read, or refused for a reason that is known.
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
			// A pointer that is listed switches all off that are not.
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

// The definitions of tera-proxy have their pointers at their fields' places, and
// the rule, which has them first, gives the same bytes.
func TestDialects(t *testing.T) {
	dir, names := fixtureNames(t, "tera-proxy")
	n := 0
	for _, name := range names {
		d, err := fixtureDefinition(t, dir, name)
		if err != nil {
			continue // TestCorpora says which
		}
		var packets [2][]byte
		for i, inline := range []bool{false, true} {
			tab, err := protocol.Compile(d, protocol.Options{Inline: inline})
			if err != nil {
				t.Fatal(err)
			}
			r := rand.New(rand.NewPCG(1, 2))
			if packets[i], err = tab.Encode(&protocol.Message{Data: prototest.Data(r, d.Fields, 0)}); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			roundTrip(t, tab, packets[i])
		}
		if !bytes.Equal(packets[0], packets[1]) {
			t.Errorf("%s: %x by the rule, %x inline", name, packets[0], packets[1])
		}
		n++
	}
	if n != 1170 {
		t.Errorf("%d definitions, want 1170", n)
	}
}
