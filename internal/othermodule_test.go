package internal_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"lorefs/internal/testneeds"
)

// otherProgram is a program that uses four of the packages.
const otherProgram = `package main

import (
	"bytes"
	"context"
	"fmt"

	"lorefs/blte"
	"lorefs/datacenter"
	"lorefs/geometry"
	"lorefs/protocol"
)

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func main() {
	ctx := context.Background()
	builder := must(datacenter.NewBuilder([]string{"ItemData", "id"}, datacenter.WriteOptions{}))
	builder.Begin("ItemData", nil, 0)
	builder.Int("id", 7)
	builder.End()
	var plain bytes.Buffer
	if err := builder.Write(ctx, &plain); err != nil {
		panic(err)
	}
	file := must(blte.Append(nil, []blte.Chunk{{Content: plain.Bytes(), Mode: blte.ModeZlib}}, blte.WriteOptions{}))
	r := must(blte.NewReader(ctx, bytes.NewReader(file), int64(len(file)), blte.Options{}))
	dc := must(datacenter.Open(ctx, r, r.Size(), datacenter.Options{}))
	sheet, _, err := must(dc.Root()).Child("ItemData")
	id, _, err := sheet.Attr("id")
	if err != nil {
		panic(err)
	}

	var cells geometry.ZoneBuilder
	for range geometry.ZoneSquares * geometry.SquareCells {
		if err := cells.Add(geometry.Volume{Z: -20, Height: 100}); err != nil {
			panic(err)
		}
	}
	zone := must(cells.Zone())

	d := must(protocol.Parse("C_MOVE", []byte("string place\n"), protocol.ParseOptions{}))
	fmt.Println(id.Int(), zone.Volumes(), d.Name)
}
`

// TestOtherModule builds and runs a program of another module, which has nothing but a replace line
// for this one.
func TestOtherModule(t *testing.T) {
	testneeds.Seconds(t)
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
	if got, want := string(out), "7 921600 C_MOVE\n"; err != nil || !strings.HasSuffix(got, want) {
		t.Errorf("%v: it says %q, want %q", err, got, want)
	}
}
