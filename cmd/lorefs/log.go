package main

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/spf13/pflag"
	"golang.org/x/term"

	"lorefs/internal/shown"
)

// quiet says that nothing is shown but results and errors. Bars, which everything may draw, ask
// for it.
var quiet atomic.Bool

// logging are the flags for what is logged. They are those of all commands.
type logging struct {
	optionSet
	log     *slog.Logger
	level   slog.LevelVar
	named   string
	verbose int
	quiet   bool
}

// logLevels are the values of --log-level.
var logLevels = []string{"error", "warn", "info", "debug"}

const defaultLevelName = "warn"

func newLogging() *logging {
	l := &logging{named: defaultLevelName}
	l.level.Set(slog.LevelWarn)
	l.log = slog.New(newLogHandler(os.Stderr, &l.level))
	return l
}

func (l *logging) table() []option {
	return []option{{name: "log-level", words: logLevels, value: &l.named, help: "what to log, by its least `level`: " + orList(logLevels)}}
}

func (l *logging) add(flags *pflag.FlagSet) {
	l.addTo(flags, l.table())
	flags.CountVarP(&l.verbose, "verbose", "v", "log more: what is found out, and, if given twice, what only helps to find mistakes")
	flags.BoolVarP(&l.quiet, "quiet", "q", false, "show nothing but results and errors")
}

// begin applies the flags.
func (l *logging) begin() error {
	// A mistake in the file is told by the commands that need it: others have to work, so that
	// a mount can be unmounted whatever is in there.
	_ = l.settle("", "")
	if !slices.Contains(logLevels, l.named) {
		return usageErrorf("%s %q is unknown: want %s", l.spelled("log-level"), l.named, orList(logLevels))
	}
	if l.quiet && (l.verbose > 0 || l.given("log-level")) {
		return usageErrorf("--quiet goes with neither --verbose nor --log-level")
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
	logOthers(l.log)
	quiet.Store(l.quiet)
	return nil
}

// logOthers has packages that are not ours log like all others, and only what helps to find mistakes:
// net/http prints what a server has sent unasked. What matters of that is an error as well.
func logOthers(log *slog.Logger) {
	slog.SetLogLoggerLevel(slog.LevelDebug)
	slog.SetDefault(log)
}

// logHandler writes for people as long as they look, like all other messages, and otherwise
// with times and names, as programs read it: the log of a mount may go to a terminal first and
// then to a file.
type logHandler struct {
	slog.Handler // for files
	to           *os.File
	attrs        []slog.Attr
}

func newLogHandler(to *os.File, level slog.Leveler) slog.Handler {
	return &logHandler{Handler: slog.NewTextHandler(to, &slog.HandlerOptions{Level: level}), to: to}
}

// Handle implements [slog.Handler].
func (h *logHandler) Handle(ctx context.Context, r slog.Record) error {
	if !term.IsTerminal(int(h.to.Fd())) {
		return h.Handler.Handle(ctx, r)
	}
	return writeLog(h.to, r, h.attrs)
}

// WithAttrs implements [slog.Handler].
func (h *logHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &logHandler{h.Handler.WithAttrs(attrs), h.to, slices.Concat(h.attrs, attrs)}
}

// WithGroup implements [slog.Handler]. People see no groups.
func (h *logHandler) WithGroup(name string) slog.Handler {
	return &logHandler{h.Handler.WithGroup(name), h.to, h.attrs}
}

// writeLog writes a line for people: what happened, why, and the rest in parentheses.
func writeLog(w io.Writer, r slog.Record, attrs []slog.Attr) error {
	var why string
	var rest []string
	add := func(a slog.Attr) bool {
		text := shown.Text(strings.ReplaceAll(a.Value.Resolve().String(), "\n", "; "))
		if a.Key == "err" {
			why = ": " + text
		} else {
			rest = append(rest, a.Key+" "+text)
		}
		return true
	}
	for _, a := range attrs {
		add(a)
	}
	r.Attrs(add)
	var line bytes.Buffer
	line.WriteString("lorefs: ")
	if r.Level < slog.LevelInfo {
		line.WriteString("debug: ")
	}
	line.WriteString(shown.Text(r.Message) + why)
	if rest != nil {
		line.WriteString(" (" + strings.Join(rest, ", ") + ")")
	}
	line.WriteString("\n")
	_, err := w.Write(line.Bytes())
	return err
}
