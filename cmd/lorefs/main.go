// Command lorefs mounts game archives as ordinary directories, and reads them without a
// mount. README.md describes how to use it.
//
// Only this package deals with users: with flags, the environment, standard output and exit
// codes. Each subcommand has a file of its own. options.go has the table behind flags, -o
// and the environment. source.go opens sources, and explains why one can't be read. Package
// internal/app/kinds knows the kinds of sources, internal/app/mounted what a mount answers, and
// internal/app/daemon how a mount lives in the background.
package main

import (
	"context"
	"io"
	"os"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"lorefs/internal/shown"
)

// Exit codes. README.md lists them. Scripts rely on them, so they don't change.
const (
	exitOK = 0
	// exitFailure means that the command could not do everything, or verify found something.
	exitFailure = 1
	// exitUsage means a wrong flag or argument.
	exitUsage = 2
	// exitSource means that the source does not exist, is of no known kind, or is damaged.
	exitSource = 3
	// exitKey means that none of the keys opens the source.
	exitKey = 4
	// exitMountpoint means that the mount point can't be used.
	exitMountpoint = 5
	// exitBusy means that the mount is in use and was not unmounted.
	exitBusy = 6
	// exitUnsaved means that something was not saved, or edits could not be replayed. The
	// message says where they are kept.
	exitUnsaved = 7
	// exitInterrupted means that a signal ended the command early.
	exitInterrupted = 130
)

func main() { os.Exit(run(context.Background(), os.Args)) }

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
	stdout := shown.NewWriter(io.Discard)
	if term.IsTerminal(int(os.Stdout.Fd())) {
		stdout = shown.NewWriter(os.Stdout)
		c.SetOut(stdout)
	}
	err := c.ExecuteContext(ctx)
	if closeErr := stdout.Close(); err == nil {
		err = closeErr
	}
	return report(err)
}

// report prints an error on stderr and returns the exit code.
func report(err error) int {
	if err == nil {
		return exitOK
	}
	if text := errorText(err); text != "" {
		shown.Fprintf(os.Stderr, "lorefs: %s\n", text)
	}
	return exitCode(err)
}

// spelling returns the function by which a command spells data that must not break its line,
// such as a name: by [shown.Text] on a terminal, and otherwise unchanged.
func spelling(c *cobra.Command) func(string) string {
	if _, terminal := c.OutOrStdout().(*shown.Writer); terminal {
		return shown.Text
	}
	return func(s string) string { return s }
}
