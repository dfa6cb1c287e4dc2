package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"iter"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
	"github.com/spf13/pflag"

	"lorefs/internal/app/treecopy"
)

func newMan() *cobra.Command {
	return &cobra.Command{
		Use:   "man DIR",
		Short: "write the man pages of all commands to a folder",
		Long: `man writes a man page for each command to a folder, which it makes if needed:
lorefs.1, lorefs-mount.1, … Their date is SOURCE_DATE_EPOCH, if that is set.`,
		Args: exactArgs("DIR"),
		RunE: func(c *cobra.Command, args []string) error {
			root := c.Root()
			root.DisableAutoGenTag = true // the tag has the date of the run
			root.Long = strings.TrimSuffix(root.Long, exitHelp())
			asMarkdown(root)
			_, err := treecopy.Write(c.Context(), manPages(root), args[0], treecopy.Options{Overwrite: true, Workers: 1})
			if err != nil {
				return fmt.Errorf("man pages: %w", err)
			}
			return nil
		},
	}
}

// manPages yields the pages of a command and all below it, as [doc.GenManTree] makes them.
func manPages(c *cobra.Command) iter.Seq[treecopy.File] {
	return func(yield func(treecopy.File) bool) {
		for _, sub := range c.Commands() {
			if !sub.IsAvailableCommand() && !sub.IsAdditionalHelpTopicCommand() {
				continue
			}
			for page := range manPages(sub) {
				if !yield(page) {
					return
				}
			}
		}
		yield(treecopy.File{
			Path: strings.ReplaceAll(c.CommandPath(), " ", "-") + ".1",
			Write: func(_ context.Context, w io.Writer) error {
				return writePage(c, w)
			},
		})
	}
}

// writePage writes the page of a command, with the exit codes before what else to see.
func writePage(c *cobra.Command, w io.Writer) error {
	var page bytes.Buffer
	if err := doc.GenMan(c, &doc.GenManHeader{Section: "1", Source: "lorefs", Manual: "lorefs"}, &page); err != nil {
		return err
	}
	const last = ".SH SEE ALSO\n"
	text, others, found := strings.Cut(page.String(), last)
	if found {
		others = last + others
	}
	_, err := io.WriteString(w, text+exitRoff()+others)
	return err
}

// plain escapes plain text for Markdown.
var plain = strings.NewReplacer("\\", "\\\\", "*", "\\*", "_", "\\_", "`", "\\`", "<", "\\<", "[", "\\[", "{", "\\{")

// asMarkdown converts the help of a command and all below it to Markdown, from which cobra
// makes man pages.
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
	c.LocalFlags().VisitAll(func(f *pflag.Flag) {
		_, usage := pflag.UnquoteUsage(f)
		f.Usage = plain.Replace(usage)
	})
	for _, sub := range c.Commands() {
		asMarkdown(sub)
	}
}
