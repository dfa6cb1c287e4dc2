package mounted

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"runtime"
	"testing"

	"lorefs/cmd/internal/daemon"
	"lorefs/cmd/internal/kinds"
	"lorefs/cmd/internal/save"
)

// TestAnswer checks that a client gets the whole of an answer: pieces of output and progress
// in their order, and many texts.
func TestAnswer(t *testing.T) {
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
	long := bytes.Repeat([]byte("0123456789"), dataAtOnce/4)
	texts := make([]kinds.RefusedText, 3*textsAtOnce)
	control, err := daemon.Listen(name, daemon.Notes{}, func(_ context.Context, _ daemon.Request, c *daemon.Client) bool {
		if n, err := (output{c}).Write(long); n != len(long) || err != nil {
			t.Error(n, err)
		}
		a := Answer{More: true, Progress: &save.Progress{Stage: "writing", Done: 1, Total: 2}}
		if err := a.sendTo(c); err != nil {
			t.Error(err)
		}
		a = Answer{Left: kinds.LeftOut{Refused: texts, Failed: texts[1:]}}
		if err := a.sendTo(c); err != nil {
			t.Error(err)
		}
		return false
	}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer control.Close()
	var got []byte
	var at *save.Progress
	a, line, err := Talk(name, daemon.Request{Do: daemon.Status}, func(a *Answer) error {
		if at != nil {
			t.Error("something comes after the progress")
		}
		got, at = append(got, a.Data...), a.Progress
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	defer line.Close()
	if !bytes.Equal(got, long) || at == nil || *at != (save.Progress{Stage: "writing", Done: 1, Total: 2}) {
		t.Errorf("%d bytes of output, then %v", len(got), at)
	}
	if len(a.Left.Refused) != len(texts) || len(a.Left.Failed) != len(texts)-1 {
		t.Errorf("%d and %d texts", len(a.Left.Refused), len(a.Left.Failed))
	}
}
