package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"slices"

	"github.com/spf13/cobra"
)

// Who interrupts a command is told so once, and its exit code is exitInterrupted. A command
// that has something to put in order, or to tell, ends by itself when its context is done;
// all others end at once.

// Annotations of commands.
const (
	// endsItself marks those that look at signals themselves.
	endsItself = "ends itself"
	// goesOn is what goes on although the command has ended.
	goesOn = "goes on"
)

// errInterrupted is the error of a command of which there is no more to tell.
var errInterrupted = errors.New("interrupted")

// interruptible lets a command end by itself on a signal.
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

// untilSignal gives a context that is done with the first signal. The second ends the
// process, unless somebody else waits for it.
func untilSignal(ctx context.Context, signals ...os.Signal) (_ context.Context, stop context.CancelFunc) {
	ctx, stop = signal.NotifyContext(ctx, signals...)
	context.AfterFunc(ctx, stop)
	return ctx, stop
}

// wantedSignals are those of stopSignals that whoever started the program wants it to get:
// nohup(1) does not want SIGHUP.
func wantedSignals() []os.Signal { return slices.DeleteFunc(slices.Clone(stopSignals), signal.Ignored) }

// interrupted is the error of a command that ended with err, if its context is done. What
// it was about is of no use then, or temporary, unless it tells of edits.
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

// endOnSignal ends the process with the first signal, unless the command ends itself.
func endOnSignal(c *cobra.Command) {
	if c.Annotations[endsItself] != "" {
		return
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, wantedSignals()...)
	go func() {
		<-signals
		os.Exit(report(&commandError{code: exitInterrupted, err: errInterrupted, hint: c.Annotations[goesOn]}))
	}()
}
