package help

import (
	"bytes"
	"context"
	"io"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
	"github.com/spf13/pflag"

	"lorefs/cmd/internal/cli"
	"lorefs/cmd/internal/manual"
	"lorefs/cmd/internal/options"
	"lorefs/cmd/internal/treecopy"
)

// ManPages yields the pages of the commands and of the guides.
func ManPages(root *cobra.Command, date time.Time) iter.Seq[treecopy.File] {
	return func(yield func(treecopy.File) bool) {
		for _, g := range manual.Guides() {
			page := treecopy.File{
				Path: "lorefs-" + g.Name + ".7",
				Write: func(_ context.Context, w io.Writer) error {
					_, err := w.Write(g.Man(date))
					return err
				},
			}
			if !yield(page) {
				return
			}
		}
		for page := range commandPages(root, date) {
			if !yield(page) {
				return
			}
		}
	}
}

// commandPages yields the pages of a command and all below it.
func commandPages(c *cobra.Command, date time.Time) iter.Seq[treecopy.File] {
	return func(yield func(treecopy.File) bool) {
		for _, sub := range c.Commands() {
			if !sub.IsAvailableCommand() {
				continue
			}
			for page := range commandPages(sub, date) {
				if !yield(page) {
					return
				}
			}
		}
		yield(treecopy.File{
			Path: strings.ReplaceAll(c.CommandPath(), " ", "-") + ".1",
			Write: func(_ context.Context, w io.Writer) error {
				return writePage(c, date, w)
			},
		})
	}
}

// writePage writes the page of a command. cobra makes it, but for the examples, which most readers
// look for and which come first, and the sections from the options to what else to see.
func writePage(c *cobra.Command, date time.Time, w io.Writer) error {
	examples := c.Example
	c.Example = "" // cobra has it near the end
	var page bytes.Buffer
	if err := doc.GenMan(c, &doc.GenManHeader{Section: "1", Date: &date, Source: "lorefs", Manual: "lorefs"}, &page); err != nil {
		return err
	}
	const description, options, last = ".SH DESCRIPTION\n", ".SH OPTIONS\n", ".SH SEE ALSO\n"
	synopsis, text, _ := strings.Cut(page.String(), description)
	text, others, found := strings.Cut(text, last)
	text, _, _ = strings.Cut(text, options) // cobra's show defaults that say nothing, as --quiet[=false]
	if found {
		others = last + others
	}
	if !c.HasParent() {
		for _, g := range manual.Guides() {
			others = strings.TrimSuffix(others, "\n") + ", \\fBlorefs-" + g.Name + "(7)\\fP\n"
		}
	}
	_, err := io.WriteString(w, synopsis+examplesRoff(examples)+description+text+optionsRoff(c)+filesRoff(c)+environmentRoff(c)+exitRoff()+others)
	return err
}

// roff escapes plain text for a man page.
var roff = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "\n.", "\n\\&.")

// examplesRoff returns the examples of a command as a section of a man page.
func examplesRoff(examples string) string {
	if examples == "" {
		return ""
	}
	return ".SH EXAMPLES\n.EX\n" + roff.Replace(examples) + "\n.EE\n"
}

// optionsRoff returns the options of a command as a section of a man page, in the words of its help.
func optionsRoff(c *cobra.Command) string {
	var text strings.Builder
	add := func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		alone := pflag.NewFlagSet("", pflag.ContinueOnError)
		alone.AddFlag(f)
		option, means, _ := strings.Cut(strings.TrimSpace(alone.FlagUsages()), "   ")
		text.WriteString(tagged(option, means))
	}
	c.LocalFlags().VisitAll(add)
	c.InheritedFlags().VisitAll(add)
	return section("OPTIONS", text.String())
}

// manFiles are the files that commands use.
var manFiles = []struct {
	path, means string
	// flag is one that the commands have which use the file, if they are not named.
	flag     string
	commands []string
}{
	{"$XDG_CONFIG_HOME/lorefs/config.toml", "options that are set for good, see lorefs-settings(7)", "cache-size", nil},
	{"$XDG_CACHE_HOME/lorefs", "indexes that make the next start quick, and what was fetched from other machines", "no-cache", nil},
	{"$XDG_STATE_HOME/lorefs/journal", "edits that are not saved yet", "", []string{"mount", "unmount", "commit", "edits", "revert", "apply", "list", "show", "replay", "drop"}},
	{"$XDG_STATE_HOME/lorefs/refused", "texts that were refused, see lorefs-editing(7)", "", []string{"mount", "unmount"}},
	{"SOURCE.bak", "the source before the last save", "", []string{"mount", "unmount", "commit", "apply", "replay"}},
	{"OUT.bak", "the file that OUT was before", "", []string{"pack", "repack"}},
}

// filesRoff returns the files of a command as a section of a man page.
func filesRoff(c *cobra.Command) string {
	var text strings.Builder
	for _, f := range manFiles {
		if f.flag != "" && c.Flags().Lookup(f.flag) != nil || slices.Contains(f.commands, c.Name()) {
			text.WriteString(tagged(f.path, f.means))
		}
	}
	return section("FILES", text.String())
}

// environmentRoff returns the variables that set flags of a command as a section of a man page.
func environmentRoff(c *cobra.Command) string {
	var text strings.Builder
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if variable := f.Annotations[options.SettingAnnotation]; variable != nil {
			text.WriteString(tagged(variable[0], "sets --"+f.Name))
		}
	})
	return section("ENVIRONMENT", text.String())
}

// section returns a section of a man page, if there is a text for it.
func section(title, text string) string {
	if text == "" {
		return ""
	}
	return ".SH " + title + "\n" + text
}

// tagged returns a paragraph of a man page with a word in front.
func tagged(word, text string) string {
	return ".TP\n\\fB" + roff.Replace(word) + "\\fP\n" + roff.Replace(text) + "\n"
}

// plain escapes plain text for Markdown.
var plain = strings.NewReplacer("\\", "\\\\", "*", "\\*", "_", "\\_", "`", "\\`", "<", "\\<", "[", "\\[", "{", "\\{")

// AsMarkdown converts the help of a command and all below it to Markdown, from which cobra
// makes man pages.
func AsMarkdown(c *cobra.Command) {
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
	for _, sub := range c.Commands() {
		AsMarkdown(sub)
	}
}

// exitRoff returns the table as a section of a man page.
func exitRoff() string {
	var text strings.Builder
	for _, e := range cli.ExitMeanings() {
		text.WriteString(tagged(strconv.Itoa(e.Code), strings.ReplaceAll(e.Means, "`", "")))
	}
	return section("EXIT STATUS", text.String())
}
