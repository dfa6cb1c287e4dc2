package diff_test

import (
	"bytes"
	"testing"

	"lorefs/datacenter"
	"lorefs/datacenter/dctest"
	"lorefs/datacenter/diff"
	"lorefs/internal/testneeds"
)

// TestBrokenFiles checks that comparing broken files yields differences or an error, and
// that a broken file compared with itself yields nothing but an error.
func TestBrokenFiles(t *testing.T) {
	testneeds.Seconds(t)
	opened, failed := 0, 0
	for _, layout := range []datacenter.Layout{datacenter.LayoutV3, datacenter.LayoutV6X86, datacenter.LayoutV6X64} {
		sound := build(t, dctest.Options{}, sheet(plain(1)))
		for _, broken := range dctest.Broken(layout) {
			f, err := datacenter.Open(t.Context(), bytes.NewReader(broken.Data), int64(len(broken.Data)), datacenter.Options{})
			if err != nil {
				continue
			}
			opened++
			for _, pair := range [][2]*datacenter.File{{f, f}, {f, sound}, {sound, f}} {
				for d, err := range diff.Compare(t.Context(), pair[0], pair[1], diff.Options{}) {
					if err != nil {
						failed++
					} else if pair[0] == pair[1] {
						t.Errorf("%s: differs from itself: %+v", broken.Name, d)
					}
				}
			}
		}
	}
	if opened == 0 || failed == 0 {
		t.Errorf("%d files could be opened, %d comparisons failed: want some of both", opened, failed)
	}
}
