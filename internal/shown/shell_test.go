package shown_test

import (
	"os/exec"
	"testing"

	"lorefs/internal/shown"
)

// TestShell checks that a shell reads the words that were spelled.
func TestShell(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("there is no bash")
	}
	for _, word := range []string{
		"", "/a/b-c.dat", "two words", "it's", "a$b`c`\"d\"\\", "*?[a]", "~x", "#x", "ä", "a\nb\x1b[31m'\\\xff", "\u009b1",
	} {
		got, err := exec.CommandContext(t.Context(), bash, "-c", "printf %s "+shown.Shell(word)).Output()
		if err != nil || string(got) != word {
			t.Errorf("%q is spelled %s, which is %q, %v", word, shown.Shell(word), got, err)
		}
		if s := shown.Shell(word); shown.Text(s) != s {
			t.Errorf("%q is not fit for a terminal", s)
		}
	}
	if got, want := shown.Shell("-rf"), "./-rf"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
