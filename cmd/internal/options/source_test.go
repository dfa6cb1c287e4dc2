package options

import (
	"testing"

	"lorefs/casc/keys"
)

// TestCASCKeyFlags checks that --build and --cdn both count, also if they are the same key.
func TestCASCKeyFlags(t *testing.T) {
	for _, c := range []struct{ build, cdn keys.Key }{{keys.Key{1}, keys.Key{1}}, {keys.Key{1}, keys.Key{2}}, {keys.Key{1}, keys.Key{}}, {keys.Key{}, keys.Key{2}}} {
		f := CASCFlags{}
		if !c.build.IsZero() {
			f.Build = c.build.String()
		}
		if !c.cdn.IsZero() {
			f.CDN = c.cdn.String()
		}
		if o, err := f.parse(&Set{}); err != nil || o.Storage.BuildKey != c.build || o.Storage.CDNKey != c.cdn {
			t.Errorf("--build %q --cdn %q: %v, %v, %v", f.Build, f.CDN, o.Storage.BuildKey, o.Storage.CDNKey, err)
		}
	}
}
