package shown_test

import (
	"testing"

	"lorefs/internal/shown"
)

func TestJSONText(t *testing.T) {
	got, err := shown.JSONText(map[string]string{"path": "/games/Sword & <Shield>"})
	const want = "{\n  \"path\": \"/games/Sword & <Shield>\"\n}\n"
	if err != nil || got != want {
		t.Errorf("%s, %v, want %s", got, err, want)
	}
}
