package main

import (
	"testing"

	"lorefs/casc"
)

// TestCASCKeyFlags checks that --build and --cdn both count, also if they are the same key.
func TestCASCKeyFlags(t *testing.T) {
	for _, c := range []struct{ build, cdn casc.Key }{{casc.Key{1}, casc.Key{1}}, {casc.Key{1}, casc.Key{2}}, {casc.Key{1}, casc.Key{}}, {casc.Key{}, casc.Key{2}}} {
		f := cascFlags{}
		if !c.build.IsZero() {
			f.build = c.build.String()
		}
		if !c.cdn.IsZero() {
			f.cdn = c.cdn.String()
		}
		if o, err := f.parse(&optionSet{}); err != nil || o.Storage.BuildKey != c.build || o.Storage.CDNKey != c.cdn {
			t.Errorf("--build %q --cdn %q: %v, %v, %v", f.build, f.cdn, o.Storage.BuildKey, o.Storage.CDNKey, err)
		}
	}
}
