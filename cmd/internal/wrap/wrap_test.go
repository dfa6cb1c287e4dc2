package wrap

import "testing"

func TestHang(t *testing.T) {
	for _, c := range []struct {
		front, text string
		width       int
		want        string
	}{
		{"", "", 10, ""},
		{"", "one two  three\nfour", 9, "one two\nthree\nfour"},
		{"  é  ", "one two three", 12, "  é  one two\n     three"},
		{"- ", "longer-than-the-width x", 5, "- longer-than-the-width\n  x"},
	} {
		if got := Hang(c.front, c.text, c.width); got != c.want {
			t.Errorf("Hang(%q, %q, %d) = %q, want %q", c.front, c.text, c.width, got, c.want)
		}
	}
}
