package casc_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path"
	"runtime"
	"slices"
	"strings"
	"testing"

	"lorefs/blte"
	"lorefs/blte/bltetest"
	"lorefs/casc"
	"lorefs/casc/casctest"
	"lorefs/casc/casctest/write"
	"lorefs/casc/index"
	"lorefs/casc/root"
	"lorefs/internal/testneeds"
)

// reading is a cache that keeps nothing.
type reading struct{}

func (reading) Block(ctx context.Context, n uint64, load func(context.Context, uint64) ([]byte, error)) ([]byte, error) {
	return load(ctx, n)
}

// idxName returns the index file of a bucket of an install that was just made.
func idxName(bucket int) string { return fmt.Sprintf("Data/data/%02x00000002.idx", bucket) }

// openCut opens an install, cuts the index of a bucket behind its header in place, and
// refreshes. It returns nil if the bucket is empty.
func openCut(t *testing.T, g game, files write.Files, bucket int) *casc.Storage {
	t.Helper()
	if len(casctest.AllIdx(t, casctest.ParseIdx(t, files[idxName(bucket)]))) == 0 {
		return nil
	}
	fsys, opts := casctest.FS(files), g.options(t)
	opts.Blocks = reading{}
	st, err := casc.Open(fsys, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	f := fsys[idxName(bucket)]
	f.Data, f.ModTime = f.Data[:0x28], f.ModTime.AddDate(1, 0, 0)
	if _, err := st.Refresh(); err != nil {
		t.Fatal(err)
	}
	return st
}

// TestRawChanges writes over an open file that is not BLTE. No byte of the new content may
// be returned.
func TestRawChanges(t *testing.T) {
	testneeds.Seconds(t)
	content := bltetest.Text(48 << 20)
	key := write.Key(content)
	g := newGame()
	s := write.Stored{CKey: key, EKey: key, Size: int64(len(content)), Encoded: content, Spec: "n"}
	g.Stored = append(g.Stored, s)
	g.Root(g.Add(write.TextRoot([]root.File{{Name: "raw", CKey: key}})))
	files, err := g.Install()
	if err != nil {
		t.Fatal(err)
	}
	st, err := casc.Open(casctest.FS(files), casc.Options{})
	if err != nil {
		t.Fatal(err)
	}
	before := casctest.Heap()
	c, err := st.OpenName(t.Context(), "raw")
	if err != nil {
		t.Fatal(err)
	}
	if more := casctest.Heap() - before; more > 4<<20 {
		t.Errorf("%d bytes are held", more)
	}
	p := make([]byte, 1000)
	if n, err := c.ReadAt(p, 100); n != len(p) || err != nil || !bytes.Equal(p, content[100:1100]) {
		t.Errorf("%d, %v", n, err)
	}
	name, at := find(files, content)
	files[name][at+30<<20] ^= 1
	if n, err := c.ReadAt(p, 30<<20+500); n > 0 || err == nil || !strings.Contains(err.Error(), "data.000 at ") {
		t.Errorf("written over: %d, %v", n, err)
	}
	if _, err := st.OpenName(t.Context(), "raw"); err == nil || !strings.Contains(err.Error(), "neither BLTE nor of this MD5") {
		t.Errorf("opened again: %v", err)
	}
	files[name][at+30<<20] ^= 1
	if got, err := c.ReadAll(t.Context(), 1<<30); err != nil || !bytes.Equal(got, content) {
		t.Errorf("put back: %d bytes, %v", len(got), err)
	}
	runtime.KeepAlive(st)
}

// TestCutIndex cuts the index of each bucket. The files of the other buckets stay readable.
func TestCutIndex(t *testing.T) {
	g, files := makeGame(t, "text", "install")
	own, others := 0, 0
	for bucket := range index.Buckets {
		st := openCut(t, g, files, bucket)
		if st == nil {
			continue
		}
		for _, s := range g.Stored {
			_, err := st.OpenEncoded(t.Context(), s.EKey[:])
			absent := errors.Is(err, casc.ErrNotLocal)
			if index.Bucket(s.EKey.Short()) == bucket {
				own++
				if err == nil || absent || !st.Has(s.EKey[:]) {
					t.Errorf("bucket %x: %v: %v; it is not known whether it is here", bucket, s.EKey, err)
				}
				continue
			}
			others++
			if absent != s.Absent || st.Has(s.EKey[:]) == s.Absent {
				t.Errorf("bucket %x: %v: absent is %v, opening it: %v", bucket, s.EKey, s.Absent, err)
			}
		}
	}
	if own == 0 || others == 0 {
		t.Errorf("%d files of the buckets that were cut, %d of others", own, others)
	}
}

// TestMisplacedEntry has an entry in another bucket than its own, which is cut.
func TestMisplacedEntry(t *testing.T) {
	g, files := makeGame(t, "text", "install")
	s := g.ByName["readme.txt"]
	bucket := index.Bucket(s.EKey.Short())
	at, _ := casctest.FindIdx(t, casctest.ParseIdx(t, files[idxName(bucket)]), s.EKey.Short())
	next, last := (bucket+1)%index.Buckets, (bucket+2)%index.Buckets
	files[idxName(bucket)] = write.Idx(bucket, nil, nil)
	files[idxName(next)] = write.Idx(next, append(casctest.AllIdx(t, casctest.ParseIdx(t, files[idxName(next)])), casctest.IdxEntries(1, 1)...), nil)
	files[idxName(last)] = write.Idx(last, append(casctest.AllIdx(t, casctest.ParseIdx(t, files[idxName(last)])), at), nil)
	st := openCut(t, g, files, next)
	if _, err := st.OpenEncoded(t.Context(), s.EKey[:]); err != nil || !st.Has(s.EKey[:]) {
		t.Error(err)
	}
}

// TestVerifyCutIndex cuts an index of an open storage. Verify reports the index, the files
// whose places only it had, and nothing else.
func TestVerifyCutIndex(t *testing.T) {
	g, files := makeGame(t, "text", "install")
	before := verify(t, files, g.options(t), casc.VerifyOptions{})
	told := 0
	for bucket := range index.Buckets {
		st := openCut(t, g, files, bucket)
		if st == nil {
			continue
		}
		all, err := st.Files(t.Context())
		if err != nil {
			continue // the root is in this bucket
		}
		indexes, lost := 0, map[string]bool{}
		left := slices.Clone(before)
		for f, err := range st.Verify(t.Context(), casc.VerifyOptions{}) {
			at := slices.IndexFunc(left, func(b casc.Finding) bool { return b.String() == f.String() })
			switch {
			case err != nil:
				t.Fatalf("bucket %x: %v", bucket, err)
			case at >= 0:
				left = slices.Delete(left, at, at+1)
			case f.Kind != casc.FindingDamaged || !strings.Contains(f.What, path.Base(idxName(bucket))):
				t.Errorf("bucket %x: %v", bucket, f)
			case f.File == "":
				indexes++
			default:
				lost[f.File] = true
				told++
			}
		}
		if indexes == 0 {
			t.Errorf("bucket %x: the index is not told of", bucket)
		}
		for i := range all {
			_, err := st.Open(t.Context(), &all[i])
			if failed := err != nil && !errors.Is(err, casc.ErrNotLocal) && !errors.Is(err, blte.ErrNoKey); failed != lost[all[i].Name] {
				t.Errorf("bucket %x: %s: told of is %v, opening it: %v", bucket, all[i].Name, lost[all[i].Name], err)
			}
		}
		for _, f := range left {
			if !slices.ContainsFunc(g.Stored, func(s write.Stored) bool {
				return len(f.EKey) > 0 && bytes.HasPrefix(s.EKey[:], f.EKey) && index.Bucket(s.EKey.Short()) == bucket
			}) {
				t.Errorf("bucket %x: not found any more: %v", bucket, f)
			}
		}
	}
	if told == 0 {
		t.Error("no file was lost")
	}
}
