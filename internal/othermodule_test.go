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

	"lorefs/blte"
	"lorefs/geometry"
	"lorefs/geometry/geomtest"
	"lorefs/protocol"
)

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func main() {
	plain := geomtest.ZoneFile(func(x, y int) []geometry.Volume {
		if x == 8 && y == 9 {
			return []geometry.Volume{{Z: -20, Height: 100}, {Z: 300, Height: 50}}
		}
		return nil
	})
	file := must(blte.Append(nil, []blte.Chunk{{Content: plain, Mode: blte.ModeZlib}}, blte.WriteOptions{}))
	r := must(blte.NewReader(context.Background(), bytes.NewReader(file), int64(len(file)), blte.Options{}))
	zone := must(geometry.DecodeZone(must(io.ReadAll(io.NewSectionReader(r, 0, r.Size()))), geometry.DecodeOptions{}))

	d := must(protocol.Parse("C_MOVE", []byte("string place\n"), protocol.ParseOptions{}))
	fmt.Println(zone.Volumes(), d.Name)
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
	if got, want := string(out), "2 C_MOVE\n"; err != nil || !strings.HasSuffix(got, want) {
		t.Errorf("%v: it says %q, want %q", err, got, want)
	}
}
