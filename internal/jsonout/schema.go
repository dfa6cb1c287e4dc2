package jsonout

import (
	_ "embed" // for the schema
)

//go:embed schema.json
var schema []byte

// Schema returns a JSON Schema of what commands print. It has a definition for each command, such
// as journal_list, which describes the object or each line of the list.
func Schema() []byte { return schema }
