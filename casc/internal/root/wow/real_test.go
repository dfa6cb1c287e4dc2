package wow_test

import (
	"testing"

	"lorefs/casc/casctest"
	"lorefs/casc/internal/root/wow"
)

func TestRealWoWRoots(t *testing.T) {
	for file, want := range map[string]struct{ version, files int }{
		"classic_era_v1_2blocks.root": {0, 1493}, "retail_11.2.7_v2_3blocks.root": {3, 0},
	} {
		r, err := wow.Parse(casctest.Fixture(t, "cascette-rs/root/"+file))
		if err != nil || r.Version != want.version {
			t.Errorf("%s: %+v, %v", file, r, err)
			continue
		}
		n := 0
		for f, err := range r.Files() {
			if err != nil || f.CKey.IsZero() || f.Locale == 0 || !f.HasID {
				t.Fatalf("%s: %+v, %v", file, f, err)
			}
			n++
		}
		if n == 0 || want.files > 0 && n != want.files {
			t.Errorf("%s: %d files", file, n)
		}
		t.Logf("%s: %d files", file, n)
	}
}
