package main

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lorefs/datacenter/sheets"
	"lorefs/internal/diskspace"
	"lorefs/internal/kinds"
	"lorefs/internal/source"
)

// What kept a file from being written is told by the file's name, or as it is: the name of
// a temporary file says nothing.
func TestWriteFileErrors(t *testing.T) {
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
		var w writing
		if err := w.writeFile(t.Context(), path, write, tt.verify); err == nil || err.Error() != tt.want {
			t.Errorf("%s: %v; want %s", tt.what, err, tt.want)
		}
	}
}

// A file that was written to, or replaced, while a new one was made of it stays.
func TestWriteFileChanged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "o.dat")
	text := func(text string) func(io.Writer) error {
		return func(w io.Writer) error { _, err := io.WriteString(w, text); return err }
	}
	var w writing
	if err := w.writeFile(t.Context(), path, text("first"), nil); err != nil {
		t.Fatal(err)
	}
	mine, err := source.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer mine.Close()
	w.check = mine.CheckNow
	err = w.writeFile(t.Context(), path, func(to io.Writer) error {
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

// Errors of writing are not the producer's.
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

// interruptedRun is the error of a command line that is interrupted at once.
func interruptedRun(t *testing.T, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	root := newRoot()
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		t.Fatal("it was not interrupted")
	}
	return err.Error()
}

// All ways of writing many files say alike that they were interrupted.
func TestFilesInterrupted(t *testing.T) {
	file := madeSampleFile(t, "DataCenter_Final_Sample.dat")
	s, err := openSource(t.Context(), file, &sourceFlags{kind: kinds.DataCenterName, layout: "auto", cacheSize: defaultCacheSize, noCache: true}, nil, silence{}.set)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var f exporting
	c := newRoot()
	for what, err := range map[string]error{
		"export":        f.run(ctx, c, s, s.Kind.Exports, t.TempDir()),
		"export --json": f.sheetsAsJSON(ctx, c, s, t.TempDir()),
		"schema":        writeSchemas(ctx, c, s, t.TempDir(), sheets.Options{}, &f.files),
	} {
		if err == nil || err.Error() != "interrupted after 0 files" {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestDiffInterrupted(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "S-0.xml"), []byte("<S/>"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := interruptedRun(t, "diff", dir, dir); strings.Contains(got, "lorefs-diff") || !strings.Contains(got, "interrupted") {
		t.Errorf("%s: want it to say no more than that it was interrupted", got)
	}
}

// forever is text without an end.
type forever struct{}

func (forever) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

// A value of JSON that no packet needs is not read into memory.
func TestEndlessValue(t *testing.T) {
	text := io.MultiReader(strings.NewReader("{}\n{\"a\": 1}\n\n{\"b\":\""), forever{})
	in := &input{Reader: bufio.NewReader(text), name: "stdin"}
	read := in.readValues()
	for range 2 {
		if _, err := read(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := read(); err == nil || !strings.HasPrefix(err.Error(), "stdin:2: a value of more than ") {
		t.Error(err)
	}
}
