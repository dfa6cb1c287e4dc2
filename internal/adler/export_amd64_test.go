package adler

import "testing"

// Narrow takes wide additions away for a test.
func Narrow(t *testing.T) {
	before := wide
	wide = false
	t.Cleanup(func() { wide = before })
}
