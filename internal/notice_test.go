package internal_test

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// TestNotice compares the modules that NOTICE lists with those that the program contains.
func TestNotice(t *testing.T) {
	text, err := os.ReadFile("../NOTICE")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), "\nmodule ")
	table, _, _ = strings.Cut(table, "\n\n")
	var listed []string
	for _, line := range strings.Split(table, "\n")[1:] {
		listed = append(listed, strings.Fields(line)[0])
	}
	cmd := exec.CommandContext(t.Context(), "go", "list", "-deps",
		"-f", "{{with .Module}}{{if not .Main}}{{.Path}}{{end}}{{end}}", "./cmd/lorefs")
	cmd.Dir = ".."
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	for m := range strings.FieldsSeq(string(out)) {
		if !slices.Contains(listed, m) {
			t.Errorf("NOTICE lacks %s", m)
		}
	}
	// The program for other systems contains others, so no more can be asked of these.
	required, err := os.ReadFile("../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range listed {
		if !strings.Contains(string(required), "\t"+m+" ") {
			t.Errorf("NOTICE has %s, which go.mod does not need", m)
		}
	}
	if !slices.IsSorted(listed) {
		t.Error("NOTICE is not sorted")
	}
}
