//go:build unix

package pack_test

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"lorefs/datacenter/sheets/pack"
)

// TestPackOfNoFiles checks that something with the name of a sheet or a schema that is no
// file is an error at once: opening a pipe may never end, and nobody wants a data center
// without the sheet.
func TestPackOfNoFiles(t *testing.T) {
	pipe := func(path string) error { return syscall.Mkfifo(path, 0o600) }
	dangling := func(path string) error { return os.Symlink("nothing", path) }
	folder := func(path string) error { return os.Symlink(".", path) }
	const noFile, noEnd = "not a regular file", "a link that leads to nothing"
	for _, tt := range []struct {
		what, name string
		make       func(path string) error
		want       string
	}{
		{"a pipe for a schema", "S/S.xsd", pipe, noFile},
		{"a dangling link for a schema", "S/S.xsd", dangling, noEnd},
		{"a folder for a schema", "S/S.xsd", folder, noFile},
		{"a pipe for a sheet", "S/S-1.xml", pipe, noFile},
		{"a dangling link for a sheet", "S/S-1.xml", dangling, noEnd},
		{"a folder for a sheet", "S/S-1.xml", folder, noFile},
	} {
		t.Run(tt.what, func(t *testing.T) {
			dir := t.TempDir()
			writeFile(t, []byte("<S/>"), dir, "S/S-0.xml")
			writeFile(t, []byte("<T/>"), dir, "S/T-0.xml")
			if err := tt.make(filepath.Join(dir, tt.name)); err != nil {
				t.Fatal(err)
			}
			done := make(chan struct{})
			go func() {
				defer close(done)
				want := tt.name + ": " + tt.want
				if _, err := pack.Pack(t.Context(), pack.Dir(dir), io.Discard, pack.Options{}); err == nil || err.Error() != "sheets: "+want {
					t.Errorf("pack: %v; want %s", err, want)
				}
				var got []string
				err := pack.Validate(t.Context(), pack.Dir(dir), func(p pack.Problem) error {
					if p.Refused {
						got = append(got, p.String())
					}
					return nil
				})
				if err != nil || !slices.Equal(got, []string{want}) {
					t.Errorf("validate: %v, %q; want %q", err, got, want)
				}
			}()
			select {
			case <-done:
			case <-time.After(time.Minute):
				t.Fatal("it waits for the pipe")
			}
		})
	}
}
