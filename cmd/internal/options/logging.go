package options

import (
	"log/slog"
	"os"
	"slices"

	"github.com/spf13/pflag"

	"lorefs/cmd/internal/cli"
)

// Logging are the flags for what is logged. They are those of all commands.
type Logging struct {
	Set
	Log     *slog.Logger
	level   slog.LevelVar
	named   string
	verbose int
	quiet   bool
}

// logLevels are the values of --log-level.
var logLevels = []string{"error", "warn", "info", "debug"}

const defaultLevelName = "warn"

// NewLogging returns the flags, and the log that they are about.
func NewLogging() *Logging {
	l := &Logging{named: defaultLevelName}
	l.level.Set(slog.LevelWarn)
	l.Log = slog.New(cli.NewLogHandler(os.Stderr, &l.level))
	return l
}

func (l *Logging) table() []Option {
	return []Option{{Name: "log-level", Words: logLevels, Value: &l.named, Help: "what to log, by its least `level`: " + cli.OrList(logLevels)}}
}

// Add adds the flags to those of a command.
func (l *Logging) Add(flags *pflag.FlagSet) {
	l.AddTo(flags, l.table())
	flags.CountVarP(&l.verbose, "verbose", "v", "log more: what is found out, and, if given twice, what only helps to find mistakes")
	flags.BoolVarP(&l.quiet, "quiet", "q", false, "show nothing but results and errors")
}

// Begin applies the flags.
func (l *Logging) Begin() error {
	// A mistake in the file is told by the commands that need it: others have to work, so that
	// a mount can be unmounted whatever is in there.
	_ = l.Settle("", "")
	if !slices.Contains(logLevels, l.named) {
		return cli.UsageErrorf("%s %q is unknown: want %s", l.spelled("log-level"), l.named, cli.OrList(logLevels))
	}
	if l.quiet && (l.verbose > 0 || l.Given("log-level")) {
		return cli.UsageErrorf("--quiet goes with neither --verbose nor --log-level")
	}
	levels := []slog.Level{slog.LevelError, slog.LevelWarn, slog.LevelInfo, slog.LevelDebug}
	level := levels[slices.Index(logLevels, l.named)]
	switch {
	case l.quiet:
		level = slog.LevelError
	case l.verbose == 1:
		level = min(level, slog.LevelInfo)
	case l.verbose > 1:
		level = slog.LevelDebug
	}
	l.level.Set(level)
	cli.LogOthers(l.Log)
	cli.Quiet.Store(l.quiet)
	return nil
}
