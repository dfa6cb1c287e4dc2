package main

import (
	"log/slog"
	"os"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// newRoot returns the command line. Nothing of it is global, so tests may have several.
func newRoot() *cobra.Command {
	verbose := false
	level := new(slog.LevelVar)
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: level}))
	level.Set(slog.LevelWarn)
	root := &cobra.Command{
		Use:   "lorefs",
		Short: "mount game archives as directories",
		Long: `lorefs mounts game archives as ordinary directories, so that ls, grep, find,
rsync, editors and scripts work on them. It knows TERA data centers
(DataCenter_Final_*.dat), which can be edited as well, world geometry, recorded
sessions and packet definitions, and CASC storages.

Exit codes: 0 done; 1 not all was done, or verify found something; 2 wrong flag
or argument; 3 the source can't be read; 4 no key opens it; 5 the mount point
can't be used; 6 the mount, or the source, is in use; 7 something was not saved:
the message says where it is kept; 130 interrupted by SIGINT, SIGTERM or SIGHUP.`,
		Version:       version(),
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          cobra.ArbitraryArgs,
		// Names that differ by two letters are suggested.
		SuggestionsMinimumDistance: 2,
		PersistentPreRun: func(c *cobra.Command, args []string) {
			if verbose {
				level.Set(slog.LevelDebug)
			}
			endOnSignal(c, args)
		},
		RunE: runRoot,
	}
	root.PersistentFlags().BoolVarP(&verbose, "verbose", "v", false, "print more on stderr")
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return &commandError{code: exitUsage, err: err, hint: "see " + c.CommandPath() + " --help"}
	})
	root.AddCommand(
		annotate(newMount(log), endsItself, "true"),
		annotate(newUnmount(), goesOn, "the unmount goes on, with the save of what was edited; lorefs status %s shows how far that is"),
		annotate(newCommit(), goesOn, "the save goes on; lorefs status %s shows how far it is"),
		newStatus(), interruptible(newEdits(log)), interruptible(newRevert(log)), newJournal(log),
		newInfo(log), newLs(log), newCat(log), interruptible(newFind(log)), interruptible(newQuery(log)), interruptible(newDiff(log)),
		interruptible(newApply(log)),
		interruptible(newExport(log)), interruptible(newVerify(log)), interruptible(newPack(log)),
		interruptible(newRepack(log)), interruptible(newValidate(log)), interruptible(newSchema(log)),
		interruptible(newBench(log)), newSample(), newDecode(), newEncode(), newMan(),
	)
	return root
}

// runRoot runs if the first argument is no subcommand.
func runRoot(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return c.Help()
	}
	hint := "see lorefs --help"
	if near := c.SuggestionsFor(args[0]); len(near) > 0 {
		hint = "did you mean " + near[0] + "?"
	}
	return &commandError{code: exitUsage, hint: hint, err: usageErrorf("unknown command %q", args[0])}
}

// version returns the version of the module or, in a checkout, the commit.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	v := info.Main.Version
	if v == "" {
		v = "(devel)"
	}
	return v + " " + info.GoVersion
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
