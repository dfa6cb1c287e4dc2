package property_test

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"lorefs/internal/testneeds/property"
)

// counting is set in the processes that TestCheck starts, which count cases.
const counting = "LOREFS_TEST_COUNTING"

// TestCheck counts the cases that are tried with each amount of tests.
func TestCheck(t *testing.T) {
	if os.Getenv(counting) != "" {
		tried := 0
		property.Check(t, func(*rapid.T) { tried++ })
		fmt.Printf("tried %d cases\n", tried)
		return
	}
	for _, c := range []struct {
		environment, option string
		tried               int
	}{
		{"", "", 5},
		{"LOREFS_TESTS=few", "", 20},
		{"LOREFS_TESTS=most", "", 100},
		{"LOREFS_TESTS=all", "", 100},
		{"RAPID_CHECKS=25", "", 25},
		{"", "-rapid.checks=7", 7},
	} {
		args := []string{"-test.run=^TestCheck$"}
		if c.option != "" {
			args = append(args, c.option)
		}
		cmd := exec.CommandContext(t.Context(), os.Args[0], args...)
		for _, v := range os.Environ() {
			if !strings.HasPrefix(v, "LOREFS_TESTS=") && !strings.HasPrefix(v, "RAPID_CHECKS=") {
				cmd.Env = append(cmd.Env, v)
			}
		}
		cmd.Env = append(cmd.Env, counting+"=1")
		if c.environment != "" {
			cmd.Env = append(cmd.Env, c.environment)
		}
		out, err := cmd.CombinedOutput()
		want := fmt.Sprintf("tried %d cases", c.tried)
		if got := regexp.MustCompile(`tried \d+ cases`).FindString(string(out)); err != nil || got != want {
			t.Errorf("%s %s: %q, want %q: %v", c.environment, c.option, got, want, err)
		}
	}
}
