package shown

import (
	"encoding/json"
	"io"
	"strings"
)

// JSONLines writes objects as JSON, one a line. Nothing is escaped but what JSON wants:
// names and values are to be found by grep.
func JSONLines(w io.Writer) *json.Encoder {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc
}

// JSONDocument is JSONLines for one object on many lines.
func JSONDocument(w io.Writer) *json.Encoder {
	enc := JSONLines(w)
	enc.SetIndent("", "  ")
	return enc
}

// JSONText is the text of a file of JSON.
func JSONText(v any) (string, error) {
	var b strings.Builder
	err := JSONDocument(&b).Encode(v)
	return b.String(), err
}
