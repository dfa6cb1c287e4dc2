// Package colors colours lines of edits, differences and patches by their first character, as diff and
// git do: removed, added, changed, and the heads of a patch's parts.
package colors

import (
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"lorefs/internal/shown"
)

// When says when output is coloured. It is the value of --color.
type When string

// The values.
const (
	Auto   When = "auto" // on a terminal, unless NO_COLOR is set
	Always When = "always"
	Never  When = "never"
)

// String implements [pflag.Value].
func (w *When) String() string { return string(*w) }

// Type implements [pflag.Value].
func (w *When) Type() string { return "when" }

// Set implements [pflag.Value].
func (w *When) Set(s string) error {
	switch v := When(s); v {
	case Auto, Always, Never:
		*w = v
		return nil
	}
	return fmt.Errorf("want %s, %s or %s", Auto, Always, Never)
}

// Add adds --color to a command.
func Add(c *cobra.Command, to *When) {
	*to = Auto
	c.Flags().Var(to, "color", "colour lines: auto (on a terminal, unless NO_COLOR is set), always or never")
	_ = c.RegisterFlagCompletionFunc("color", cobra.FixedCompletions(
		[]string{string(Auto), string(Always), string(Never)}, cobra.ShellCompDirectiveNoFileComp))
}

// Use colours what a command prints from now on, if it should be coloured.
func (w When) Use(c *cobra.Command) {
	screen, isTerminal := c.OutOrStdout().(*shown.Writer)
	if !w.wanted(isTerminal) {
		return
	}
	if isTerminal {
		screen.Through(New) // colours come behind the escaping, which would take them for what others wrote
		return
	}
	c.SetOut(New(c.OutOrStdout()))
}

func (w When) wanted(isTerminal bool) bool {
	switch w {
	case Always:
		return true
	case Never:
		return false
	}
	// See no-color.org: any text but an empty one.
	return isTerminal && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && understood()
}

// understood reports whether the terminal takes colours. On Windows it has to be told that there are some.
func understood() bool {
	return term.IsTerminal(int(os.Stdout.Fd())) && prepare(os.Stdout) == nil
}

// writer colours lines.
type writer struct {
	to io.Writer
	// inLine says that a line has begun, and colored that its end takes the colour back.
	inLine, colored bool
	buf             []byte
}

// New makes a writer that colours the lines written to it.
func New(to io.Writer) io.Writer { return &writer{to: to} }

// of returns how a line begins on the terminal that begins with a character, or nothing.
func of(first byte) string {
	switch first {
	case '-':
		return "\x1b[31m" // red
	case '+':
		return "\x1b[32m" // green
	case '~':
		return "\x1b[33m" // yellow
	case '@':
		return "\x1b[36m" // cyan
	case '?':
		return "\x1b[35m" // magenta
	}
	return ""
}

const plain = "\x1b[0m"

// Write implements [io.Writer].
func (w *writer) Write(p []byte) (int, error) {
	w.buf = w.buf[:0]
	for _, b := range p {
		switch {
		case b == '\n':
			if w.colored {
				w.buf = append(w.buf, plain...)
			}
			w.inLine, w.colored = false, false
		case !w.inLine:
			color := of(b)
			w.buf = append(w.buf, color...)
			w.inLine, w.colored = true, color != ""
		}
		w.buf = append(w.buf, b)
	}
	if _, err := w.to.Write(w.buf); err != nil {
		return 0, err
	}
	return len(p), nil
}
