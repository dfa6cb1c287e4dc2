package main

import (
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"lorefs/cmd/internal/help"
)

var (
	// shellEnd is where a command of a shell ends, and shellWord a word of it.
	shellEnd  = regexp.MustCompile(` \| | && | > | +# `)
	shellWord = regexp.MustCompile(`'[^']*'|[^ ]+`)
)

// TestExamples checks that every command has examples, and that the command line takes them.
func TestExamples(t *testing.T) {
	left := map[string]bool{}
	for name := range help.Examples {
		left[name] = true
	}
	var check func(c *cobra.Command)
	check = func(c *cobra.Command) {
		for _, sub := range c.Commands() {
			check(sub)
		}
		delete(left, c.CommandPath())
		if c.Runnable() && !c.HasExample() {
			t.Errorf("%s has no example", c.CommandPath())
		}
		own := false
		for line := range strings.Lines(c.Example) {
			for _, command := range shellEnd.Split(strings.TrimSpace(line), -1) {
				words := shellWord.FindAllString(command, -1)
				if len(words) == 0 || words[0] != "lorefs" {
					continue
				}
				for i := range words {
					words[i] = strings.Trim(words[i], "'")
				}
				of, rest, err := newRoot().Find(words[1:])
				if err == nil {
					err = of.ParseFlags(rest)
				}
				if err == nil {
					err = of.ValidateArgs(of.Flags().Args())
				}
				if err != nil {
					t.Errorf("%s: %v", command, err)
					continue
				}
				own = own || strings.HasPrefix(of.CommandPath(), c.CommandPath())
			}
		}
		if c.HasExample() && !own {
			t.Errorf("no example of %s has the command", c.CommandPath())
		}
	}
	check(newRoot())
	for name := range left {
		t.Errorf("there are examples of %s, which is no command", name)
	}
}
