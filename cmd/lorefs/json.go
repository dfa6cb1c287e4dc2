package main

import (
	"encoding/json"
	"io"
	"strings"
)

// jsonLines writes objects as JSON, one a line. Nothing is escaped but what JSON wants:
// names and values are to be found by grep.
func jsonLines(w io.Writer) *json.Encoder {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc
}

// jsonDocument is jsonLines for one object on many lines.
func jsonDocument(w io.Writer) *json.Encoder {
	enc := jsonLines(w)
	enc.SetIndent("", "  ")
	return enc
}

// jsonText is the text of a file of JSON.
func jsonText(v any) (string, error) {
	var b strings.Builder
	err := jsonDocument(&b).Encode(v)
	return b.String(), err
}
