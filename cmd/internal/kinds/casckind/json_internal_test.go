package casckind

import (
	"testing"

	"lorefs/internal/jsonout/jsontest"
)

// TestJSONStructscasc checks that the schema has the members of descriptions and findings.
func TestJSONStructscasc(t *testing.T) {
	for name, v := range map[string]any{
		"casc_encoded":    cascEncoded{},
		"casc_gap":        cascGap{},
		"casc_root_entry": cascRootEntry{},
		"diff_builds":     BuildDifference{},
		"info_casc":       cascDescription{},
		"info_casc_file":  cascFile{},
		"verify_casc":     cascFinding{},
	} {
		if err := jsontest.Struct(name, v); err != nil {
			t.Error(err)
		}
	}
}
