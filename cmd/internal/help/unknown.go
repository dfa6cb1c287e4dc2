package help

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"lorefs/cmd/internal/cli"
	"lorefs/cmd/internal/nearest"
)

// otherWords are commands of other programs for what these of ours do.
var otherWords = map[string][]string{
	"apply":   {"patch", "merge", "import"},
	"commit":  {"save", "write", "sync"},
	"edits":   {"log", "changes"},
	"export":  {"unpack", "extract", "dump"},
	"find":    {"search", "locate", "glob"},
	"info":    {"show", "stat"},
	"ls":      {"list", "dir"},
	"mount":   {"open"},
	"query":   {"grep", "select", "xpath"},
	"remove":  {"delete", "del", "rm"},
	"repack":  {"compress", "convert"},
	"revert":  {"undo", "reset", "restore", "discard"},
	"set":     {"edit", "change", "put", "replace", "scale"},
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

// NearFlag says which flag an unknown one is most likely meant to be. It is empty if none is near.
func NearFlag(flags *pflag.FlagSet, unknown *pflag.NotExistError) string {
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

// RefuseUnknown makes cobra's own commands refuse what they do not know, instead of printing
// help, and describes completion as the other commands are. It comes after SetOut: cobra gives
// completion the output of that moment.
func RefuseUnknown(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		switch c.Name() {
		case "help":
			c.RunE, c.ValidArgsFunction = runHelp, completeHelp
		case "completion":
			c.Short = "print completions for a shell"
			c.Long = "completion prints a script by which a shell completes the arguments of lorefs. The help of each\nshell's command says where to put it."
			c.Args, c.RunE = cobra.ArbitraryArgs, RunParent
		}
	}
}

// RunParent runs a command that only has subcommands, if the first argument is none of them.
func RunParent(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return c.Help()
	}
	hint := "see " + c.CommandPath() + " --help"
	near := nearCommand(c, args[0])
	name := args[0]
	if c.HasParent() {
		for command, words := range otherWords { // lorefs patch FILE: its name is one of theirs
			if near == "" && slices.Contains(words, c.Name()) {
				near = command
			}
		}
		name = c.Name() + " " + name
	}
	if near != "" {
		hint = "did you mean " + near + "?"
	}
	return &cli.Error{Code: cli.ExitUsage, Hint: hint, Err: cli.UsageErrorf("unknown command %q", name)}
}

// runHelp prints the help of a command. cobra's own prints that of lorefs for a command that
// does not exist.
func runHelp(c *cobra.Command, args []string) error {
	of, rest, err := c.Root().Find(args)
	if err != nil {
		return cli.UsageErrorf("%w", err)
	}
	if len(rest) > 0 && of.HasSubCommands() {
		return RunParent(of, rest)
	}
	if len(rest) > 0 {
		return cli.AtMostArgs(0)(of, rest)
	}
	of.InitDefaultHelpFlag()
	return of.Help()
}
