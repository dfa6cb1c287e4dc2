package parts

import (
	"log/slog"
	"path/filepath"
	"testing"

	"lorefs/cmd/internal/options"
	"lorefs/cmd/internal/reach"
	"lorefs/cmd/internal/sample"
	"lorefs/cmd/internal/treecopy"
)

// usual returns flags as a command has them that nobody gave any, but for the cache.
func usual(cache int64) *options.SourceFlags {
	return &options.SourceFlags{Kind: options.KindAuto, Layout: "auto", CacheSize: options.ByteSize(cache), NoCache: true}
}

// TestDiffCaches opens what diff compares. Two sources at once have small caches. Only a data center
// beside a folder of which little has to be packed may keep a large one.
func TestDiffCaches(t *testing.T) {
	const large = 256 << 20
	dir := filepath.Join(t.TempDir(), "sample")
	if _, err := sample.Write(dir); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, sample.DataCenterName)
	log := slog.New(slog.DiscardHandler)
	s, err := reach.OpenSource(t.Context(), file, usual(large), log, func(int64, int64) {})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	from, err := s.Find(t.Context(), s.Kind.Exports)
	if err != nil {
		t.Fatal(err)
	}
	folders := [2]string{filepath.Join(t.TempDir(), "a"), filepath.Join(t.TempDir(), "b")}
	for _, dir := range folders {
		if _, err := treecopy.Copy(t.Context(), s.Tree, from.Entry, dir, treecopy.Options{}); err != nil {
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
			s := &Sides{Flags: usual(large), Log: log, Paths: tt.paths}
			defer func() {
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			}()
			if err := s.Open(t.Context()); err != nil {
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
