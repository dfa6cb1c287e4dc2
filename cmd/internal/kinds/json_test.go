package kinds_test

import (
	"testing"

	"lorefs/cmd/internal/kinds"
	"lorefs/internal/jsonout/jsontest"
)

// TestJSONStructs checks that the schema has the members of descriptions and findings.
func TestJSONStructs(t *testing.T) {
	for name, v := range kinds.JSONStructs {
		if err := jsontest.Struct(name, v); err != nil {
			t.Error(err)
		}
	}
}
