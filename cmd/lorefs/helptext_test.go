package main

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"lorefs/cmd/internal/help"
	"lorefs/cmd/internal/readable"
)

// notProse are the parts of a help text that are no sentences: lines that are indented.
var notProse = regexp.MustCompile(`(?m)^ .*$`)

// TestHelpTexts looks for sentences in the help of commands that are hard to read. The guides
// have a test of their own.
func TestHelpTexts(t *testing.T) {
	guides, texts := help.GuideNames(), 0
	var check func(c *cobra.Command)
	check = func(c *cobra.Command) {
		for _, sub := range c.Commands() {
			check(sub)
		}
		if slices.Contains(guides, c.Name()) {
			return
		}
		texts++
		for paragraph := range strings.SplitSeq(notProse.ReplaceAllString(c.Long, ""), "\n\n") {
			for _, fault := range readable.Faults(paragraph) {
				t.Errorf("%s --help: %s", c.CommandPath(), fault)
			}
		}
	}
	check(newRoot())
	if texts < len(help.Examples) {
		t.Errorf("%d commands have examples, but only %d were read", len(help.Examples), texts)
	}
}
