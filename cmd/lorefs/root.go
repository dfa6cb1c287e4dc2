package main

import (
	"errors"
	"runtime"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"lorefs/cmd/internal/cli"
	"lorefs/cmd/internal/help"
	"lorefs/cmd/internal/options"
)

// newRoot returns the command line. Nothing of it is global, so tests may have several.
func newRoot() *cobra.Command {
	logging := options.NewLogging()
	log := logging.Log
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
			return logging.Begin()
		},
		RunE: help.RunParent,
	}
	logging.Add(root.PersistentFlags())
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		hint := "see " + c.CommandPath() + " --help"
		if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok {
			hint = strings.TrimSpace(help.NearFlag(c.Flags(), unknown) + " " + hint)
		}
		return &cli.Error{Code: cli.ExitUsage, Err: cli.FlagError(err), Hint: hint}
	})
	root.AddCommand(
		cli.Annotate(newMount(log), cli.EndsItself, "true"),
		cli.Annotate(newUnmount(), cli.GoesOn, cli.StoppedWaiting),
		cli.Annotate(newCommit(), cli.GoesOn, cli.StoppedWaiting),
		newStatus(), cli.Interruptible(newEdits(log)), cli.Interruptible(newRevert(log)), newJournal(log),
		newInfo(log), newLs(log), newCat(log), cli.Interruptible(newFind(log)), cli.Interruptible(newQuery(log)), cli.Interruptible(newDiff(log)),
		cli.Interruptible(newApply(log)),
		cli.Interruptible(newExport(log)), cli.Interruptible(newFetch(log)), cli.Interruptible(newVerify(log)), cli.Interruptible(newPack(log)),
		cli.Interruptible(newRepack(log)), cli.Interruptible(newValidate(log)), cli.Interruptible(newSchema(log)),
		newSample(), newDecode(log), newEncode(), newMan(),
		newVersion(), cli.NewJSONSchema(),
	)
	root.AddCommand(help.NewGuides()...)
	help.GroupCommands(root)
	help.AddExamples(root)
	help.AddCompletions(root)
	root.SetHelpFunc(help.PrintHelp)
	return root
}
