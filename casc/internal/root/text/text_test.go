package text_test

import (
	"fmt"
	"strings"
	"testing"

	"lorefs/casc/casctest/write"
	"lorefs/casc/internal/root/text"
	"lorefs/casc/keys"
	"lorefs/casc/root"
)

// TestManyBadLines checks that a root of bad lines only is an error, and that not all of
// very many are reported.
func TestManyBadLines(t *testing.T) {
	if r, err := text.Parse([]byte("bad\nbad\n")); r != nil || err == nil {
		t.Errorf("%v, %v", r, err)
	}
	const lines = 5000
	good := write.TextRoot([]root.File{{Name: "good", CKey: keys.Key{1}}})
	r, err := text.Parse(append(good, strings.Repeat("bad\n", lines)...))
	if err != nil {
		t.Fatal(err)
	}
	p := r.Problems()
	if last := p[len(p)-1].Error(); len(p) > lines/2 || !strings.Contains(last, fmt.Sprintf("%d more like these", lines-len(p)+1)) {
		t.Errorf("%d faults, the last is %s", len(p), last)
	}
}
