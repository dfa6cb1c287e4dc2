package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lorefs/cmd/internal/cli"
	"lorefs/cmd/internal/sample"
	"lorefs/internal/testneeds"
)

// TestInterrupted checks that every command that handles signals says once that it was
// interrupted, and exits with one code for it.
func TestInterrupted(t *testing.T) {
	testneeds.Seconds(t)
	dir, err := madeSample()
	if err != nil {
		t.Fatal(err)
	}
	base := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", filepath.Join(base, "cache"))
	t.Setenv("XDG_STATE_HOME", filepath.Join(base, "state"))
	data := filepath.Join(dir, sample.DataCenterName)
	in := func(name string) string { return filepath.Join(dir, name) }
	out := func(name string) string { return filepath.Join(base, name) }
	sheets, json, mnt := out("sheets"), out("json"), out("mnt")
	for _, args := range [][]string{{"export", data, sheets, "sheets"}, {"export", in("world"), json, "areas"}} {
		if code := run(t.Context(), append([]string{"lorefs"}, args...)); code != cli.ExitOK {
			t.Fatalf("lorefs %s: %d", strings.Join(args, " "), code)
		}
	}
	if err := os.Mkdir(mnt, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"export", data, out("a"), "sheets"},
		{"export", "--format", "json", data, out("b")},
		{"export", in("world"), out("c")},
		{"export", in("game"), out("d"), "files"},
		{"schema", data, out("e")},
		{"pack", sheets, out("f.dat")},
		{"pack", json, out("g")},
		{"repack", data, out("h.dat")},
		{"validate", sheets},
		{"query", data, "//@id"},
		{"refs", data, "/ItemData/Item"},
		{"find", data},
		{"find", in("game"), "--size", "+1"},
		{"find", "--definitions", in("definitions"), in("session.TeraLog")},
		{"diff", data, data},
		{"diff", data, sheets},
		{"verify", data},
		{"verify", in("world")},
		{"verify", in("game")},
		{"verify", "--definitions", in("definitions"), in("session.TeraLog")},
		{"journal", "replay", data},
		{"mount", "-f", data, mnt},
	} {
		t.Run(strings.Join(args[:len(args)-1], " "), func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			cancel() // like a signal at the start
			root := newRoot()
			root.SetArgs(args)
			err := root.ExecuteContext(ctx)
			if cli.ExitCode(err) != cli.ExitInterrupted {
				t.Fatalf("the error is %v with the code %d, want %d", err, cli.ExitCode(err), cli.ExitInterrupted)
			}
			if text := cli.ErrorText(err); strings.Count(text, "interrupted") != 1 || strings.Contains(text, "cancel") {
				t.Errorf("it says %q", text)
			}
		})
	}
}
