package daemon_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"lorefs/cmd/internal/daemon"
	"lorefs/internal/testneeds"
)

type said struct {
	Error string `json:"error,omitempty"`
	Text  string `json:"text,omitempty"`
}

// saying returns a handler that says a text.
func saying(text string) daemon.Handler {
	return func(_ context.Context, _ daemon.Request, c *daemon.Client) bool {
		_ = c.Send(said{Text: text}) // the client misses it
		return false
	}
}

// asked sends a request, and returns the first frame of the answer. If there is no error
// the line is open until the test ends.
func asked(t *testing.T, name, do string) (a said, line *daemon.Line, err error) {
	t.Helper()
	line, err = daemon.Talk(name, daemon.Request{Do: do})
	if err == nil {
		t.Cleanup(func() { line.Close() })
		err = line.Next(&a)
	}
	return a, line, err
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
	c, err := daemon.Listen(name, daemon.Notes{Beside: beside}, handle, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return c, name
}

// TestTalk checks that a client whose unmount is granted gets the result and the end of the
// process, and all others the end of the answer.
func TestTalk(t *testing.T) {
	saved := make(chan struct{})
	c, name := listening(t, "/beside", func(_ context.Context, r daemon.Request, c *daemon.Client) bool {
		if err := c.Send(said{Text: r.Do}); err != nil {
			t.Error(err)
		}
		if r.Do != daemon.Unmount {
			return false
		}
		<-saved
		if err := c.Send(said{Text: "saved"}); err != nil {
			t.Error(err)
		}
		return true
	})
	ask := func(do string) *daemon.Line {
		a, line, err := asked(t, name, do)
		if err != nil || a.Text != do {
			t.Fatalf("%s: %q, %v", do, a.Text, err)
		}
		return line
	}
	var a said
	if err := ask(daemon.Status).Next(&a); !errors.Is(err, daemon.ErrNone) {
		t.Errorf("after the answer to a status comes %q, %v", a.Text, err)
	}
	granted := ask(daemon.Unmount)
	close(saved)
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if err := granted.Next(&a); err != nil || a.Text != "saved" {
		t.Errorf("after a granted unmount comes %q, %v", a.Text, err)
	}
	if ended, err := granted.AwaitEnd(time.Millisecond); ended || err != nil {
		t.Errorf("the process has not ended, but the line says %v, %v", ended, err)
	}
	if _, _, err := asked(t, name, daemon.Status); !errors.Is(err, daemon.ErrNone) {
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

// TestLongPath checks that a mount can be asked whose state folder has a path that is too long
// for a socket.
func TestLongPath(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("elsewhere it is refused")
	}
	for _, n := range []int{60, 80, 100, 200} {
		state := filepath.Join(t.TempDir(), strings.Repeat("x", n))
		t.Setenv("XDG_STATE_HOME", state)
		name, err := daemon.Name(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		c, err := daemon.Listen(name, daemon.Notes{}, saying("here"), slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		if a, _, err := asked(t, name, daemon.Status); err != nil || a.Text != "here" {
			t.Errorf("%d: %q, %v", n, a.Text, err)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		if _, _, err := asked(t, name, daemon.Status); !errors.Is(err, daemon.ErrNone) {
			t.Errorf("%d, after the end: %v", n, err)
		}
	}
}

// TestTalkAtTheEnd checks that whoever reaches a mount gets an answer, even if it ends at that
// moment.
func TestTalkAtTheEnd(t *testing.T) {
	const rounds, clients = 20, 8
	for range rounds {
		c, name := listening(t, "", saying("still there"))
		path, err := daemon.SocketPath(name)
		if err != nil {
			t.Fatal(err)
		}
		var all, begun sync.WaitGroup
		begun.Add(clients)
		for range clients {
			all.Go(func() {
				answered(t, path)
				begun.Done()
				for answered(t, path) {
				}
			})
		}
		begun.Wait()
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		all.Wait()
	}
}

// answered sends a request to the mount that listens at path. It returns false if nobody
// listens there.
func answered(t *testing.T, path string) bool {
	conn, err := net.Dial("unix", path)
	if err != nil {
		return false
	}
	defer conn.Close()
	if _, err := conn.Write([]byte("{}\n")); err != nil {
		t.Error(err)
	}
	text, err := io.ReadAll(conn)
	if err != nil || len(text) == 0 {
		t.Errorf("the answer to a client that has connected is %q, %v", text, err)
	}
	return true
}

// TestFrames checks that a request and its answer may have many frames.
func TestFrames(t *testing.T) {
	c, name := listening(t, "", func(ctx context.Context, _ daemon.Request, c *daemon.Client) bool {
		for {
			var a said
			if err := c.Next(ctx, &a); err != nil || a.Text == "" {
				return false
			}
			if err := c.Send(a); err != nil {
				t.Error(err)
			}
		}
	})
	line, err := daemon.Talk(name, daemon.Request{})
	if err != nil {
		t.Fatal(err)
	}
	defer line.Close()
	const frames = 100
	for i := range frames {
		if err := line.Send(said{Text: strings.Repeat("x", 1+i)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := line.Send(said{}); err != nil {
		t.Fatal(err)
	}
	for i := range frames {
		var a said
		if err := line.Next(&a); err != nil || len(a.Text) != 1+i {
			t.Fatalf("frame %d has %d bytes, %v", i, len(a.Text), err)
		}
	}
	if err := line.Next(&said{}); !errors.Is(err, daemon.ErrNone) {
		t.Errorf("after the last frame: %v", err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

// TestClientGone checks that a handler learns that its client has gone, and that its mount
// has ended.
func TestClientGone(t *testing.T) {
	began, ended := make(chan struct{}), make(chan struct{})
	c, name := listening(t, "", func(ctx context.Context, _ daemon.Request, _ *daemon.Client) bool {
		began <- struct{}{}
		<-ctx.Done()
		ended <- struct{}{}
		return false
	})
	line, err := daemon.Talk(name, daemon.Request{})
	if err != nil {
		t.Fatal(err)
	}
	<-began
	if err := line.Close(); err != nil {
		t.Fatal(err)
	}
	<-ended
	if line, err = daemon.Talk(name, daemon.Request{}); err != nil {
		t.Fatal(err)
	}
	defer line.Close()
	<-began
	closed := make(chan error)
	go func() { closed <- c.Close() }()
	<-ended
	if err := <-closed; err != nil {
		t.Error(err)
	}
}

// TestSlowAnswer checks that a client waits longer than it waits for a silent mount, if the
// mount is at work, and that a client that does not read an answer is given up.
func TestSlowAnswer(t *testing.T) {
	testneeds.Slow(t, "waits for timeouts")
	c, name := listening(t, "", func(ctx context.Context, r daemon.Request, c *daemon.Client) bool {
		if r.Do == daemon.Status {
			const longer = 11 * time.Second
			time.Sleep(longer)
			_ = c.Send(said{Text: "at last"}) // the client misses it
			return false
		}
		for err := error(nil); err == nil; {
			err = c.Send(said{Text: strings.Repeat("x", 1<<16)})
		}
		if ctx.Err() == nil {
			t.Error("a client that does not read counts as there")
		}
		return false
	})
	deaf, err := daemon.Talk(name, daemon.Request{})
	if err != nil {
		t.Fatal(err)
	}
	defer deaf.Close()
	if a, _, err := asked(t, name, daemon.Status); err != nil || a.Text != "at last" {
		t.Errorf("%q, %v", a.Text, err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

// TestLaterSocket checks that the end of a mount leaves the socket of a later mount on the
// directory.
func TestLaterSocket(t *testing.T) {
	first, name := listening(t, "", saying("first"))
	second, err := daemon.Listen(name, daemon.Notes{}, saying("second"), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	a, _, err := asked(t, name, daemon.Status)
	if err != nil || a.Text != "second" {
		t.Fatalf("%q, %v", a.Text, err)
	}
	if err := second.Close(); err != nil {
		t.Error(err)
	}
}

// TestLongRequest checks that a request that is too long is not sent.
func TestLongRequest(t *testing.T) {
	c, name := listening(t, "", saying(""))
	_, _, err := asked(t, name, strings.Repeat("x", 1<<20))
	if err == nil || !strings.Contains(err.Error(), "has more than 1048576 bytes") {
		t.Errorf("%v", err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}
