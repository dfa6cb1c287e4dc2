package overwatch_test

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"lorefs/casc"
	"lorefs/casc/casctest/write"
	"lorefs/casc/internal/root/overwatch"
	"lorefs/casc/keys"
)

func TestContentManifest(t *testing.T) {
	assets := []overwatch.Asset{{GUID: 0x0123456789ABCDEF, Size: 77, CKey: keys.Key{5}}, {GUID: 2, CKey: keys.Key{6}}}
	for _, build := range []int{30000, 47161, 47162, 57229, 57230, 68309, 68310, 120000} {
		data := write.ContentManifest(build, assets)
		m, err := overwatch.ParseContentManifest(data)
		if err != nil || m.Build != build || !slices.Equal(slices.Collect(m.Assets()), assets) {
			t.Errorf("build %d: %+v, %v", build, m, err)
		}
		at := bytes.Index(data, []byte("cmf"))
		copy(data[at:], []byte{24, 'f', 'm', 'c'})
		if _, err := overwatch.ParseContentManifest(data); !errors.Is(err, casc.ErrUnsupported) {
			t.Errorf("build %d, encrypted: %v", build, err)
		}
	}
}
