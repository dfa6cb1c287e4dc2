package cli

import (
	"cmp"
	"errors"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"lorefs/internal/shown"
)

// Stdout is standard output. It remembers its first error: a command that could not print
// has failed, also if it does not look at what printing returns, as help does not.
type Stdout struct {
	to io.Writer
	// closed says that the process was started without a standard output.
	closed bool
	// Err is the first error.
	Err error
}

// errClosed is the error of a standard output that is closed.
var errClosed = errors.New("standard output is closed: nothing could be printed")

// Write implements [io.Writer].
func (o *Stdout) Write(p []byte) (n int, err error) {
	switch {
	case len(p) == 0:
		return 0, nil
	case o.closed:
		err = errClosed
	default:
		n, err = o.to.Write(p)
	}
	o.Err = cmp.Or(o.Err, err)
	return n, err
}

// Report prints an error on stderr and returns the exit code.
func Report(err error) int {
	if err == nil {
		return ExitOK
	}
	_ = PrintError(os.Stderr, err) // there is no other place to say so
	return ExitCode(err)
}

// PrintError prints an error for users, if it has a text.
func PrintError(w io.Writer, err error) error {
	text := ErrorText(err)
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

// Spelling returns the function by which a command spells data that must not break its line,
// such as a name: by [shown.Text] on a terminal, and otherwise unchanged.
func Spelling(c *cobra.Command) func(string) string {
	if _, terminal := c.OutOrStdout().(*shown.Writer); terminal {
		return shown.Text
	}
	return func(s string) string { return s }
}

// NewStdout returns the standard output of the process.
func NewStdout() *Stdout { return &Stdout{to: os.Stdout, closed: stdoutClosed()} }

// ToldError reports an error and lets the command go on.
func ToldError(c *cobra.Command, err error) error {
	return PrintError(c.ErrOrStderr(), err)
}
