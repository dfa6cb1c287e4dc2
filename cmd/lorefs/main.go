// Command lorefs mounts game archives as ordinary directories, and looks into
// them without a mount. README.md says how to use it.
//
// This package is the only place for what users say and are told: flags, the
// environment, standard output and exit codes. Each subcommand has a file of its own;
// options.go is what flags, -o and the environment have in common, and source.go where
// a path becomes a source, and what is told of one that can't be read. What the kinds of
// sources are is internal/kinds', what a mount answers internal/mounted's, and its life in
// the background internal/daemon's.
package main

import (
	"context"
	"io"
	"os"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"lorefs/internal/shown"
)

// Exit codes. Scripts go by them: they are listed in README.md and do not change.
const (
	exitOK = 0
	// exitFailure: the command could not do all it was asked for, or verify found something.
	exitFailure = 1
	// exitUsage: a wrong flag or argument.
	exitUsage = 2
	// exitSource: the source is not there, is no source that lorefs knows, or is damaged.
	exitSource = 3
	// exitKey: no key that was tried opens the source.
	exitKey = 4
	// exitMountpoint: the mount point cannot be used.
	exitMountpoint = 5
	// exitBusy: the mount is in use and was not unmounted.
	exitBusy = 6
	// exitUnsaved: something was not saved, or edits could not be made again; the message
	// says where that is kept.
	exitUnsaved = 7
	// exitInterrupted: a signal ended the command before it was done.
	exitInterrupted = 130
)

func main() { os.Exit(run(context.Background(), os.Args)) }

// run is main with an exit code.
func run(ctx context.Context, argv []string) int {
	if isMountHelper(argv) {
		return runMountHelper(ctx, argv)
	}
	root := newRoot()
	root.SetArgs(argv[1:])
	return runCommand(ctx, root)
}

// runCommand runs a command and gives the exit code. Nothing of what others wrote reaches the terminal as it is: no message, and, if
// stdout is a terminal, no data.
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

// report says on stderr what went wrong and picks the exit code.
func report(err error) int {
	if err == nil {
		return exitOK
	}
	if text := errorText(err); text != "" {
		shown.Fprintf(os.Stderr, "lorefs: %s\n", text)
	}
	return exitCode(err)
}

// spelling is how a command spells a piece of data, such as a name, that is not to break
// its line: on a terminal as [shown.Text], else as it is.
func spelling(c *cobra.Command) func(string) string {
	if _, terminal := c.OutOrStdout().(*shown.Writer); terminal {
		return shown.Text
	}
	return func(s string) string { return s }
}
