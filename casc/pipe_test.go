//go:build unix

package casc_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"lorefs/casc"
)

// TestPipe puts pipes in the places of files and folders of a storage. Opening one would
// wait for a writer.
func TestPipe(t *testing.T) {
	g, files := makeGame(t, "text", "install")
	opts := g.options(t)
	places := []string{"Data", "Data/config", "Data/data", "Data/indices"}
	for name := range files {
		places = append(places, name)
	}
	for _, name := range places {
		dir := t.TempDir()
		if err := files.Write(dir); err != nil {
			t.Fatal(err)
		}
		at := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.RemoveAll(at), syscall.Mkfifo(at, 0o600)); err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		go func() { done <- useAll(t, dir, opts) }()
		select {
		case err := <-done:
			file := strings.HasPrefix(filepath.Base(name), "data.") || strings.HasSuffix(name, ".build.info")
			if file && (err == nil || !strings.Contains(err.Error(), "is a pipe: want a regular file")) {
				t.Errorf("%s is a pipe: %v", name, err)
			}
		case <-time.After(20 * time.Second):
			t.Fatalf("%s is a pipe: it is waited for", name)
		}
	}
}

// useAll calls everything of a storage that opens files, and returns what it reports.
func useAll(t *testing.T, dir string, opts casc.Options) error {
	_, err := casc.Detect(dir)
	st, openErr := casc.OpenPath(dir, opts)
	if openErr != nil {
		return errors.Join(err, openErr)
	}
	for f, found := range st.Verify(t.Context(), casc.VerifyOptions{}) {
		err = errors.Join(err, found)
		if f.Kind == casc.FindingDamaged {
			err = errors.Join(err, errors.New(f.String()))
		}
	}
	_, refreshErr := st.Refresh()
	return errors.Join(err, refreshErr, st.Close())
}
