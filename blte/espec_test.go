package blte_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"lorefs/blte"
)

func TestSpecs(t *testing.T) {
	for _, text := range []string{
		"n", "z", "z:9", "z:{9}", "z:{9,mpq}", "z:{9,15}", "z:{9,mpq,15}", "z:{mpq}", "z:{mpq,15}",
		"c", "c:{3}", "g", "g:{6}", "b:z", "b:256K*=z", "b:{256K*=z}", "b:{22=n,95=z,12896=n,*=z}",
		"b:{64=n,256K*=z}", "b:{2K=z,512K*103=e:{4366C29B8DEB645F,2277C4F64A1D302E,n},1M*0=z}",
		"e:{0123456789abcdef,fedcba98,b:{16K*=z:{6,mpq}}}", "b:{16K*=c:{5},*2=g}", "b:{0=n}",
	} {
		s, err := blte.ParseSpec(text)
		if err != nil || s.String() != text {
			t.Errorf("%s: %v, %v", text, s, err)
		}
	}
}

func TestSpecParts(t *testing.T) {
	s, err := blte.ParseSpec("b:{2K=z:{6,mpq},3M*=e:{4366C29B8DEB645F,2277C4F64A1D302E,n},*5=e:{0000000000000001,fedcba98,n},77*8=n}")
	if err != nil {
		t.Fatal(err)
	}
	b := s.Blocks
	if b[0].Bytes() != 2048 || b[0].Many || b[1].Bytes() != 3<<20 || !b[1].Many || b[1].Count != -1 ||
		b[2].Bytes() != -1 || b[2].Count != 5 || b[3].Bytes() != 77 || b[3].Count != 8 {
		t.Errorf("blocks %+v", b)
	}
	if !slices.Equal(b[0].Spec.Args, []string{"6", "mpq"}) {
		t.Errorf("arguments %q", b[0].Spec.Args)
	}
	want := []blte.KeyName{0x5F64EB8D9BC26643, 0x0100000000000000}
	if got := slices.Collect(s.KeyNames()); !slices.Equal(got, want) {
		t.Errorf("keys %v, want %v", got, want)
	}
	for range s.KeyNames() {
		break
	}
}

func TestSpecErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                               "blte: ESpec, byte 0: expected one of n, z, b, e, c, g",
		"x":                              "blte: ESpec, byte 0: expected one of n, z, b, e, c, g",
		"nz":                             "blte: ESpec, byte 1: the text goes on behind the spec",
		"z:":                             "blte: ESpec, byte 2: expected an argument",
		"z:{9":                           "blte: ESpec, byte 4: expected '}'",
		"b":                              "blte: ESpec, byte 1: expected ':'",
		"b:{}":                           "blte: ESpec, byte 3: expected one of n, z, b, e, c, g",
		"b:{12z}":                        "blte: ESpec, byte 5: expected '='",
		"b:{012=z}":                      "blte: ESpec, byte 3: a number with leading zeros",
		"b:{9999999999999=z}":            "blte: ESpec, byte 15: a number of more than 1099511627776",
		"e:z":                            "blte: ESpec, byte 1: expected \":{\"",
		"e:{12,34,z}":                    "blte: ESpec, byte 5: expected a key name of 16 hex digits",
		"e:{0123456789abcdef,34,z}":      "blte: ESpec, byte 22: expected an IV of 8 or 16 hex digits",
		"e:{0123456789abcdef,01234567,z": "blte: ESpec, byte 30: expected '}'",
		strings.Repeat("b:", 10) + "z":   "blte: ESpec, byte 18: nested deeper than 8 times",
	} {
		_, err := blte.ParseSpec(text)
		if _, ok := errors.AsType[*blte.SpecError](err); !ok || err.Error() != want {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// TestRealSpecs reads every string of real encoding files that is an ESpec.
func TestRealSpecs(t *testing.T) {
	for file, want := range map[string]int{"representative_especs.json": 100, "wow_classic_era_especs.json": 56} {
		var v any
		if err := json.Unmarshal(fixture(t, "cascette-rs/espec/"+file), &v); err != nil {
			t.Fatal(err)
		}
		n := 0
		eachSpec(v, func(text string) {
			n++
			if s, err := blte.ParseSpec(text); err != nil || s.String() != text {
				t.Errorf("%s: %v, %v", text, s, err)
			}
		})
		if n < want {
			t.Errorf("%s: %d specs, want %d at least", file, n, want)
		}
	}
}

// eachSpec walks decoded JSON; everything in a list is an ESpec.
func eachSpec(v any, found func(string)) {
	switch v := v.(type) {
	case map[string]any:
		for _, e := range v {
			eachSpec(e, found)
		}
	case []any:
		for _, e := range v {
			if s, ok := e.(string); ok {
				found(s)
			}
		}
	}
}

func FuzzSpec(f *testing.F) {
	f.Add("b:{2K=z,512K*103=e:{4366C29B8DEB645F,2277C4F64A1D302E,n},1M*0=z:{6,mpq},*=c:{5}}")
	f.Add("b:256K*=z")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := blte.ParseSpec(text)
		if err != nil {
			return
		}
		if s.String() != text {
			t.Fatalf("%q is written as %q", text, s)
		}
		for range s.KeyNames() {
		}
	})
}
