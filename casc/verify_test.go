package casc_test

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"lorefs/blte"
	"lorefs/casc"
	"lorefs/casc/casctest"
	"lorefs/casc/casctest/write"
	"lorefs/casc/index"
	"lorefs/casc/keys"
	"lorefs/casc/root"
	"lorefs/internal/testneeds"
)

func verify(t *testing.T, files write.Files, sopts casc.Options, opts casc.VerifyOptions) (found []casc.Finding) {
	t.Helper()
	st, err := casc.Open(casctest.FS(files), sopts)
	if err != nil {
		return []casc.Finding{{What: err.Error()}}
	}
	defer func() {
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	}()
	for f, err := range st.Verify(t.Context(), opts) {
		if err != nil {
			f.What = err.Error()
		}
		found = append(found, f)
	}
	return found
}

// TestVerify expects what is missing and encrypted in whole storages, and nothing else.
func TestVerify(t *testing.T) {
	for root := range casctest.Roots {
		for form := range casctest.Builds {
			g, files := makeGame(t, root, form)
			var last casc.Progress
			found := verify(t, files, g.options(t), casc.VerifyOptions{Progress: func(p casc.Progress) {
				if p.Done < last.Done || p.Done > p.Total {
					t.Errorf("%+v behind %+v", p, last)
				}
				last = p
			}})
			if last.Done != last.Total || form == "install" && last.Total == 0 {
				t.Errorf("%s, %s: ended at %+v", root, form, last)
			}
			var kinds []string
			for _, f := range found {
				file := "span"
				if f.File != "" {
					file = "file"
					if name := g.nameOf(f.File); (g.Want[name] == nil) != (f.Kind == casc.FindingMissing) || g.Secret[name] != (f.Kind == casc.FindingNoKey) {
						t.Errorf("%s, %s: %v", root, form, f)
					}
				}
				kinds = append(kinds, file+" "+f.Kind.String())
			}
			slices.Sort(kinds)
			if want := []string{"file missing", "file no key", "span no key"}; !slices.Equal(kinds, want) {
				t.Errorf("%s, %s: %v", root, form, found)
			}
		}
	}
}

// nameOf returns the game's name for a finding's file.
func (g game) nameOf(file string) string {
	if _, ok := g.Want[file]; ok {
		return file
	}
	return strings.TrimSuffix(file, ":")
}

// TestVerifyTellsThePlaceOnce damages a file that is stored plain.
func TestVerifyTellsThePlaceOnce(t *testing.T) {
	g := newGame()
	s := g.Add([]byte("content"))
	g.Root(g.Add(write.TextRoot([]root.File{{Name: "x", CKey: s.CKey}})))
	g.AddRaw([]byte("no BLTE"), keys.Key{1})
	files, err := g.Install()
	if err != nil {
		t.Fatal(err)
	}
	found := verify(t, files, casc.Options{}, casc.VerifyOptions{})
	const want = "casc: file: offset 0x0: neither BLTE nor of this MD5: it begins with 6e 6f 20 42"
	if len(found) != 1 || found[0].Archive == "" || found[0].What != want {
		t.Errorf("found %v, want %s", found, want)
	}
}

// TestVerifyFlips flips bits in the archives. Every file that becomes unreadable must be
// reported, with its place.
func TestVerifyFlips(t *testing.T) {
	step := 150
	if testneeds.Quick() {
		step = 900
	}
	for _, form := range []string{"install", "mirror"} {
		g, files := makeGame(t, "text", form)
		opts := g.options(t)
		for _, s := range g.Stored {
			for i := 0; i < len(s.Encoded); i += max(step, len(s.Encoded)/20) {
				name, at := find(files, s.Encoded)
				if at < 0 {
					break // not local
				}
				damaged := maps.Clone(files)
				damaged[name] = bytes.Clone(files[name])
				damaged[name][at+i] ^= 1 << (i % 8)
				found := verify(t, damaged, opts, casc.VerifyOptions{})
				if !slices.ContainsFunc(found, func(f casc.Finding) bool { return f.Kind == casc.FindingDamaged && bytes.HasPrefix(s.EKey[:], f.EKey) }) {
					t.Fatalf("%s: byte %d of the file of key %v flipped: %v", form, i, s.EKey, found)
				}
				var told []string
				for _, f := range found {
					if f.File != "" && f.Kind == casc.FindingDamaged {
						told = append(told, f.File)
					}
				}
				if want, ok := unreadable(damaged, opts); ok && !slices.Equal(told, want) {
					t.Errorf("%s: byte %d of the file of key %v flipped: told of %v, but %v can't be read", form, i, s.EKey, told, want)
				}
			}
		}
	}
}

