package packetkind

import (
	"testing"

	"lorefs/internal/jsonout/jsontest"
)

// TestJSONStructspackets checks that the schema has the members of descriptions and findings.
func TestJSONStructspackets(t *testing.T) {
	for name, v := range map[string]any{
		"info_packets":      packetsDescription{},
		"verify_definition": lineFinding{},
	} {
		if err := jsontest.Struct(name, v); err != nil {
			t.Error(err)
		}
	}
}
