package main

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"lorefs/cmd/internal/cli"
	"lorefs/cmd/internal/daemon"
	"lorefs/cmd/internal/reach"
	"lorefs/cmd/internal/save"
)

// TestLeftBehind checks that the edits of a dead process count as left behind if another process
// locks them for a moment only, but not if it takes them over.
func TestLeftBehind(t *testing.T) {
	for _, test := range []struct {
		name string
		held time.Duration
		left bool
	}{
		{"for a moment", 100 * time.Millisecond, true},
		{"for good", time.Hour, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Setenv("XDG_STATE_HOME", t.TempDir())
			dir, mount := folderWithEdits(t), t.TempDir()
			listenedBefore(t, mount)
			next, err := save.Open(save.Folders, dir, save.Options{})
			if err != nil {
				t.Fatal(err)
			}
			synctest.Test(t, func(t *testing.T) {
				time.AfterFunc(test.held, func() {
					if err := next.Close(); err != nil {
						t.Error(err)
					}
				})
				if err := reach.LeftBehind(mount, reach.ProcessDied, dir); (err != nil) != test.left {
					t.Errorf("left behind: %v", err)
				}
				time.Sleep(test.held)
				synctest.Wait()
			})
		})
	}
}

// TestEndedMeanwhile checks what is told of a mount that was there when the command began and
// has ended by itself before it could be asked: whether it has left edits.
func TestEndedMeanwhile(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	for _, test := range []struct {
		name            string
		edited          string
		unmount, status int
	}{
		{"saved", t.TempDir(), cli.ExitOK, cli.ExitFailure},
		{"not saved", folderWithEdits(t), cli.ExitUnsaved, cli.ExitUnsaved},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			m := &reach.Mount{Dir: dir, Name: dir, Inside: ".", Found: true, Edited: []string{test.edited}}
			if err := unmount(cli.NewTelling(io.Discard, false), m, daemon.Request{Do: daemon.Unmount}); codeOf(err) != test.unmount {
				t.Errorf("unmount: %v", err)
			}
			if _, err := reach.AskStatus(m); codeOf(err) != test.status {
				t.Errorf("status: %v", err)
			}
		})
	}
}

// codeOf returns the exit code of a command.
func codeOf(err error) int {
	if err == nil {
		return cli.ExitOK
	}
	return cli.ExitCode(err)
}

// folderWithEdits returns a folder with an edit that is not saved.
func folderWithEdits(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "a"), []byte("a"), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := save.Open(save.Folders, dir, save.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.Begin("a"), s.Log("a", []byte("edit")), s.Close()); err != nil {
		t.Fatal(err)
	}
	return dir
}

// listenedBefore leaves the files of a dead process that served a mount.
func listenedBefore(t *testing.T, mount string) {
	t.Helper()
	socket, err := daemon.SocketPath(mount)
	if err != nil {
		t.Fatal(err)
	}
	before := time.Now().Add(-time.Hour)
	if err := errors.Join(os.WriteFile(socket, nil, 0o600), os.Chtimes(socket, before, before)); err != nil {
		t.Fatal(err)
	}
}
