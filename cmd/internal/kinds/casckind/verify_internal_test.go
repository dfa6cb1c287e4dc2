package casckind

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lorefs/blte"
	"lorefs/blte/bltetest"
	"lorefs/casc"
	"lorefs/casc/casctest/write"
	"lorefs/cmd/internal/kinds"
)

// damagedStorage writes a storage of many files. Every hundredth is damaged.
func damagedStorage(t *testing.T) string {
	t.Helper()
	var b write.Builder
	var root strings.Builder
	for i := range 1500 {
		s := b.AddChunks("n", blte.WriteOptions{}, blte.Chunk{Content: bltetest.Noise(1000, uint64(i))})
		root.WriteString(s.CKey.String() + "|" + s.CKey.String() + "\n")
		if i%100 == 99 {
			b.Stored[i].Encoded = slices.Clone(s.Encoded)
			b.Stored[i].Encoded[len(s.Encoded)-1] ^= 1
		}
	}
	b.Root(b.Add([]byte(root.String())))
	files, err := b.Install()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "game")
	if err := files.Write(dir); err != nil {
		t.Fatal(err)
	}
	return dir
}

// verifyStorage returns the damage that Verify finds, sorted. If stopAt is above 0, the
// check is interrupted after so many bytes.
func verifyStorage(t *testing.T, dir, since string, stopAt int64) ([]string, error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	opts := kinds.VerifyOptions{}
	if since != "" {
		var err error
		if opts.Since, err = casc.ParsePlace(since); err != nil {
			t.Fatal(err)
		}
	}
	var found []string
	for f, err := range Kind().Verify(ctx, dir, &kinds.Options{CacheSize: 1 << 20, Progress: func(done, _ int64) {
		if stopAt > 0 && done >= stopAt {
			cancel()
		}
	}}, opts) {
		if err != nil {
			slices.Sort(found)
			return found, err
		}
		if line := f.Line.String(); strings.HasPrefix(line, "damaged: ") {
			found = append(found, line)
		}
	}
	slices.Sort(found)
	return found, nil
}

// TestVerifyCASCSince checks that an interrupted check can go on later, and that both parts
// together find the same as one check: the damage, and the files that have it.
func TestVerifyCASCSince(t *testing.T) {
	dir := damagedStorage(t)
	want, err := verifyStorage(t, dir, "", 0)
	if err != nil || len(want) != 30 {
		t.Fatalf("%d findings, %v", len(want), err)
	}
	got, err := verifyStorage(t, dir, "", 700_000)
	e, ok := errors.AsType[*kinds.InterruptedError](err)
	if !ok || !strings.Contains(e.Error(), ": interrupted after ") || len(got) == 0 || len(got) == len(want) {
		t.Fatalf("interrupted: %d findings, %v", len(got), err)
	}
	rest, err := verifyStorage(t, dir, e.At.String(), 0)
	both := slices.Sorted(slices.Values(append(got, rest...)))
	if err != nil || !slices.Equal(both, want) {
		t.Errorf("%v: %q and %q, want %q", err, got, rest, want)
	}
}
