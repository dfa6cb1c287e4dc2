package worldkind

import (
	"testing"

	"lorefs/internal/jsonout/jsontest"
)

// TestJSONStructsworld checks that the schema has the members of descriptions and findings.
func TestJSONStructsworld(t *testing.T) {
	for name, v := range map[string]any{
		"info_world":   worldDescription{},
		"verify_world": worldFinding{},
	} {
		if err := jsontest.Struct(name, v); err != nil {
			t.Error(err)
		}
	}
}
