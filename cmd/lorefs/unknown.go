package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"lorefs/cmd/internal/nearest"
)

// unknownNames says which names of a query a data center does not have, and which of its own
// may be meant. It is empty if there are none.
func unknownNames(unknown, names []string) string {
	var hints []string
	for _, name := range unknown {
		hints = append(hints, fmt.Sprintf("nothing is called %q", name)+didYouMean(name, names))
	}
	return strings.Join(hints, "; ")
}

// didYouMean returns what to add to the message that a name is unknown, empty if none of the
// names that there are is near.
func didYouMean(name string, names []string) string {
	near := nearest.Name(name, names)
	if near == "" {
		return ""
	}
	return fmt.Sprintf(": did you mean %q?", near)
}

// otherWords are commands of other programs for what these of ours do.
var otherWords = map[string][]string{
	"apply":   {"patch", "merge", "import"},
	"commit":  {"save", "write", "sync"},
	"edits":   {"log", "changes"},
	"export":  {"unpack", "extract", "dump"},
	"find":    {"search", "locate", "glob"},
	"info":    {"show", "stat"},
	"ls":      {"list", "dir"},
	"mount":   {"serve", "open"},
	"query":   {"grep", "select", "xpath"},
	"repack":  {"compress", "convert"},
	"revert":  {"undo", "reset", "restore", "discard"},
	"unmount": {"umount", "close", "eject"},
	"verify":  {"check", "fsck", "test"},
}

// nearCommand returns the command below c that a word is most likely meant to be, or nothing.
func nearCommand(c *cobra.Command, word string) string {
	word = strings.ToLower(word)
	var names []string
	for _, sub := range c.Commands() {
		if slices.Contains(sub.Aliases, word) || !c.HasParent() && slices.Contains(otherWords[sub.Name()], word) {
			return sub.Name()
		}
		if sub.IsAvailableCommand() {
			names = append(names, sub.Name())
		}
	}
	return nearest.Name(word, names)
}

// nearFlag says which flag an unknown one is most likely meant to be. It is empty if none is near.
func nearFlag(flags *pflag.FlagSet, unknown *pflag.NotExistError) string {
	name := unknown.GetSpecifiedName()
	if flags.Lookup("rw") != nil && slices.Contains([]string{"r", "ro", "readonly", "read-only"}, name) {
		return "without --rw it is read-only;"
	}
	if unknown.GetSpecifiedShortnames() != "" {
		return ""
	}
	var names, begin []string
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		names = append(names, f.Name)
		if strings.HasPrefix(f.Name, name) {
			begin = append(begin, f.Name)
		}
	})
	near := nearest.Name(name, names)
	if len(begin) == 1 {
		near = begin[0]
	}
	if near == "" {
		return ""
	}
	return "did you mean --" + near + "?"
}
