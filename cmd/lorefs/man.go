package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
	"github.com/spf13/pflag"
)

func newMan() *cobra.Command {
	return &cobra.Command{
		Use:   "man DIR",
		Short: "write the man pages of all commands to a folder",
		Long: `man writes a man page for each command to a folder, which is made if it is not
there: lorefs.1, lorefs-mount.1, … With SOURCE_DATE_EPOCH set, that is their date.`,
		Args: exactArgs("DIR"),
		RunE: func(c *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return err
			}
			root := c.Root()
			root.DisableAutoGenTag = true // it has the day on which it ran
			asMarkdown(root)
			header := &doc.GenManHeader{Section: "1", Source: "lorefs", Manual: "lorefs"}
			if err := doc.GenManTree(root, header, args[0]); err != nil {
				return fmt.Errorf("man pages: %w", err)
			}
			return nil
		},
	}
}

// plain keeps Markdown from seeing markup in plain text.
var plain = strings.NewReplacer("\\", "\\\\", "*", "\\*", "_", "\\_", "`", "\\`", "<", "\\<", "[", "\\[", "{", "\\{")

// asMarkdown turns the help of a command and those below it into the Markdown that
// cobra makes man pages of.
func asMarkdown(c *cobra.Command) {
	lines := strings.SplitAfter(c.Long, "\n")
	for i, line := range lines {
		switch {
		case strings.HasPrefix(line, "\t"): // an example of cobra's own
		case strings.HasPrefix(line, "  "):
			lines[i] = "    " + line
		default:
			lines[i] = plain.Replace(line)
		}
	}
	c.Long = strings.Join(lines, "")
	c.LocalFlags().VisitAll(func(f *pflag.Flag) { f.Usage = plain.Replace(f.Usage) })
	for _, sub := range c.Commands() {
		asMarkdown(sub)
	}
}
