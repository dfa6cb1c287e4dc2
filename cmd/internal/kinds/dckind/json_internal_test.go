package dckind

import (
	"testing"

	"lorefs/internal/jsonout/jsontest"
)

// TestJSONStructsdc checks that the schema has the members of descriptions and findings.
func TestJSONStructsdc(t *testing.T) {
	for name, v := range map[string]any{
		"info_data_center": dataCenterDescription{},
	} {
		if err := jsontest.Struct(name, v); err != nil {
			t.Error(err)
		}
	}
}
