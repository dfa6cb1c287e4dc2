package casc_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	iofs "io/fs"
	"slices"
	"strings"
	"sync"
	"testing"

	"lorefs/blte"
	"lorefs/blte/bltetest"
	"lorefs/casc"
	"lorefs/casc/casctest"
	"lorefs/casc/casctest/write"
	"lorefs/casc/config"
	"lorefs/casc/far"
	"lorefs/casc/index"
	"lorefs/casc/keys"
	"lorefs/casc/root"
	"lorefs/internal/testneeds"
)

// memoryRemote is a Remote in memory that counts what is asked. It is right as a cache and
// hosts would be: what the caller's check refuses is an error.
type memoryRemote struct {
	cdn *write.CDN

	mu    sync.Mutex // guards the rest
	asked []string
	bytes int64
	// refuse tells why an object is not given, if it is not nil.
	refuse func(path string) error
	// spoil changes what comes, if it is not nil.
	spoil func(path string, data []byte) []byte
}

func (m *memoryRemote) get(ctx context.Context, path string, off, size int64) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	data, ok := m.cdn.Files[path]
	if size > 0 {
		m.asked = append(m.asked, fmt.Sprintf("%s %d+%d", path, off, size))
	} else {
		m.asked = append(m.asked, path)
	}
	if m.refuse != nil {
		if err := m.refuse(path); err != nil {
			return nil, err
		}
	}
	if !ok {
		return nil, fmt.Errorf("%s: %w", path, iofs.ErrNotExist)
	}
	if size > 0 {
		if off+size > int64(len(data)) {
			return nil, fmt.Errorf("%s: %d bytes at %d of %d", path, size, off, len(data))
		}
		data = data[off : off+size]
	}
	m.bytes += int64(len(data))
	if m.spoil != nil {
		data = m.spoil(path, bytes.Clone(data))
	}
	return data, nil
}

func checked(data []byte, err error, check func([]byte) error) ([]byte, error) {
	if err == nil {
		err = check(data)
	}
	return data, err
}

func (m *memoryRemote) Config(ctx context.Context, key keys.Key) ([]byte, error) {
	data, err := m.get(ctx, config.Path("config", key), 0, 0)
	return checked(data, err, func(b []byte) error {
		if write.Key(b) != key {
			return errors.New("wrong MD5")
		}
		return nil
	})
}

func (m *memoryRemote) Index(ctx context.Context, archive keys.Key, check func([]byte) error) ([]byte, error) {
	data, err := m.get(ctx, config.Path("data", archive)+".index", 0, 0)
	return checked(data, err, check)
}

func (m *memoryRemote) Loose(ctx context.Context, f far.File, check func([]byte) error) ([]byte, error) {
	data, err := m.get(ctx, config.Path("data", f.Key), 0, 0)
	return checked(data, err, check)
}

func (m *memoryRemote) Range(ctx context.Context, f far.File, off, size int64, check func([]byte) error) ([]byte, error) {
	at, off := placeIn(f, off)
	data, err := m.get(ctx, at, off, size)
	return checked(data, err, check)
}

func (m *memoryRemote) Together(ctx context.Context, archive keys.Key, files []far.File, check func(int, []byte) error) ([][]byte, error) {
	first, last := files[0].Off, files[len(files)-1]
	data, err := m.get(ctx, config.Path("data", archive), first, last.Off+last.Size-first)
	if err != nil {
		return nil, err
	}
	parts := make([][]byte, len(files))
	for i, f := range files {
		if part := data[f.Off-first:][:f.Size]; check(i, part) == nil {
			parts[i] = part
		}
	}
	return parts, nil
}

func (m *memoryRemote) Begin(ctx context.Context, f far.File, size int64, proven func([]byte) (int, error)) ([]byte, error) {
	at, off := placeIn(f, 0)
	data, err := m.get(ctx, at, off, size)
	if err != nil {
		return nil, err
	}
	n, err := proven(data)
	return data[:n], err
}

func placeIn(f far.File, off int64) (string, int64) {
	if f.Archive.IsZero() {
		return config.Path("data", f.Key), off
	}
	return config.Path("data", f.Archive), f.Off + off
}

func (m *memoryRemote) reset() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.asked, m.bytes = nil, 0
}

// requests returns what was asked since reset, without indexes.
func (m *memoryRemote) requests() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(m.asked), func(s string) bool { return strings.HasSuffix(s, ".index") })
}

