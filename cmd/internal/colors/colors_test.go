package colors

import (
	"bytes"
	"testing"
)

// TestLines writes lines in pieces: a colour begins with its line and ends before the newline.
func TestLines(t *testing.T) {
	const text = "- one\n+ two\nplain\n\n~three\n@ four\n? five"
	const want = "\x1b[31m- one\x1b[0m\n\x1b[32m+ two\x1b[0m\nplain\n\n\x1b[33m~three\x1b[0m\n\x1b[36m@ four\x1b[0m\n\x1b[35m? five"
	for size := 1; size <= len(text); size++ {
		var got bytes.Buffer
		w := New(&got)
		for i := 0; i < len(text); i += size {
			if n, err := w.Write([]byte(text[i:min(i+size, len(text))])); err != nil || n != min(size, len(text)-i) {
				t.Fatalf("Write: %d, %v", n, err)
			}
		}
		if got.String() != want {
			t.Fatalf("pieces of %d bytes: %q, want %q", size, got.String(), want)
		}
	}
}

func TestWhen(t *testing.T) {
	t.Setenv("NO_COLOR", "")
	var w When
	if err := w.Set("blue"); err == nil {
		t.Error("blue was taken")
	}
	for _, c := range []struct {
		when       When
		isTerminal bool
		want       bool
	}{{Always, false, true}, {Never, true, false}, {Auto, false, false}} {
		if got := c.when.wanted(c.isTerminal); got != c.want {
			t.Errorf("%s, terminal %v: %v", c.when, c.isTerminal, got)
		}
	}
	t.Setenv("NO_COLOR", "1")
	if Auto.wanted(true) || !Always.wanted(true) {
		t.Error("NO_COLOR is for auto")
	}
}
