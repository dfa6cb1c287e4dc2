package encoding_test

import (
	"bytes"
	"errors"
	"testing"

	"lorefs/blte"
	"lorefs/casc/casctest"
	"lorefs/casc/encoding"
	"lorefs/casc/internal/format"
	"lorefs/casc/keys"
)

func openEncoding(t testing.TB, data []byte) *encoding.File {
	t.Helper()
	e, err := encoding.New(t.Context(), bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// TestRealEncodings reads the beginnings of real encoding files, cut to two pages of each
// table.
func TestRealEncodings(t *testing.T) {
	for file, specs := range map[string]int{"wow_classic_era_truncated.bin": 56, "wow_classic_truncated.bin": 1169} {
		data := casctest.Fixture(t, "cascette-rs/encoding/"+file)
		e := openEncoding(t, data)
		if e.Specs() != specs || e.OwnSpec != "" { // it is cut off
			t.Errorf("%s: %d specs, own %q", file, e.Specs(), e.OwnSpec)
		}
		for i := range e.Specs() {
			if _, err := blte.ParseSpec(e.Spec(i)); err != nil {
				t.Errorf("%s: spec %d: %v", file, i, err)
			}
		}
		contents, last := 0, keys.Key{}
		for c, err := range e.Contents(t.Context()) {
			if err != nil || c.CKey.Compare(last) <= 0 || len(c.EKeys) == 0 {
				t.Fatalf("%s: %+v, %v", file, c, err)
			}
			last = c.CKey
			contents++
			if got, err := e.Find(t.Context(), c.CKey); err != nil || got.CKey != c.CKey || got.Size != c.Size {
				t.Fatalf("%s: finding %v: %+v, %v", file, c.CKey, got, err)
			}
		}
		encoded := 0
		last = keys.Key{}
		for c, err := range e.Encoded(t.Context()) {
			if err != nil || c.EKey.Compare(last) <= 0 || c.Spec == "" {
				t.Fatalf("%s: %+v, %v", file, c, err)
			}
			last = c.EKey
			encoded++
			for _, n := range []int{9, 16} {
				if got, err := e.FindEncoded(t.Context(), c.EKey[:n]); err != nil || got != c {
					t.Fatalf("%s: finding %x: %+v, %v", file, c.EKey[:n], got, err)
				}
			}
		}
		if encoded != 2*163 || contents < 150 {
			t.Errorf("%s: %d content keys, %d encoding keys", file, contents, encoded)
		}
		for _, k := range []keys.Key{{}, {0: 0xff, 1: 0xff}} {
			if _, err := e.Find(t.Context(), k); !errors.Is(err, format.ErrNotFound) {
				t.Errorf("%s: %v: %v", file, k, err)
			}
			if _, err := e.FindEncoded(t.Context(), k[:]); !errors.Is(err, format.ErrNotFound) {
				t.Errorf("%s: %v: %v", file, k, err)
			}
		}
	}
}