// unreadable returns the files that can't be read though they are local and not encrypted.
// It returns false for a storage that can't be opened.
func unreadable(files write.Files, opts casc.Options) (names []string, ok bool) {
	st, err := casc.Open(casctest.FS(files), opts)
	if err != nil {
		return nil, false
	}
	all, err := st.Files(context.Background())
	if err != nil {
		return nil, false
	}
	for _, f := range all {
		c, err := st.Open(context.Background(), &f)
		if err == nil {
			_, err = c.ReadAll(context.Background(), 1<<20)
		}
		if err != nil && !errors.Is(err, casc.ErrNotLocal) && !errors.Is(err, blte.ErrNoKey) {
			names = append(names, f.Name)
		}
	}
	return names, true
}

// find looks for bytes in all archives.
func find(files write.Files, data []byte) (name string, at int) {
	for name, all := range files {
		if strings.Contains(name, "data/") {
			if at := bytes.Index(all, data); at >= 0 {
				return name, at
			}
		}
	}
	return "", -1
}

// TestVerifySince continues another run.
func TestVerifySince(t *testing.T) {
	g, files := makeGame(t, "text", "install")
	at := bytes.Index(files["Data/data/data.000"], g.ByName["readme.txt"].Encoded)
	files["Data/data/data.000"][at+40] ^= 1
	found := verify(t, files, g.options(t), casc.VerifyOptions{})
	i := slices.IndexFunc(found, func(f casc.Finding) bool { return f.Kind == casc.FindingDamaged })
	if i < 0 || found[i].Archive != "data.000" || found[i].Off != int64(at) {
		t.Fatalf("%v", found)
	}
	var places []casc.Place
	rest := verify(t, files, g.options(t), casc.VerifyOptions{
		Since:    casc.Place{Archive: 0, Off: found[i].Off},
		Progress: func(p casc.Progress) { places = append(places, p.At) },
	})
	if slices.ContainsFunc(rest, func(f casc.Finding) bool { return f.Kind == casc.FindingDamaged }) {
		t.Errorf("told of again: %v", rest)
	}
	for _, p := range places {
		if q, err := casc.ParsePlace(p.String()); err != nil || q != p {
			t.Errorf("%v is read as %v, %v", p, q, err)
		}
	}
	again := verify(t, files, g.options(t), casc.VerifyOptions{Since: casc.Place{Archive: 0, Off: found[i].Off - index.SpanHeaderSize}})
	if len(again) != len(found) {
		t.Errorf("from the place itself: %v, want %v", again, found)
	}
	for _, bad := range []string{"", "1", "1:", "-1:2", "1:2:3", "1:2 3", "x:y"} {
		if p, err := casc.ParsePlace(bad); err == nil {
			t.Errorf("%q is read as %v", bad, p)
		}
	}
}

// TestVerifyStops checks that a run ends with its context, and when the caller wants no
// more.
func TestVerifyStops(t *testing.T) {
	g, files := makeGame(t, "text", "install")
	st, err := casc.Open(casctest.FS(files), g.options(t))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var last error
	for _, err := range st.Verify(ctx, casc.VerifyOptions{}) {
		last = err
	}
	if !errors.Is(last, context.Canceled) {
		t.Errorf("canceled: %v", last)
	}
	n := 0
	for _, err := range st.Verify(t.Context(), casc.VerifyOptions{}) {
		if err != nil {
			t.Error(err)
		}
		n++
		break
	}
	if n != 1 {
		t.Errorf("%d findings", n)
	}
}

// TestVerifyIndex damages the newest index file of a bucket.
func TestVerifyIndex(t *testing.T) {
	g, files := makeGame(t, "text", "install")
	old := files["Data/data/0500000002.idx"]
	files["Data/data/0500000001.idx"] = old
	files["Data/data/0500000002.idx"] = bytes.Clone(old)
	files["Data/data/0500000002.idx"][8] ^= 1
	found := verify(t, files, g.options(t), casc.VerifyOptions{})
	if len(found) != 4 || found[0].Kind != casc.FindingDamaged || !strings.Contains(found[0].What, "0500000002.idx") {
		t.Errorf("%v", found)
	}
}

// TestVerifyShmem damages shmem, which nothing is read from.
func TestVerifyShmem(t *testing.T) {
	g, files := makeGame(t, "text", "install")
	before := verify(t, files, g.options(t), casc.VerifyOptions{})
	files["Data/data/shmem"] = files["Data/data/shmem"][:100]
	found := verify(t, files, g.options(t), casc.VerifyOptions{})
	if len(found) != len(before)+1 || found[0].Kind != casc.FindingDamaged || !strings.HasPrefix(found[0].What, "casc: shmem: offset 0x0: 100 bytes") {
		t.Errorf("%v", found)
	}
}
