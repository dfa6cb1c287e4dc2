package tablekind

import (
	"testing"

	"lorefs/internal/jsonout/jsontest"
	"lorefs/nodes/tabletree"
)

// TestJSONStructs checks that the schema has the members of descriptions and findings.
func TestJSONStructs(t *testing.T) {
	for name, v := range map[string]any{
		"info_tables": description{}, "verify_table": finding{},
		"row_difference": tabletree.RowDifference{}, "table_difference": tabletree.TableDifference{},
	} {
		if err := jsontest.Struct(name, v); err != nil {
			t.Error(err)
		}
	}
}
