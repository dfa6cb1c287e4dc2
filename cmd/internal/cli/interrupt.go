package cli

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"slices"
	"syscall"

	"github.com/spf13/cobra"
)

// A command that is interrupted says so once, and exits with ExitInterrupted. A command that
// has to clean up or to report something ends when its context does. All others end at once.

// Annotations of commands.
const (
	// EndsItself marks commands that handle signals themselves.
	EndsItself = "ends itself"
	// GoesOn says what goes on after the command has ended. %s stands for its argument, and the
	// blank before it.
	GoesOn = "goes on"
)

// StoppedWaiting says what goes on after a command that waited for a save.
const StoppedWaiting = "stopped waiting; the save goes on, lorefs status%s shows it"

// ErrInterrupted is the error of an interrupted command that has nothing more to say.
var ErrInterrupted = errors.New("interrupted")

// Interruptible makes a command end by itself on a signal.
func Interruptible(c *cobra.Command) *cobra.Command {
	run := c.RunE
	Annotate(c, EndsItself, "true")
	c.RunE = func(c *cobra.Command, args []string) error {
		ctx, stop := UntilSignal(c.Context(), WantedSignals()...)
		defer stop()
		c.SetContext(ctx)
		return Interrupted(ctx, run(c, args))
	}
	return c
}

// Annotate gives a command an annotation.
func Annotate(c *cobra.Command, key, value string) *cobra.Command {
	if c.Annotations == nil {
		c.Annotations = map[string]string{}
	}
	c.Annotations[key] = value
	return c
}

// UntilSignal returns a context that ends at the first signal. The second signal ends the
// process, unless somebody else waits for it.
func UntilSignal(ctx context.Context, signals ...os.Signal) (_ context.Context, stop context.CancelFunc) {
	ctx, stop = signal.NotifyContext(ctx, signals...)
	context.AfterFunc(ctx, stop)
	return ctx, stop
}

// WantedSignals returns those of StopSignals that the process was not started to ignore:
// nohup(1) ignores SIGHUP.
func WantedSignals() []os.Signal { return slices.DeleteFunc(slices.Clone(StopSignals), signal.Ignored) }

// Interrupted replaces the error of a command whose context has ended, unless it is about
// edits: it then tells nothing, or is about temporary files.
func Interrupted(ctx context.Context, err error) error {
	if err == nil || ctx.Err() == nil {
		return err
	}
	e := AsError(err)
	switch {
	case e.Code == ExitInterrupted, e.Code == ExitUnsaved && !errors.Is(err, context.Canceled):
		return err
	case e.Code == ExitUnsaved:
		return &Error{Code: ExitInterrupted, Err: ErrInterrupted, Hint: e.Hint}
	}
	return &Error{Code: ExitInterrupted, Err: ErrInterrupted}
}

// StopSignals are the signals that end a mount.
var StopSignals = []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP}
