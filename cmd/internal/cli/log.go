package cli

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync/atomic"

	"golang.org/x/term"

	"lorefs/internal/shown"
)

// Quiet says that nothing is shown but results and errors. Bars, which everything may draw, ask
// for it.
var Quiet atomic.Bool

// LogOthers has packages that are not ours log like all others, and only what helps to find mistakes:
// net/http prints what a server has sent unasked. What matters of that is an error as well.
func LogOthers(log *slog.Logger) {
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

// NewLogHandler returns the handler of what is logged to a file or a terminal.
func NewLogHandler(to *os.File, level slog.Leveler) slog.Handler {
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
