// Package svgtest reads drawings in tests.
package svgtest

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"testing"
)

// Texts parses a drawing and returns its texts and titles, in their order. It fails the test if
// the drawing is no well-formed XML.
func Texts(t testing.TB, file []byte) (all []string) {
	t.Helper()
	d := xml.NewDecoder(bytes.NewReader(file))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatalf("the drawing can't be parsed: %v", err)
		}
		if text, ok := token.(xml.CharData); ok && len(bytes.TrimSpace(text)) > 0 {
			all = append(all, string(text))
		}
	}
}
