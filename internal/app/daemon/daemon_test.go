package daemon_test

import (
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"lorefs/internal/app/daemon"
)

type said struct {
	Error string `json:"error,omitempty"`
	Text  string `json:"text,omitempty"`
}

func reading(a *said) func(*daemon.Line) error {
	return func(l *daemon.Line) error { return l.Next(a) }
}

// listening returns a mount that answers requests, and its name.
func listening(t *testing.T, beside string, handle daemon.Handler) (*daemon.Control, string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("nothing is mounted on Windows")
	}
	// The path of a socket must be short.
	state, err := os.MkdirTemp("", "lorefs-") //nolint:usetesting // as said
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(state) })
	t.Setenv("XDG_STATE_HOME", state)
	name, err := daemon.Name(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	c, err := daemon.Listen(name, beside, handle, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return c, name
}

// TestTalk checks that a client whose unmount is granted gets the result, and all others
// get one answer.
func TestTalk(t *testing.T) {
	c, name := listening(t, "/beside", func(r daemon.Request) ([]any, bool) {
		return []any{said{Text: r.Do}}, r.Do == daemon.Unmount
	})
	ask := func(do string) *daemon.Line {
		var a said
		line, err := daemon.Talk(name, daemon.Request{Do: do}, reading(&a))
		if err != nil || a.Text != do {
			t.Fatalf("%s: %q, %v", do, a.Text, err)
		}
		t.Cleanup(func() { line.Close() })
		return line
	}
	var a said
	if err := ask(daemon.Status).Next(&a); !errors.Is(err, io.EOF) {
		t.Errorf("after the answer to a status comes %q, %v", a.Text, err)
	}
	granted := ask(daemon.Unmount)
	if err := c.Close(said{Text: "saved"}); err != nil {
		t.Fatal(err)
	}
	if err := granted.Next(&a); err != nil || a.Text != "saved" {
		t.Errorf("after a granted unmount comes %q, %v", a.Text, err)
	}
	if _, err := daemon.Talk(name, daemon.Request{Do: daemon.Status}, reading(&a)); !errors.Is(err, daemon.ErrNone) {
		t.Errorf("after the end: %v", err)
	}
	path, err := daemon.SocketPath(name)
	if err != nil {
		t.Fatal(err)
	}
	if left, err := filepath.Glob(path + "*"); err != nil || len(left) > 0 {
		t.Errorf("the end leaves %q, %v", left, err)
	}
}

// TestLaterSocket checks that the end of a mount leaves the socket of a later mount on the
// directory.
func TestLaterSocket(t *testing.T) {
	first, name := listening(t, "", func(daemon.Request) ([]any, bool) { return []any{said{Text: "first"}}, false })
	second, err := daemon.Listen(name, "", func(daemon.Request) ([]any, bool) { return []any{said{Text: "second"}}, false }, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	if err := first.Close(said{}); err != nil {
		t.Fatal(err)
	}
	var a said
	line, err := daemon.Talk(name, daemon.Request{Do: daemon.Status}, reading(&a))
	if err != nil || a.Text != "second" {
		t.Fatalf("%q, %v", a.Text, err)
	}
	if err := errors.Join(line.Close(), second.Close(said{})); err != nil {
		t.Error(err)
	}
}

// TestLongRequest checks that a request that is too long is not sent.
func TestLongRequest(t *testing.T) {
	c, name := listening(t, "", func(daemon.Request) ([]any, bool) { return []any{said{}}, false })
	var a said
	_, err := daemon.Talk(name, daemon.Request{Do: strings.Repeat("x", 1<<20)}, reading(&a))
	if err == nil || !strings.Contains(err.Error(), "has more than 1048576 bytes") {
		t.Errorf("%v", err)
	}
	if err := c.Close(said{}); err != nil {
		t.Error(err)
	}
}
