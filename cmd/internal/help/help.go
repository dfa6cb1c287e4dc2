package help

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"lorefs/cmd/internal/kinds"
	"lorefs/cmd/internal/kinds/registry"
	"lorefs/cmd/internal/options"
	"lorefs/cmd/internal/wrap"
)

// commandGroups are the groups of commands in the help. What is in none comes last.
var commandGroups = []struct {
	title    string
	commands []string
}{
	{"Mounts:", []string{"mount", "unmount", "status", "commit", "edits", "revert", "journal"}},
	{"Without a mount:", []string{"serve", "info", "ls", "find", "cat", "query", "refs", "export", "fetch", "verify", "diff", "decode", "encode"}},
	{"Making sources anew:", []string{"set", "unset", "add", "remove", "apply", "build", "patch", "pack", "repack", "validate", "schema"}},
	{"Guides, which lorefs help prints:", GuideNames()},
}

// GroupCommands puts the commands of root into groups.
func GroupCommands(root *cobra.Command) {
	for _, g := range commandGroups {
		root.AddGroup(&cobra.Group{ID: g.title, Title: g.title})
		for _, c := range root.Commands() {
			if slices.Contains(g.commands, c.Name()) {
				c.GroupID = g.title
			}
		}
	}
}

const (
	// defaultWidth is how wide help is where nobody says how wide the screen is, and leastWidth
	// the least that it is wrapped to.
	defaultWidth = 90
	leastWidth   = 30
)

// helpWidth returns how wide help is.
func helpWidth() int {
	width := defaultWidth
	if n, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && n > 0 {
		width = n
	} else if n, _, err := term.GetSize(int(os.Stdout.Fd())); err == nil && n > 0 {
		width = n
	}
	return min(max(width, leastWidth), defaultWidth)
}

// PrintHelp prints the help of a command.
func PrintHelp(c *cobra.Command, _ []string) {
	w, width := c.OutOrStdout(), helpWidth()
	_, _ = io.WriteString(w, wrapText(cmp.Or(c.Long, c.Short), width)+"\n")
	if c.HasExample() {
		_, _ = io.WriteString(w, "\nExamples:\n"+c.Example+"\n")
	}
	if c.Runnable() || c.HasSubCommands() {
		_, _ = io.WriteString(w, "\n"+usageText(c, width))
	}
}

// usageText returns the part of the help that lists arguments, commands and flags.
func usageText(c *cobra.Command, width int) string {
	var b strings.Builder
	b.WriteString("Usage:\n")
	if c.HasAvailableSubCommands() {
		b.WriteString("  " + c.CommandPath() + " COMMAND\n")
	} else {
		b.WriteString("  " + c.UseLine() + "\n")
	}
	if len(c.Aliases) > 0 {
		b.WriteString("\nAlso called: " + strings.Join(c.Aliases, ", ") + "\n")
	}
	for _, g := range c.Groups() {
		writeCommands(&b, c, g.ID, g.Title, width)
	}
	writeCommands(&b, c, "", "More commands:", width)
	writeFlags(&b, c, width)
	if c.HasAvailableSubCommands() {
		b.WriteString("\n" + wrapText(c.CommandPath()+" COMMAND --help tells more of a command. lorefs help settings tells how to set flags for good, and lorefs help json has the exit codes.", width) + "\n")
	}
	return b.String()
}

// writeCommands writes the commands of a group.
func writeCommands(b *strings.Builder, parent *cobra.Command, group, title string, width int) {
	names := 0
	var listed []*cobra.Command
	for _, c := range parent.Commands() {
		if c.GroupID == group && (c.IsAvailableCommand() || c.IsAdditionalHelpTopicCommand()) {
			listed = append(listed, c)
			names = max(names, len(c.Name()))
		}
	}
	if listed == nil {
		return
	}
	b.WriteString("\n" + title + "\n")
	for _, c := range listed {
		front := fmt.Sprintf("  %-*s  ", names, c.Name())
		b.WriteString(wrap.Hang(front, c.Short, width) + "\n")
	}
}

// writeFlags writes the flags of a command: first those for all sources, then those for sources
// of each kind.
func writeFlags(b *strings.Builder, c *cobra.Command, width int) {
	c.InitDefaultHelpFlag()
	places := options.SettingPlaces()
	general := pflag.NewFlagSet("", pflag.ContinueOnError)
	special := map[string]*pflag.FlagSet{}
	var titles []string
	add := func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		to := general
		if of := f.Annotations[options.KindsAnnotation]; of != nil {
			title := (&options.Option{Kinds: of}).Sources()
			if special[title] == nil {
				special[title] = pflag.NewFlagSet("", pflag.ContinueOnError)
				titles = append(titles, title)
			}
			to = special[title]
		}
		seen := *f
		if place := places[f.Name]; place != "" && f.Annotations[options.SettingAnnotation] != nil {
			seen.Usage += " (set by " + place + ")"
		}
		to.AddFlag(&seen)
	}
	c.LocalFlags().VisitAll(add)
	c.InheritedFlags().VisitAll(add)
	b.WriteString("\nFlags:\n" + general.FlagUsagesWrapped(width))
	slices.SortFunc(titles, func(a, b string) int { return kindRank(a) - kindRank(b) })
	for _, title := range titles {
		b.WriteString("\nFlags for " + title + ":\n" + special[title].FlagUsagesWrapped(width))
	}
}

// kindRank puts flags for sources of one kind in the order of the kinds, and those for several
// after them.
func kindRank(title string) int {
	all := registry.All()
	if i := slices.IndexFunc(all, func(k *kinds.Kind) bool { return k.Noun == title }); i >= 0 {
		return i
	}
	return len(all)
}

// wrapText wraps paragraphs that are wider than allowed. Lines that begin with blanks are
// examples, and stay.
func wrapText(text string, width int) string {
	var b strings.Builder
	var words []string
	flush := func() {
		if words != nil {
			b.WriteString(wrap.Hang("", strings.Join(words, " "), width) + "\n")
		}
		words = nil
	}
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if line == "" || strings.HasPrefix(line, " ") || strings.HasPrefix(line, "\t") {
			flush()
			b.WriteString(line + "\n")
			continue
		}
		words = append(words, strings.Fields(line)...)
	}
	flush()
	return strings.TrimSuffix(b.String(), "\n")
}