func openRemote(t *testing.T, m *memoryRemote, opts casc.RemoteOptions) *casc.Storage {
	t.Helper()
	st, err := casc.OpenRemote(t.Context(), m, &config.Build{BuildKey: m.cdn.Build, CDNKey: m.cdn.Config}, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	return st
}

// TestRemote reads all files of storages with every kind of root.
func TestRemote(t *testing.T) {
	for kind, add := range casctest.Roots {
		t.Run(kind, func(t *testing.T) {
			g := newGame()
			g.Fill(t)
			add(g.Game)
			cdn, err := g.CDN(3)
			if err != nil {
				t.Fatal(err)
			}
			st := openRemote(t, &memoryRemote{cdn: cdn}, casc.RemoteOptions{Options: g.options(t)})
			for name, want := range g.Want {
				c, err := st.OpenName(t.Context(), name)
				var got []byte
				if err == nil {
					got, err = c.ReadAll(t.Context(), 1<<20)
				}
				switch {
				case want == nil:
					if !errors.Is(err, casc.ErrNotLocal) {
						t.Errorf("%s: %v, want %v", name, err, casc.ErrNotLocal)
					}
				case g.Secret[name]:
					if !errors.Is(err, blte.ErrNoKey) {
						t.Errorf("%s: %v, want %v", name, err, blte.ErrNoKey)
					}
				case err != nil || !bytes.Equal(got, want):
					t.Errorf("%s: %d bytes, want %d: %v", name, len(got), len(want), err)
				}
			}
			for f, err := range st.Verify(t.Context(), casc.VerifyOptions{}) {
				if err != nil {
					t.Fatal(err)
				}
				if f.Kind == casc.FindingDamaged {
					t.Errorf("verify: %v", f)
				}
			}
		})
	}
}

// largeFile returns a storage with a file of chunks of a size, in an archive behind another file.
func largeFile(t *testing.T, chunks, size int) (*write.CDN, []byte, keys.Key) {
	t.Helper()
	var b write.Builder
	b.Add([]byte("first"))
	var all []blte.Chunk
	var content []byte
	for i := range chunks {
		part := bltetest.Noise(size, uint64(i+1))
		all, content = append(all, blte.Chunk{Content: part}), append(content, part...)
	}
	s := b.AddChunks("b:{*=n}", blte.WriteOptions{}, all...)
	b.Root(b.Add(write.TextRoot([]root.File{{Name: "film", CKey: s.CKey}})))
	cdn, err := b.CDN(1)
	if err != nil {
		t.Fatal(err)
	}
	return cdn, content, s.CKey
}

// TestRemoteAhead reads a file from front to back in few requests, and parts of it with little
// besides them.
func TestRemoteAhead(t *testing.T) {
	testneeds.Seconds(t)
	const chunk, chunks = 256 << 10, 160
	cdn, content, ckey := largeFile(t, chunks, chunk)
	m := &memoryRemote{cdn: cdn}
	st := openRemote(t, m, casc.RemoteOptions{})
	open := func() *casc.Content {
		t.Helper()
		c, err := st.OpenContent(t.Context(), ckey)
		if err != nil {
			t.Fatal(err)
		}
		m.reset()
		return c
	}
	c := open()
	got := make([]byte, 0, len(content))
	for len(got) < len(content) {
		n, err := c.ReadAt(got[len(got):min(len(got)+100_000, len(content))], int64(len(got)))
		if err != nil {
			t.Fatal(err)
		}
		got = got[:len(got)+n]
	}
	if !bytes.Equal(got, content) {
		t.Error("other bytes")
	}
	if n := len(m.requests()); n > 8 { // 1, 2, 4, 8, 16, and 9 MiB
		t.Errorf("%d requests for 40 MiB: %v", n, m.requests())
	}
	c = open()
	for _, at := range []int64{30 * chunk, 100*chunk + 7, 60 * chunk} {
		p := make([]byte, 1000)
		if _, err := c.ReadAt(p, at); err != nil || !bytes.Equal(p, content[at:at+1000]) {
			t.Errorf("at %d: %v", at, err)
		}
	}
	if n := len(m.requests()); n != 3 || m.bytes > 4*chunk {
		t.Errorf("%d requests and %d bytes for three parts", n, m.bytes)
	}
}

// TestRemoteHeader opens a file whose header is larger than what is fetched at first.
func TestRemoteHeader(t *testing.T) {
	cdn, content, ckey := largeFile(t, 8000, 200)
	st := openRemote(t, &memoryRemote{cdn: cdn}, casc.RemoteOptions{})
	c, err := st.OpenContent(t.Context(), ckey)
	if err != nil {
		t.Fatal(err)
	}
	got, err := c.ReadAll(t.Context(), 1<<30)
	if err != nil || !bytes.Equal(got, content) {
		t.Errorf("%d bytes, want %d: %v", len(got), len(content), err)
	}
}

// TestRemoteSpoiled changes one byte of everything that comes, one object at a time: whatever
// is returned is right, and the rest is an error.
func TestRemoteSpoiled(t *testing.T) {
	cdn, content, ckey := largeFile(t, 20, 100_000)
	for path := range cdn.Files {
		m := &memoryRemote{cdn: cdn, spoil: func(at string, data []byte) []byte {
			if at == path && len(data) > 0 {
				data[len(data)/3] ^= 1
			}
			return data
		}}
		st, err := casc.OpenRemote(t.Context(), m, &config.Build{BuildKey: cdn.Build, CDNKey: cdn.Config}, casc.RemoteOptions{})
		if err != nil {
			continue
		}
		c, err := st.OpenContent(t.Context(), ckey)
		if err == nil {
			got, readErr := c.ReadAll(t.Context(), 1<<30)
			if err = readErr; err == nil && !bytes.Equal(got, content) {
				t.Errorf("%s: wrong bytes", path)
			}
		}
		if err != nil && strings.HasSuffix(path, "data") {
			t.Errorf("%s: %v", path, err)
		}
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestRemoteNamed opens a storage whose named files are all in archives, and looks for them in
// the indexes then.
func TestRemoteNamed(t *testing.T) {
	g := casctest.New()
	g.Fill(t)
	casctest.Roots["text"](g)
	g.PackNamed = true
	cdn, err := g.CDN(3)
	if err != nil {
		t.Fatal(err)
	}
	reads := 0
	m := &memoryRemote{cdn: cdn}
	st := openRemote(t, m, casc.RemoteOptions{Progress: func(done, total int) { reads = done*1000 + total }})
	if _, err := st.OpenName(t.Context(), "readme.txt"); err != nil {
		t.Error(err)
	}
	if reads != 3003 {
		t.Errorf("progress %d", reads)
	}
}

// TestRemoteKeyBeginsAlike asks for a key of which only the beginning, by which files are found,
// is that of a file in an archive.
func TestRemoteKeyBeginsAlike(t *testing.T) {
	g := newGame()
	s := g.Add(bytes.Repeat([]byte("content "), 100))
	g.Root(g.Add(write.TextRoot([]root.File{{Name: "f", CKey: s.CKey}})))
	cdn, err := g.CDN(1)
	if err != nil {
		t.Fatal(err)
	}
	st := openRemote(t, &memoryRemote{cdn: cdn}, casc.RemoteOptions{Options: g.options(t)})
	other := s.EKey
	other[len(other)-1] ^= 1
	if _, err := st.OpenEncoded(t.Context(), other[:]); !errors.Is(err, casc.ErrNotLocal) {
		t.Errorf("another key: %v", err)
	}
	if _, err := st.Locate(t.Context(), other[:]); !errors.Is(err, casc.ErrNotFound) {
		t.Errorf("the place of another key: %v", err)
	}
	if f, err := st.Locate(t.Context(), s.EKey[:keys.ShortSize]); err != nil || f.Key != s.EKey {
		t.Errorf("the place of the key: %v, %v", f, err)
	}
}

var errRefused = errors.New("status 403 Forbidden")

// TestRemoteRefused has hosts refuse what they do not have, in place of saying so: what lies in
// archives is found there.
func TestRemoteRefused(t *testing.T) {
	for kind, add := range casctest.Roots {
		t.Run(kind, func(t *testing.T) {
			g := newGame()
			g.Fill(t)
			add(g.Game)
			g.PackNamed = true
			cdn, err := g.CDN(3)
			if err != nil {
				t.Fatal(err)
			}
			st := openRemote(t, &memoryRemote{cdn: cdn, refuse: func(path string) error {
				if _, ok := cdn.Files[path]; !ok {
					return errRefused
				}
				return nil
			}}, casc.RemoteOptions{Options: g.options(t)})
			for name, want := range g.Want {
				got, err := readRemote(t, st, name)
				switch {
				case want == nil:
					if !st.Unreached(err) {
						t.Errorf("%s: %v, want that it could not be had", name, err)
					}
				case g.Secret[name]:
				case err != nil || !bytes.Equal(got, want):
					t.Errorf("%s: %d bytes, want %d: %v", name, len(got), len(want), err)
				}
			}
		})
	}
}

// TestRemoteRefusedIndex has hosts refuse one index after another: that costs the files of its
// archive only, and nobody says of them that they are nowhere.
func TestRemoteRefusedIndex(t *testing.T) {
	g := newGame()
	g.Fill(t)
	casctest.Roots["text"](g.Game)
	cdn, err := g.CDN(3)
	if err != nil {
		t.Fatal(err)
	}
	all, lost := 0, 0
	for index := range cdn.Files {
		if !strings.HasSuffix(index, ".index") {
			continue
		}
		st := openRemote(t, &memoryRemote{cdn: cdn, refuse: func(path string) error {
			if path == index {
				return errRefused
			}
			return nil
		}}, casc.RemoteOptions{Options: g.options(t)})
		for name, want := range g.Want {
			if want == nil || g.Secret[name] {
				continue
			}
			got, err := readRemote(t, st, name)
			switch all++; {
			case err == nil && !bytes.Equal(got, want):
				t.Errorf("%s: %d bytes, want %d", name, len(got), len(want))
			case err != nil && !st.Unreached(err):
				t.Errorf("%s: %v, want that it could not be had", name, err)
			case err != nil:
				lost++
			}
		}
	}
	if lost == 0 || lost > all/3 {
		t.Errorf("%d of %d files could not be read, want those of one archive of three", lost, all)
	}
}

// TestRemoteLostIndex loses one index of three, which hosts refuse or do not have. A check names all
// files of its archive, as what could not be had or as missing, and few requests look for them where
// nothing lies loose.
func TestRemoteLostIndex(t *testing.T) {
	const n = 1000
	for kind, refusal := range map[casc.FindingKind]error{casc.FindingFailed: errRefused, casc.FindingMissing: iofs.ErrNotExist} {
		large, cdn, err := casctest.NewLargeCDN(n, 3)
		if err != nil {
			t.Fatal(err)
		}
		lost := config.Path("data", cdn.Archives[1]) + ".index"
		m := &memoryRemote{cdn: cdn, refuse: func(path string) error {
			if path == lost {
				return refusal
			}
			return nil
		}}
		list, err := root.ParseListFile([]byte(large.List))
		if err != nil {
			t.Fatal(err)
		}
		names := func(m *memoryRemote) (named int) {
			st := openRemote(t, m, casc.RemoteOptions{Options: casc.Options{Names: list}})
			m.reset()
			for f, err := range st.Verify(t.Context(), casc.VerifyOptions{}) {
				switch {
				case err != nil:
					t.Fatal(err)
				case f.Kind != kind && f.Kind != casc.FindingMissing:
					t.Errorf("%v: %v", kind, f)
				case f.Kind == kind && f.File != "":
					named++
				}
			}
			return named
		}
		named := names(m)
		if named < n/4 || named > n/2 {
			t.Errorf("%v: %d of %d files are named, want those of one archive of three", kind, named, n)
		}
		if asked := len(m.requests()); asked > 100 {
			t.Errorf("%v: %d requests", kind, asked)
		}
		if kind == casc.FindingFailed {
			continue
		}
		// A mirror that has one of two of these files loose loses none of them, and neither does one
		// that has all files loose, and no index.
		index, err := index.ParseArchive(cdn.Files[lost])
		if err != nil {
			t.Fatal(err)
		}
		archive, loose := cdn.Files[config.Path("data", cdn.Archives[1])], 0
		for e := range index.Entries() {
			if loose++; loose%2 == 0 {
				cdn.Files[config.Path("data", e.Key)] = archive[e.Off : e.Off+e.Size]
			}
		}
		if got := names(m); got < named/3 || got > named*2/3 {
			t.Errorf("%d files are missing of which half are loose, of %d", got, named)
		}
	}
}

func readRemote(t *testing.T, st *casc.Storage, name string) ([]byte, error) {
	t.Helper()
	c, err := st.OpenName(t.Context(), name)
	if err != nil {
		return nil, err
	}
	return c.ReadAll(t.Context(), 1<<20)
}

// TestRemotePages reads pages of the encoding file that have others between them: with one request,
// unless those are many. The encoding file is too large to come as a whole.
func TestRemotePages(t *testing.T) {
	_, cdn, err := casctest.NewLargeCDN(20_000, 1)
	if err != nil {
		t.Fatal(err)
	}
	m := &memoryRemote{cdn: cdn}
	enc := openRemote(t, m, casc.RemoteOptions{}).Encoding()
	last := enc.ContentPages() - 1
	for name, tt := range map[string]struct {
		wanted   func(page int) bool
		requests int
	}{
		"neighbours":   {func(page int) bool { return page < 3 }, 1},
		"small gaps":   {func(page int) bool { return page < 100 && page%5 == 0 }, 1},
		"a gap":        {func(page int) bool { return page == 0 || page == 17 }, 1},
		"a larger gap": {func(page int) bool { return page == 0 || page == 18 }, 2},
		"ends":         {func(page int) bool { return page == 0 || page == last }, 2},
	} {
		m.reset()
		want := 0
		for page := range enc.ContentPages() {
			if tt.wanted(page) {
				want++
			}
		}
		ranges := enc.PageRanges(tt.wanted)
		for _, pages := range ranges {
			for page := pages[0]; page < pages[1]; page++ {
				if tt.wanted(page) {
					want--
				}
			}
			for _, err := range enc.ContentRows(t.Context(), pages[0], pages[1]) {
				if err != nil {
					t.Fatal(err)
				}
			}
		}
		if n := len(m.requests()); want != 0 || n != tt.requests {
			t.Errorf("%s: %d requests, want %d; ranges %v, %d pages not read", name, n, tt.requests, ranges, want)
		}
	}
}
