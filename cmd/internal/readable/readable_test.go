package readable

import (
	"strings"
	"testing"
)

func TestFaults(t *testing.T) {
	long := strings.Repeat("word ", MaxWords) + "end"
	for text, want := range map[string]int{
		"":                           0,
		"A short one. Another one!":  0,
		long:                         1,
		"A short one. " + long + ".": 1,
		strings.TrimSuffix(long, " end") + ". " + long[len("word "):] + ".": 0,

		"It is read.":                                   0,
		"It is read. It is written.":                    0,
		"What is read is then written.":                 1,
		"What isn't\nread was not written":              1,
		"It is red, and what was read is quickly kept.": 1,
	} {
		if got := Faults(text); len(got) != want {
			t.Errorf("%q: %q, want %d", text, got, want)
		}
	}
}
