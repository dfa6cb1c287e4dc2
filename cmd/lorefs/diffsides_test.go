package main

import (
	"io"
	"log/slog"
	"path/filepath"
	"testing"

	"lorefs/cmd/internal/sample"
)

// TestDiffCaches opens what diff compares. Two sources at once have small caches. Only a data center
// beside a folder of which little has to be packed may keep a large one.
func TestDiffCaches(t *testing.T) {
	const large = 256 << 20
	file := madeSampleFile(t, sample.DataCenterName)
	folders := [2]string{filepath.Join(t.TempDir(), "a"), filepath.Join(t.TempDir(), "b")}
	for _, dir := range folders {
		root := newRoot()
		root.SetArgs([]string{"export", file, dir, "sheets"})
		root.SetOut(io.Discard)
		root.SetErr(io.Discard)
		if err := root.ExecuteContext(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for name, tt := range map[string]struct {
		paths [2]string
		want  []int64
	}{
		"two files":        {[2]string{file, file}, []int64{comparedCache, comparedCache}},
		"two folders":      {folders, []int64{comparedCache, comparedCache}},
		"a file, a folder": {[2]string{file, folders[0]}, []int64{large, comparedCache}},
	} {
		t.Run(name, func(t *testing.T) {
			s := &sides{
				flags: &sourceFlags{kind: "auto", layout: "auto", cacheSize: large, noCache: true},
				log:   slog.New(slog.DiscardHandler), paths: tt.paths,
			}
			defer func() {
				if err := s.close(); err != nil {
					t.Error(err)
				}
			}()
			if err := s.open(t.Context()); err != nil {
				t.Fatal(err)
			}
			for i, o := range s.opened {
				if got := o.Blocks.View().Budget(); got != tt.want[i] {
					t.Errorf("the cache of side %d has %d bytes, want %d", i, got, tt.want[i])
				}
			}
		})
	}
}
