package internal_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"lorefs/internal/testneeds"
)

// otherProgram is a program that uses three of the packages.
const otherProgram = `package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"lorefs/blte"
	"lorefs/protocol"
	"lorefs/resource"
)

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func main() {
	file := must(blte.Append(nil, []blte.Chunk{{Content: []byte("Aldermoor"), Mode: blte.ModeZlib}}, blte.WriteOptions{}))
	r := must(blte.NewReader(context.Background(), bytes.NewReader(file), int64(len(file)), blte.Options{}))
	text := must(io.ReadAll(io.NewSectionReader(r, 0, r.Size())))

	var container bytes.Buffer
	files := []resource.File{{Name: "place.txt", Size: int64(len(text)), Content: bytes.NewReader(text)}}
	if err := resource.Write(&container, slices.Values(files)); err != nil {
		panic(err)
	}
	c := must(resource.Open(bytes.NewReader(container.Bytes()), int64(container.Len())))

	d := must(protocol.Parse("C_MOVE", []byte("string "+strings.TrimSuffix(c.Name(0), ".txt")+"\n"), protocol.ParseOptions{}))
	fmt.Println(c.Len(), c.Name(0), c.Size(0), d.Name)
}
`

// TestOtherModule builds and runs a program of another module, which has nothing but a replace line
// for this one.
func TestOtherModule(t *testing.T) {
	root, err := filepath.Abs(testneeds.Root(t))
	if err != nil {
		t.Fatal(err)
	}
	sums, err := os.ReadFile(filepath.Join(root, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":  "module other\n\ngo 1.26\n\nrequire lorefs v0.0.0\n\nreplace lorefs => " + root + "\n",
		"go.sum":  string(sums),
		"main.go": otherProgram,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run := exec.CommandContext(t.Context(), "go", "run", "-mod=mod", ".")
	run.Dir = dir
	run.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=", "GOPROXY=off")
	out, err := run.CombinedOutput()
	if got, want := string(out), "1 place.txt 9 C_MOVE\n"; err != nil || !strings.HasSuffix(got, want) {
		t.Errorf("%v: it says %q, want %q", err, got, want)
	}
}
