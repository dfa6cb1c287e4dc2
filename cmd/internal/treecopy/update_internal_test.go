package treecopy

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestUpdateOne writes contents over others in parts of several sizes: what stands there in the end is the content,
// and it is written only if it differs.
func TestUpdateOne(t *testing.T) {
	t.Parallel()
	texts := []string{"", "a", "abcdefgh", "abcdefgX", "abcd", "Xbcdefgh", "abcdefghi"}
	for _, old := range texts {
		for _, text := range texts {
			for _, part := range []int{1, 3, 100} {
				for _, again := range []bool{false, true} {
					updateOne(t, old, text, part, again)
				}
			}
		}
	}
}

// updateOne writes a text over another one. again says that something else is written first, and dropped.
func updateOne(t *testing.T, old, text string, part int, again bool) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "f"), []byte(old), 0o600); err != nil {
		t.Fatal(err)
	}
	var sum Sum
	tg, err := newTarget(t.Context(), dir, Options{Update: true, Stands: func(_ string, s Sum) { sum = s }})
	if err != nil {
		t.Fatal(err)
	}
	defer tg.close()
	_, same, err := tg.write(&worker{}, "f", time.Time{}, func(w io.Writer) (int64, error) {
		if again {
			_, err := io.WriteString(w, "abcX")
			err = errors.Join(err, w.(interface{ Restart() error }).Restart())
			if err != nil {
				return 0, err
			}
		}
		for left := text; left != ""; left = left[min(part, len(left)):] {
			if _, err := io.WriteString(w, left[:min(part, len(left))]); err != nil {
				return 0, err
			}
		}
		return int64(len(text)), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(dir, "f"))
	if err != nil || string(got) != text || !again && same != (old == text) || sum != linkSum(text) {
		t.Errorf("%q over %q in parts of %d, again %v: %q, same %v, sum %x, %v", text, old, part, again, got, same, sum, err)
	}
}
