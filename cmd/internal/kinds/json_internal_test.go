package kinds

import (
	"testing"

	"lorefs/internal/jsonout/jsontest"
)

// TestJSONStructsbase checks that the schema has the members of descriptions and findings.
func TestJSONStructsbase(t *testing.T) {
	for name, v := range map[string]any{
		"file_state":         OpenFile{},
		"verify_data_center": inflatedFinding{},
	} {
		if err := jsontest.Struct(name, v); err != nil {
			t.Error(err)
		}
	}
}
