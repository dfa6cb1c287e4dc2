package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"lorefs/cmd/internal/cli"
	"lorefs/cmd/internal/daemon"
	"lorefs/cmd/internal/help"
	"lorefs/cmd/internal/kinds/registry"
	"lorefs/cmd/internal/mods"
	"lorefs/cmd/internal/options"
	"lorefs/cmd/internal/refs"
	"lorefs/cmd/internal/serving"
	"lorefs/internal/shown"
)

func main() { os.Exit(run(context.Background(), daemon.Args())) }

// run runs lorefs, or a mount helper, and returns the exit code.
func run(ctx context.Context, argv []string) int {
	if isMountHelper(argv) {
		return runMountHelper(ctx, argv)
	}
	root := newRoot()
	root.SetArgs(argv[1:])
	return runCommand(ctx, root)
}

// runCommand runs a command and returns the exit code. Messages never reach the terminal
// unescaped, nor does data if stdout is a terminal: both may hold what others wrote.
func runCommand(ctx context.Context, c *cobra.Command) int {
	c.SetErr(shown.NewWriter(os.Stderr))
	out := cli.NewStdout()
	c.SetOut(out)
	screen := shown.NewWriter(out)
	if term.IsTerminal(int(os.Stdout.Fd())) {
		c.SetOut(screen)
	}
	if c.HasSubCommands() {
		help.RefuseUnknown(c)
	}
	err := c.ExecuteContext(ctx)
	return cli.Report(cmp.Or(err, screen.Close(), out.Err))
}

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
			if first, _, _ := strings.Cut(strings.TrimPrefix(c.Use, c.Name()+" "), " "); len(args) > 0 && strings.Contains(first, "SOURCE") {
				args[0] = registry.Meant(args[0]) // RunE gets the same arguments
			}
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
		cli.Interruptible(newApply(log)), cli.Interruptible(mods.NewBuild(log)), mods.NewPatch(), cli.Interruptible(newSet(log)), cli.Interruptible(newUnset(log)), cli.Interruptible(newAdd(log)), cli.Interruptible(newRemove(log)),
		cli.Interruptible(newExport(log)), cli.Interruptible(newFetch(log)), cli.Interruptible(newVerify(log)), cli.Interruptible(newPack(log)),
		cli.Interruptible(newRepack(log)), cli.Interruptible(newValidate(log)), cli.Interruptible(newSchema(log)),
		serving.New(log), cli.Interruptible(refs.New(log)), newSample(), newDecode(log), newEncode(), newMan(),
		newVersion(), cli.NewJSONSchema(),
	)
	root.AddCommand(help.NewGuides()...)
	help.GroupCommands(root)
	help.AddExamples(root)
	help.AddCompletions(root)
	root.SetHelpFunc(help.PrintHelp)
	return root
}

// endOnSignal ends the process at the first signal, unless the command handles signals.
func endOnSignal(c *cobra.Command, args []string) {
	if c.Annotations[cli.EndsItself] != "" {
		return
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, cli.WantedSignals()...)
	go func() {
		<-signals
		hint := c.Annotations[cli.GoesOn]
		if hint != "" {
			of := ""
			if len(args) > 0 {
				of = " " + shown.Shell(args[0])
			}
			hint = fmt.Sprintf(hint, of)
		}
		if term.IsTerminal(int(os.Stderr.Fd())) {
			fmt.Fprintln(os.Stderr) // a bar may be there
		}
		os.Exit(cli.Report(&cli.Error{Code: cli.ExitInterrupted, Err: cli.ErrInterrupted, Hint: hint}))
	}()
}
