package internal_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// topLevel is all that may lie in the root of the repository, besides names that begin with a dot.
var topLevel = strings.Fields(`blte casc cmd datacenter fs geometry internal nodes protocol
	CHANGELOG.md CONTRIBUTING.md LICENSE NOTICE README.md SECURITY.md go.mod go.sum`)

// TestTopLevel checks that nobody has committed what a trial has left in the root, such as a data center.
func TestTopLevel(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "git", "-C", "..", "ls-files").Output()
	if err != nil {
		t.Skipf("this is no checkout, or git is missing: %v", err)
	}
	seen := map[string]bool{}
	for path := range strings.Lines(string(out)) {
		name, _, _ := strings.Cut(strings.TrimSpace(path), "/")
		seen[name] = true
	}
	for name := range seen {
		if !strings.HasPrefix(name, ".") && !slices.Contains(topLevel, name) {
			t.Errorf("%s: want only %v in the root", name, topLevel)
		}
	}
}
