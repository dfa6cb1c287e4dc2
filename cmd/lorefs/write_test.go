package main

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"lorefs/cmd/internal/cli"
	"lorefs/cmd/internal/kinds"
	"lorefs/cmd/internal/options"
	"lorefs/cmd/internal/reach"
	"lorefs/datacenter/sheets"
)

// interruptedRun returns the error of a command that is interrupted at once.
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

// TestFilesInterrupted checks that all commands that write many files report an interrupt in
// the same way.
func TestFilesInterrupted(t *testing.T) {
	file := madeSampleFile(t, "DataCenter_Final_Sample.dat")
	s, err := reach.OpenSource(t.Context(), file, &options.SourceFlags{Kind: kinds.DataCenterName, Layout: "auto", CacheSize: options.DefaultCacheSize, NoCache: true}, slog.New(slog.DiscardHandler), cli.Silence{}.Set)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var f exporting
	asJSON, asCSV := exporting{format: "json"}, exporting{format: "csv"}
	c := newRoot()
	for what, err := range map[string]error{
		"export":               f.run(ctx, c, s, s.Kind.Exports, t.TempDir()),
		"export --format json": asJSON.formatted(ctx, c, s, t.TempDir()),
		"export --format csv":  asCSV.formatted(ctx, c, s, t.TempDir()),
		"schema":               writeSchemas(ctx, c, s, t.TempDir(), sheets.Conservative, &f.files),
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
	if got := interruptedRun(t, "diff", dir, dir); got != "interrupted" {
		t.Errorf("%q: want it to say no more than that it was interrupted", got)
	}
}
