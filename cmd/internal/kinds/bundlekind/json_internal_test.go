package bundlekind

import (
	"testing"

	"lorefs/internal/jsonout/jsontest"
	"lorefs/nodes/bundle"
)

// TestJSONStructsbundle checks that the schema has the members of descriptions and findings.
func TestJSONStructsbundle(t *testing.T) {
	for name, v := range map[string]any{
		"bundle_edit": bundle.Edit{},
		"info_bundle": bundleDescription{},
	} {
		if err := jsontest.Struct(name, v); err != nil {
			t.Error(err)
		}
	}
}
