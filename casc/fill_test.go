package casc_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	iofs "io/fs"
	"slices"
	"sync/atomic"
	"testing"
	"testing/fstest"

	"lorefs/blte"
	"lorefs/blte/bltetest"
	"lorefs/casc"
	"lorefs/casc/casctest"
	"lorefs/casc/casctest/write"
	"lorefs/casc/keys"
	"lorefs/casc/root"
)

// TestFillMissingKeys reads a file with chunks of an unknown key: as a whole, by spans, and
// where another form of it needs no key or fewer.
func TestFillMissingKeys(t *testing.T) {
	secret := &blte.Encryption{Name: bltetest.SecretName, IV: []byte{1, 2, 3, 4}, Cipher: blte.CipherSalsa20}
	content := bltetest.Noise(999, 5)
	parts := []int{0, 101, 350, 351, 777, 999}
	// chunks returns the content in chunks, of which some are encrypted.
	chunks := func(hidden ...int) (all []blte.Chunk) {
		for i := range len(parts) - 1 {
			c := blte.Chunk{Content: content[parts[i]:parts[i+1]]}
			if slices.Contains(hidden, i) {
				c.Encrypt, c.Key = secret, bltetest.Key()
			}
			all = append(all, c)
		}
		return all
	}
	holed := func(gaps ...blte.Gap) []byte {
		b := bytes.Clone(content)
		for _, g := range gaps {
			clear(b[g.Off : g.Off+g.Size])
		}
		return b
	}
	one, three := blte.Gap{Off: 101, Size: 249, Key: bltetest.SecretName}, blte.Gap{Off: 351, Size: 426, Key: bltetest.SecretName}
	for name, c := range map[string]struct {
		forms [][]int
		want  []blte.Gap
	}{
		"one form":                   {[][]int{{1, 3}}, []blte.Gap{one, three}},
		"neighbors":                  {[][]int{{1, 2, 3}}, []blte.Gap{{Off: 101, Size: 676, Key: bltetest.SecretName}}},
		"a whole form":               {[][]int{{1, 3}, {}}, nil},
		"a whole form that is first": {[][]int{{}, {1, 3}}, nil},
		"a form with more":           {[][]int{{1, 3}, {3}}, []blte.Gap{three}},
		"forms that lack others":     {[][]int{{1}, {3}}, []blte.Gap{one}},
	} {
		g := casctest.New()
		var s write.Stored
		for _, hidden := range c.forms {
			s = g.AddChunks("n", blte.WriteOptions{}, chunks(hidden...)...)
		}
		other := g.Add([]byte("head"))
		cut := root.Span{EKey: s.EKey, CKey: s.CKey, Off: 90, Size: 300, ContentSize: 999}
		head := root.Span{EKey: other.EKey, CKey: other.CKey, Size: 4, ContentSize: 4}
		g.Ref("vfs-root", g.Add(write.TVFS([]root.File{{Name: "spans", Spans: []root.Span{head, cut}}})))
		files, err := g.Install()
		if err != nil {
			t.Fatal(err)
		}
		cache := &keeping{blocks: map[uint64][]byte{}}
		st, err := casc.Open(casctest.FS(files), casc.Options{FillMissingKeys: true, Blocks: cache})
		if err != nil {
			t.Fatal(err)
		}
		defer st.Close()
		f, err := st.OpenContent(t.Context(), s.CKey)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		gaps, err := f.Gaps(t.Context())
		if err != nil || !slices.Equal(gaps, c.want) {
			t.Errorf("%s: gaps %v, %v", name, gaps, err)
		}
		want := holed(c.want...)
		for _, step := range []int{1, 7, 250, 999} {
			p := make([]byte, step)
			for off := 0; off < len(want); off += step {
				n, err := f.ReadAt(p, int64(off))
				if end := min(off+step, len(want)); !bytes.Equal(p[:n], want[off:end]) || n < step && off+n < len(want) {
					t.Fatalf("%s: %d bytes at %d: %d, %v", name, step, off, n, err)
				}
			}
		}
		// What the storage reads for itself has no zeros.
		if got, err := st.Content(t.Context(), s.CKey); len(c.want) > 0 && len(c.forms) == 1 && !errors.Is(err, blte.ErrNoKey) {
			t.Errorf("%s: not filled: %d bytes, %v", name, len(got), err)
		}
		if len(c.forms) > 1 {
			continue
		}
		spans, err := st.OpenName(t.Context(), "spans")
		if err != nil {
			t.Fatal(err)
		}
		got, err := spans.ReadAll(t.Context(), 1<<20)
		if want := append([]byte("head"), want[90:390]...); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: spans: %q, %v", name, got, err)
		}
		if gaps, err := spans.Gaps(t.Context()); err != nil || gaps[0] != (blte.Gap{Off: 15, Size: gaps[0].Size, Key: bltetest.SecretName}) || gaps[0].Size < 249 {
			t.Errorf("%s: gaps of spans: %v, %v", name, gaps, err)
		}
	}
}

