package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"lorefs/internal/shown"
)

// A command that is interrupted says so once, and exits with exitInterrupted. A command that
// has to clean up or to report something ends when its context does. All others end at once.

// Annotations of commands.
const (
	// endsItself marks commands that handle signals themselves.
	endsItself = "ends itself"
	// goesOn says what goes on after the command has ended. %s stands for its argument, and the
	// blank before it.
	goesOn = "goes on"
)

// stoppedWaiting is what goes on after a command that waits for a save.
const stoppedWaiting = "stopped waiting; the save goes on, lorefs status%s shows it"

// errInterrupted is the error of an interrupted command that has nothing more to say.
var errInterrupted = errors.New("interrupted")

// interruptible makes a command end by itself on a signal.
func interruptible(c *cobra.Command) *cobra.Command {
	run := c.RunE
	annotate(c, endsItself, "true")
	c.RunE = func(c *cobra.Command, args []string) error {
		ctx, stop := untilSignal(c.Context(), wantedSignals()...)
		defer stop()
		c.SetContext(ctx)
		return interrupted(ctx, run(c, args))
	}
	return c
}

func annotate(c *cobra.Command, key, value string) *cobra.Command {
	if c.Annotations == nil {
		c.Annotations = map[string]string{}
	}
	c.Annotations[key] = value
	return c
}

// untilSignal returns a context that ends at the first signal. The second signal ends the
// process, unless somebody else waits for it.
func untilSignal(ctx context.Context, signals ...os.Signal) (_ context.Context, stop context.CancelFunc) {
	ctx, stop = signal.NotifyContext(ctx, signals...)
	context.AfterFunc(ctx, stop)
	return ctx, stop
}

// wantedSignals returns those of stopSignals that the process was not started to ignore:
// nohup(1) ignores SIGHUP.
func wantedSignals() []os.Signal { return slices.DeleteFunc(slices.Clone(stopSignals), signal.Ignored) }

// interrupted replaces the error of a command whose context has ended, unless it is about
// edits: it then tells nothing, or is about temporary files.
func interrupted(ctx context.Context, err error) error {
	if err == nil || ctx.Err() == nil {
		return err
	}
	e := asCommandError(err)
	switch {
	case e.code == exitInterrupted, e.code == exitUnsaved && !errors.Is(err, context.Canceled):
		return err
	case e.code == exitUnsaved:
		return &commandError{code: exitInterrupted, err: errInterrupted, hint: e.hint}
	}
	return &commandError{code: exitInterrupted, err: errInterrupted}
}

// endOnSignal ends the process at the first signal, unless the command handles signals.
func endOnSignal(c *cobra.Command, args []string) {
	if c.Annotations[endsItself] != "" {
		return
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, wantedSignals()...)
	go func() {
		<-signals
		hint := c.Annotations[goesOn]
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
		os.Exit(report(&commandError{code: exitInterrupted, err: errInterrupted, hint: hint}))
	}()
}
