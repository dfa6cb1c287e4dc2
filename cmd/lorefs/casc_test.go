package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lorefs/blte"
	"lorefs/blte/bltetest"
	"lorefs/casc"
	"lorefs/casc/casctest/write"
	"lorefs/nodes/blockcache"
)

// damagedStorage writes a storage of many files, of which every hundredth is damaged.
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

// verifyStorage gives what verify prints of damage, in order. If stopAt is above 0
// it is interrupted when it has checked so many bytes.
func verifyStorage(t *testing.T, dir, since string, stopAt int64) ([]string, error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var out bytes.Buffer
	v := &verifying{since: since, out: bufio.NewWriter(&out)}
	err := verifyCASC(ctx, dir, opening{
		flags: &sourceFlags{}, blocks: blockcache.New(1 << 20), log: slog.New(slog.DiscardHandler),
		progress: func(done, _ int64) {
			if stopAt > 0 && done >= stopAt {
				cancel()
			}
		},
	}, v)
	if err := v.out.Flush(); err != nil {
		t.Fatal(err)
	}
	var found []string
	for line := range strings.Lines(out.String()) {
		if strings.HasPrefix(line, "damaged: ") {
			found = append(found, line)
		}
	}
	slices.Sort(found)
	return found, err
}

// verify goes on where it was interrupted, and both runs find what one does: the damage,
// and the files that have it.
func TestVerifyCASCSince(t *testing.T) {
	dir := damagedStorage(t)
	want, err := verifyStorage(t, dir, "", 0)
	if err != nil || len(want) != 30 {
		t.Fatalf("%d findings, %v", len(want), err)
	}
	got, err := verifyStorage(t, dir, "", 700_000)
	e, ok := errors.AsType[*commandError](err)
	if !ok || !strings.Contains(e.Error(), ": interrupted after ") || len(got) == 0 || len(got) == len(want) {
		t.Fatalf("interrupted: %d findings, %v", len(got), err)
	}
	since, _, _ := strings.Cut(strings.TrimPrefix(e.hint, "--since "), " ")
	if _, err := casc.ParsePlace(since); err != nil {
		t.Fatalf("%q: %v", e.hint, err)
	}
	rest, err := verifyStorage(t, dir, since, 0)
	both := slices.Sorted(slices.Values(append(got, rest...)))
	if err != nil || !slices.Equal(both, want) {
		t.Errorf("%v: %q and %q, want %q", err, got, rest, want)
	}
}

// --build and --cdn may be the same key, and each counts.
func TestCASCKeyFlags(t *testing.T) {
	for _, c := range []struct{ build, cdn casc.Key }{{casc.Key{1}, casc.Key{1}}, {casc.Key{1}, casc.Key{2}}, {casc.Key{1}, casc.Key{}}, {casc.Key{}, casc.Key{2}}} {
		f := cascFlags{}
		if !c.build.IsZero() {
			f.build = c.build.String()
		}
		if !c.cdn.IsZero() {
			f.cdn = c.cdn.String()
		}
		if opts, err := f.options(); err != nil || opts.BuildKey != c.build || opts.CDNKey != c.cdn {
			t.Errorf("--build %q --cdn %q: %v, %v, %v", f.build, f.cdn, opts.BuildKey, opts.CDNKey, err)
		}
	}
}