// TestLeaveWhileFilling ends the context at each read of a storage by which a file is opened that
// lacks a key in one form and nothing in the other. What could not be looked at is no worse form.
func TestLeaveWhileFilling(t *testing.T) {
	secret := &blte.Encryption{Name: bltetest.SecretName, IV: []byte{1, 2, 3, 4}, Cipher: blte.CipherSalsa20}
	content := bltetest.Noise(999, 5)
	g := casctest.New()
	s := g.AddChunks("n", blte.WriteOptions{}, blte.Chunk{Content: content, Encrypt: secret, Key: bltetest.Key()})
	g.AddChunks("n", blte.WriteOptions{}, blte.Chunk{Content: content})
	files, err := g.Install()
	if err != nil {
		t.Fatal(err)
	}
	fsys := &watched{MapFS: casctest.FS(files)}
	st, err := casc.Open(fsys, casc.Options{FillMissingKeys: true})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	for reads := int64(1); ; reads++ {
		ctx, leave := context.WithCancel(t.Context())
		defer leave()
		var n atomic.Int64
		read := func() {
			if n.Add(1) == reads {
				leave()
			}
		}
		fsys.read.Store(&read)
		f, err := st.OpenContent(ctx, s.CKey)
		if err == nil {
			var gaps []blte.Gap
			if gaps, err = f.Gaps(t.Context()); len(gaps) > 0 {
				t.Errorf("left at read %d: gaps %v", reads, gaps)
			}
		}
		if err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("left at read %d: %v", reads, err)
		}
		if ctx.Err() == nil {
			break // it was opened in fewer reads
		}
	}
}

// watched tells of each read of its files.
type watched struct {
	fstest.MapFS
	read atomic.Pointer[func()]
}

type watchedFile struct {
	iofs.File
	io.ReaderAt
	fsys *watched
}

func (w *watched) Open(name string) (iofs.File, error) {
	f, err := w.MapFS.Open(name)
	if r, ok := f.(io.ReaderAt); ok && err == nil {
		return watchedFile{f, r, w}, nil
	}
	return f, err
}

func (f watchedFile) ReadAt(p []byte, off int64) (int, error) {
	if read := f.fsys.read.Load(); read != nil {
		(*read)()
	}
	return f.ReaderAt.ReadAt(p, off)
}

// TestFillNothingElse has a root that lacks a key: a storage never goes on with zeros in it.
func TestFillNothingElse(t *testing.T) {
	g := casctest.New()
	g.Fill(t)
	secret := &blte.Encryption{Name: bltetest.SecretName, IV: []byte{1, 2, 3, 4}, Cipher: blte.CipherSalsa20}
	g.Root(g.AddChunks("n", blte.WriteOptions{}, blte.Chunk{Content: write.TextRoot(g.Files()), Encrypt: secret, Key: bltetest.Key()}))
	files, err := g.Install()
	if err != nil {
		t.Fatal(err)
	}
	st, err := casc.Open(casctest.FS(files), casc.Options{FillMissingKeys: true})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	if list, err := st.Files(t.Context()); !errors.Is(err, blte.ErrNoKey) {
		t.Errorf("%d files, %v", len(list), err)
	}
	told := false
	for f, err := range st.Verify(t.Context(), casc.VerifyOptions{}) {
		told = told || f.Kind == casc.FindingNoKey
		if err != nil {
			t.Error(err)
		}
	}
	if !told {
		t.Error("verify tells of no missing key")
	}
}

// TestFilledAsCascLib reads the files of the fixtures that lack a key: CascLib, which has
// zeros for such chunks too, got the same bytes. Nothing else changes by filling.
func TestFilledAsCascLib(t *testing.T) {
	for _, kind := range casctest.Synthetics {
		s := loadSynthetic(t, kind)
		st := s.open(t, "csv", casc.Options{FillMissingKeys: true})
		partial := 0
		for _, row := range s.rows {
			if row.status != "ok" || !row.local || row.ckey == "" {
				continue
			}
			ckey, err := keys.Parse(row.ckey)
			if err != nil || ckey.IsZero() {
				continue
			}
			c, err := st.OpenContent(t.Context(), ckey)
			if err != nil {
				continue // CascLib lists spans of files by their keys, too
			}
			gaps, err := c.Gaps(t.Context())
			if err != nil {
				t.Fatalf("%s: %s: %v", kind, row.name, err)
			}
			if len(gaps) == 0 {
				continue
			}
			partial++
			if sum, err := read(c); err != nil || sum != row.md5 || sum == row.ckey {
				t.Errorf("%s: %s: MD5 %s, %v; CascLib's is %s", kind, row.name, sum, err, row.md5)
			}
		}
		if partial == 0 {
			t.Errorf("%s: no file lacks a key", kind)
		}
	}
}
