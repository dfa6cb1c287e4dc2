package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/signal"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"lorefs/cmd/internal/cli"
	"lorefs/cmd/internal/daemon"
	"lorefs/cmd/internal/help"
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
