package treepath

import (
	"strings"
	"testing"
	"testing/quick"
)

func TestEscape(t *testing.T) {
	long := strings.Repeat("한", 100)
	for name, want := range map[string]string{
		"":       "%",
		"Item":   "Item",
		"a/b":    "a%2Fb",
		"a\x00b": "a%00b",
		".":      "%2E",
		"..":     "%2E.",
		".swp":   "%2Eswp",
		"a~":     "a%7E",
		"~":      "%7E",
		"a.1":    "a%2E1",
		"a.1.2":  "a.1%2E2",
		"a.":     "a.",
		"a.b":    "a.b",
		"1":      "1",
		".1":     "%2E1",
		"@x":     "%40x",
		"x@":     "x@",
		"50%":    "50%25",
		"%2F":    "%252F",
		"몬스터":    "몬스터",
		long:     strings.Repeat("한", 81) + "%~12",
	} {
		if got := Escape(name, 12); got != want {
			t.Errorf("Escape(%q) = %q, want %q", name, got, want)
		}
	}
}

func TestEscapeIsReversible(t *testing.T) {
	check := func(parts []uint8, tail uint8) bool {
		alphabet := []string{".", "/", "%", "@", "~", "a", "1", "\x00", "한", "2F"}
		var name string
		for _, p := range parts[:min(len(parts), 60)] {
			name += alphabet[int(p)%len(alphabet)]
		}
		file := Escape(name, int(tail))
		if file == "" || file == "." || file == ".." || len(file) > 248 || strings.ContainsAny(file, "/\x00") {
			return false
		}
		if plain, ordinal, ok := SplitOrdinal(file); plain != file || ordinal != 0 || !ok {
			return false
		}
		back, ok := Unescape(file)
		return strings.Contains(file, "%~") || (ok && back == name)
	}
	if err := quick.Check(check, &quick.Config{MaxCount: 20000}); err != nil {
		t.Error(err)
	}
}

func TestSplitOrdinal(t *testing.T) {
	for file, want := range map[string]struct {
		name    string
		ordinal int
		ok      bool
	}{
		"Item":    {"Item", 0, true},
		"Item.1":  {"Item", 1, true},
		"Item.41": {"Item", 41, true},
		"a.b.7":   {"a.b", 7, true},
		"Item.0":  {"Item", 0, false},
		"Item.01": {"Item", 1, false},
		"Item.":   {"Item.", 0, true},
		"7":       {"7", 0, true},
	} {
		name, ordinal, ok := SplitOrdinal(file)
		if name != want.name || ordinal != want.ordinal || ok != want.ok {
			t.Errorf("SplitOrdinal(%q) = %q, %d, %v", file, name, ordinal, ok)
		}
	}
}
