// Command lorefs mounts game archives as ordinary directories, and reads them without a
// mount. The guides in cmd/internal/manual describe how to use it.
//
// Only this package deals with users: with flags, the environment, standard output and exit
// codes. Each subcommand has a file of its own. options.go has the table behind flags, -o,
// the environment and the file of settings (settings.go), the help (help.go) and completion
// (completion.go). mountof.go finds mounts by paths, and mountread.go opens what is mounted.
// source.go opens sources, and explains why one can't be read. Package cmd/internal/kinds knows
// the kinds of sources, cmd/internal/mounted what a mount answers, and cmd/internal/daemon how a
// mount lives in the background.
package main

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"lorefs/cmd/internal/daemon"
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
	out := &stdout{to: os.Stdout, closed: stdoutClosed()}
	c.SetOut(out)
	screen := shown.NewWriter(out)
	if term.IsTerminal(int(os.Stdout.Fd())) {
		c.SetOut(screen)
	}
	if c.HasSubCommands() {
		refuseUnknown(c)
	}
	err := c.ExecuteContext(ctx)
	return report(cmp.Or(err, screen.Close(), out.err))
}

// stdout is standard output. It remembers its first error: a command that could not print
// has failed, also if it does not look at what printing returns, as help does not.
type stdout struct {
	to io.Writer
	// closed says that the process was started without a standard output.
	closed bool
	err    error
}

// errClosed is the error of a standard output that is closed.
var errClosed = errors.New("standard output is closed: nothing could be printed")

// Write implements [io.Writer].
func (o *stdout) Write(p []byte) (n int, err error) {
	switch {
	case len(p) == 0:
		return 0, nil
	case o.closed:
		err = errClosed
	default:
		n, err = o.to.Write(p)
	}
	o.err = cmp.Or(o.err, err)
	return n, err
}

// report prints an error on stderr and returns the exit code.
func report(err error) int {
	if err == nil {
		return exitOK
	}
	_ = printError(os.Stderr, err) // there is no other place to say so
	return exitCode(err)
}

// printError prints an error for users, if it has a text.
func printError(w io.Writer, err error) error {
	text := errorText(err)
	if text == "" {
		return nil
	}
	first, more, _ := strings.Cut(text, "\n")
	_, err = shown.Fprintf(w, "lorefs: %s\n", first)
	for line := range strings.Lines(more) {
		_, lineErr := shown.Fprintf(w, "%s\n", strings.TrimSuffix(line, "\n"))
		err = cmp.Or(err, lineErr)
	}
	return err
}

// spelling returns the function by which a command spells data that must not break its line,
// such as a name: by [shown.Text] on a terminal, and otherwise unchanged.
func spelling(c *cobra.Command) func(string) string {
	if _, terminal := c.OutOrStdout().(*shown.Writer); terminal {
		return shown.Text
	}
	return func(s string) string { return s }
}
