package main

import (
	"errors"
	"runtime"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"lorefs/internal/jsonout"
	"lorefs/internal/shown"
)

// newRoot returns the command line. Nothing of it is global, so tests may have several.
func newRoot() *cobra.Command {
	logging := newLogging()
	log := logging.log
	root := &cobra.Command{
		Use:   "lorefs COMMAND",
		Short: "mount game archives as directories",
		Long: `lorefs mounts game archives as ordinary directories, so that ls, grep, find,
rsync, editors and scripts work on them.

It knows the archives of TERA, such as DataCenter_Final_*.dat, most of which you can
edit, and CASC storages, in which games of Blizzard keep their files. The guides tell
about each kind.`,
		Version:       version() + " " + runtime.Version(),
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          cobra.ArbitraryArgs,
		PersistentPreRunE: func(c *cobra.Command, args []string) error {
			endOnSignal(c, args)
			return logging.begin()
		},
		RunE: runParent,
	}
	logging.add(root.PersistentFlags())
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		hint := "see " + c.CommandPath() + " --help"
		if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok {
			hint = strings.TrimSpace(nearFlag(c.Flags(), unknown) + " " + hint)
		}
		return &commandError{code: exitUsage, err: flagError(err), hint: hint}
	})
	root.AddCommand(
		annotate(newMount(log), endsItself, "true"),
		annotate(newUnmount(), goesOn, stoppedWaiting),
		annotate(newCommit(), goesOn, stoppedWaiting),
		newStatus(), interruptible(newEdits(log)), interruptible(newRevert(log)), newJournal(log),
		newInfo(log), newLs(log), newCat(log), interruptible(newFind(log)), interruptible(newQuery(log)), interruptible(newDiff(log)),
		interruptible(newApply(log)),
		interruptible(newExport(log)), interruptible(newFetch(log)), interruptible(newVerify(log)), interruptible(newPack(log)),
		interruptible(newRepack(log)), interruptible(newValidate(log)), interruptible(newSchema(log)),
		newSample(), newDecode(log), newEncode(), newMan(),
		newVersion(), newJSONSchema(),
	)
	root.AddCommand(newGuides()...)
	groupCommands(root)
	addExamples(root)
	addCompletions(root)
	root.SetHelpFunc(printHelp)
	return root
}

// refuseUnknown makes cobra's own commands refuse what they do not know, instead of printing
// help, and describes completion as the other commands are. It comes after SetOut: cobra gives
// completion the output of that moment.
func refuseUnknown(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		switch c.Name() {
		case "help":
			c.RunE, c.ValidArgsFunction = runHelp, completeHelp
		case "completion":
			c.Short = "print completions for a shell"
			c.Long = "completion prints a script by which a shell completes the arguments of lorefs. The help of each\nshell's command says where to put it."
			c.Args, c.RunE = cobra.ArbitraryArgs, runParent
		}
	}
}

// runParent runs a command that only has subcommands, if the first argument is none of them.
func runParent(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return c.Help()
	}
	hint := "see " + c.CommandPath() + " --help"
	if near := nearCommand(c, args[0]); near != "" {
		hint = "did you mean " + near + "?"
	}
	name := args[0]
	if c.HasParent() {
		name = c.Name() + " " + name
	}
	return &commandError{code: exitUsage, hint: hint, err: usageErrorf("unknown command %q", name)}
}

// runHelp prints the help of a command. cobra's own prints that of lorefs for a command that
// does not exist.
func runHelp(c *cobra.Command, args []string) error {
	of, rest, err := c.Root().Find(args)
	if err != nil {
		return usageErrorf("%w", err)
	}
	if len(rest) > 0 && of.HasSubCommands() {
		return runParent(of, rest)
	}
	if len(rest) > 0 {
		return atMostArgs(0)(of, rest)
	}
	of.InitDefaultHelpFlag()
	return of.Help()
}

func newVersion() *cobra.Command {
	asJSON := false
	c := &cobra.Command{
		Use:   "version",
		Short: "print the version",
		Args:  exactArgs(),
		RunE: func(c *cobra.Command, _ []string) error {
			if asJSON {
				return jsonout.Object(c.OutOrStdout(), jsonVersion{version(), runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH})
			}
			_, err := shown.Fprintf(c.OutOrStdout(), "lorefs version %s %s\n", version(), runtime.Version())
			return err
		},
	}
	addJSON(c, &asJSON, oneObject)
	return c
}

// jsonVersion is the version as --json prints it.
type jsonVersion struct {
	// Version is that of lorefs, Go that of the compiler, and System what it runs on.
	Version string `json:"version"`
	Go      string `json:"go"`
	System  string `json:"system"`
}

// exactArgs requires one argument for each name.
func exactArgs(names ...string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) < len(names) {
			return &commandError{
				code: exitUsage, hint: "usage: " + c.UseLine(),
				err: usageErrorf("%s: %s is missing", c.Name(), names[len(args)]),
			}
		}
		return atMostArgs(len(names))(c, args)
	}
}

func atMostArgs(n int) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) > n {
			return &commandError{
				code: exitUsage, hint: "usage: " + c.UseLine(),
				err: usageErrorf("%s: one argument too many: %q", c.Name(), args[n]),
			}
		}
		return nil
	}
}
