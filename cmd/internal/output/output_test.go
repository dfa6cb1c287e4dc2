package output

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"lorefs/internal/diskspace"
	"lorefs/internal/source"
)

// TestWriteErrors checks that an error names the file, or comes back unchanged: the name of
// a temporary file would tell users nothing.
func TestWriteErrors(t *testing.T) {
	broken := errors.New("the sheet is broken")
	full := &os.PathError{Op: "write", Path: "/x/.o.dat.lorefs-0.tmp", Err: errors.New("no room")}
	path := filepath.Join(t.TempDir(), "o.dat")
	for _, tt := range []struct {
		what   string
		write  func(io.Writer) error
		verify func(*os.File) error
		want   string
	}{
		{"the producer", func(io.Writer) error { return broken }, nil, broken.Error()},
		{"a disk", nil, func(*os.File) error { return full }, path + " was not written: no room"},
		{"the reader", nil, func(*os.File) error { return broken }, path + " was not written: " + broken.Error()},
		{"a signal", func(io.Writer) error { return context.Canceled }, nil, path + " was not written: interrupted"},
	} {
		write := tt.write
		if write == nil {
			write = func(w io.Writer) error { _, err := w.Write([]byte("x")); return err }
		}
		if err := Write(t.Context(), path, Options{}, write, tt.verify); err == nil || err.Error() != tt.want {
			t.Errorf("%s: %v; want %s", tt.what, err, tt.want)
		}
	}
}

// TestWriteChanged checks that a file stays if it was written to or replaced while the new
// one was written.
func TestWriteChanged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "o.dat")
	text := func(text string) func(io.Writer) error {
		return func(w io.Writer) error { _, err := io.WriteString(w, text); return err }
	}
	if err := Write(t.Context(), path, Options{}, text("first"), nil); err != nil {
		t.Fatal(err)
	}
	mine, err := source.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer mine.Close()
	err = Write(t.Context(), path, Options{Check: mine.CheckNow}, func(to io.Writer) error {
		return errors.Join(text("mine")(to), os.WriteFile(path+".new", []byte("theirs"), 0o600), os.Rename(path+".new", path))
	}, nil)
	if !errors.Is(err, source.ErrChanged) {
		t.Errorf("%v", err)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != "theirs" {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := os.Lstat(path + ".bak"); err == nil {
		t.Error("there is a backup although nothing was written")
	}
}

// TestProducerOfFullDisk checks that an error of writing is not taken for one of the
// producer.
func TestProducerOfFullDisk(t *testing.T) {
	full := errors.New("no room")
	p := producer{guard: diskspace.NewGuard(t.TempDir()), write: func(w io.Writer) error {
		_, err := w.Write([]byte("x"))
		return err
	}}
	if err := p.run(failing{full}); !errors.Is(err, full) || p.own != nil || !errors.Is(p.full, full) {
		t.Errorf("%v, own %v, full %v", err, p.own, p.full)
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }
