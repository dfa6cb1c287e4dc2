package remote_test

import (
	"bytes"
	"context"
	"crypto/md5"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	iofs "io/fs"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"lorefs/internal/disk/disktest"
	"lorefs/internal/remote"
	"lorefs/internal/remote/mirror"
	"lorefs/internal/remote/remotetest"
)

const storage = "tpr/test"

// soon are times for hosts that fail at once. They are long where a busy machine might look
// like a host that fails.
var soon = remote.Times{Pause: time.Millisecond, MaxRetryAfter: time.Millisecond}

// randomBytes returns bytes that are the same for the same seed.
func randomBytes(seed uint64, n int) []byte {
	var data []byte
	for r := rand.NewPCG(seed, 0); len(data) < n; {
		data = binary.LittleEndian.AppendUint64(data, r.Uint64())
	}
	return data[:n:n]
}

func pathOf(kind string, key remote.Key) string {
	text := hex.EncodeToString(key[:])
	return fmt.Sprintf("%s/%s/%s/%s/%s", storage, kind, text[:2], text[2:4], text)
}

// equals returns a check for certain bytes.
func equals(want []byte) func([]byte) error {
	return func(data []byte) error {
		if !bytes.Equal(data, want) {
			return errors.New("wrong bytes")
		}
		return nil
	}
}

// objects are what the hosts of these tests have: a configuration, an archive with its index,
// and a loose file.
type objects struct {
	config, index, archive, loose   []byte
	largeArchive                    []byte
	configKey, archiveKey, looseKey remote.Key
	inArchive, inLarge              remote.File
}

// made are the objects of all tests, which do not change them.
var made = sync.OnceValue(func() *objects {
	o := &objects{
		config: []byte("# Build Configuration\n\nroot = 00\n"), index: randomBytes(1, 5000),
		archive: randomBytes(2, 60_000), loose: randomBytes(3, 3000),
		archiveKey: remote.Key{1, 2, 3}, looseKey: remote.Key{4, 5, 6},
		largeArchive: randomBytes(4, 1<<20+200_000),
	}
	o.configKey = md5.Sum(o.config)
	o.inArchive = remote.File{Key: remote.Key{7, 7}, Archive: o.archiveKey, Off: 1000, Size: 20_000}
	o.inLarge = remote.File{Key: remote.Key{8, 8}, Archive: remote.Key{9, 9}, Off: 1 << 20, Size: 100_000}
	return o
})

func newObjects(s *remotetest.Server) *objects {
	o := made()
	s.Put(pathOf("config", o.configKey), o.config)
	s.Put(pathOf("data", o.archiveKey)+".index", o.index)
	s.Put(pathOf("data", o.archiveKey), o.archive)
	s.Put(pathOf("data", o.looseKey), o.loose)
	s.Put(pathOf("data", o.inLarge.Archive), o.largeArchive)
	return o
}

// part returns bytes of a file of an archive.
func part(archive []byte, f remote.File, off, size int64) []byte {
	return archive[f.Off+off : f.Off+off+size]
}

// readAll reads something of each kind, and compares it.
func (o *objects) readAll(ctx context.Context, c *remote.Client) error {
	var all error
	compare := func(what string, got, want []byte, err error) {
		switch {
		case err != nil:
			all = errors.Join(all, fmt.Errorf("%s: %w", what, err))
		case !bytes.Equal(got, want):
			all = errors.Join(all, fmt.Errorf("%s: wrong bytes were returned", what))
		}
	}
	got, err := c.Config(ctx, o.configKey)
	compare("config", got, o.config, err)
	got, err = c.Index(ctx, o.archiveKey, equals(o.index))
	compare("index", got, o.index, err)
	got, err = c.Loose(ctx, remote.File{Key: o.looseKey}, equals(o.loose))
	compare("loose", got, o.loose, err)
	want := part(o.archive, o.inArchive, 500, 8000)
	got, err = c.Range(ctx, o.inArchive, 500, 8000, equals(want))
	compare("range", got, want, err)
	want = part(o.largeArchive, o.inLarge, 0, o.inLarge.Size)
	got, err = c.Range(ctx, o.inLarge, 0, o.inLarge.Size, equals(want))
	compare("range of a large archive", got, want, err)
	return all
}

func newClient(t *testing.T, o remote.Options) *remote.Client {
	t.Helper()
	if o.Path == "" {
		o.Path = storage
	}
	if o.Times == (remote.Times{}) {
		o.Times = soon
	}
	c, err := remote.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func newCache(t *testing.T, dir string, o mirror.Options) *mirror.Cache {
	t.Helper()
	cache, err := mirror.Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cache.Close(); err != nil {
			t.Error(err)
		}
	})
	return cache
}

// stalls tells whether a fault is noticed only after a time.
func stalls(f remotetest.Fault) bool {
	return f == remotetest.Stall || f == remotetest.Silence || f == remotetest.Drip
}

// TestOneFaultyHost checks that all bytes are right whatever one host does wrong, be it the
// first or the second.
func TestOneFaultyHost(t *testing.T) {
	for _, fault := range remotetest.Faults {
		for host := range 2 {
			t.Run(fmt.Sprintf("%v,%d", fault, host), func(t *testing.T) {
				t.Parallel()
				s := remotetest.New(t, 2)
				o := newObjects(s)
				s.SetFault(func(r remotetest.Request) remotetest.Fault {
					if r.Host == host {
						return fault
					}
					return remotetest.None
				})
				times := soon
				givesUp := stalls(fault) && host == 0 // otherwise nobody asks the host that stalls
				if givesUp {
					times.Connect, times.Header, times.Progress, times.Slow = time.Second, 2*time.Second, 3*time.Second, time.Second
				}
				c := newClient(t, remote.Options{Hosts: s.Hosts(), Times: times})
				if err := o.readAll(t.Context(), c); err != nil {
					t.Fatal(err)
				}
				stats := c.Stats()
				if failed := stats.Hosts[0].Failures > 0; failed != (host == 0 && fault != remotetest.NotFound) {
					t.Errorf("the first host failed: %v: %+v", failed, stats)
				}
				// A request that was given up may not have got as far as the host.
				got := int64(len(s.Requests()))
				if stats.Requests < got || stats.Requests > got && !givesUp || stats.Bytes > s.Bytes() || stats.Bytes == 0 {
					t.Errorf("counted %+v, the hosts got %d requests", stats, got)
				}
			})
		}
	}
}

// TestAllFaulty checks that the error says what every host did, and that no wrong byte comes.
func TestAllFaulty(t *testing.T) {
	for _, fault := range remotetest.Faults {
		if stalls(fault) {
			continue // TestStall
		}
		t.Run(fault.String(), func(t *testing.T) {
			t.Parallel()
			s := remotetest.New(t, 2)
			o := newObjects(s)
			s.SetFault(func(remotetest.Request) remotetest.Fault { return fault })
			c := newClient(t, remote.Options{Hosts: s.Hosts()})
			_, err := c.Range(t.Context(), o.inLarge, 10, 5000, equals(part(o.largeArchive, o.inLarge, 10, 5000)))
			failed, ok := errors.AsType[*remote.Error](err)
			if !ok || len(failed.Failures) != 2 || failed.Path != pathOf("data", o.inLarge.Archive) {
				t.Fatalf("the error is %v", err)
			}
			for _, h := range s.Hosts() {
				if !strings.Contains(err.Error(), h.URL) {
					t.Errorf("the error does not name %s: %v", h.URL, err)
				}
			}
			if errors.Is(err, syscall.ECONNRESET) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("the error looks like one of ours: %v", err)
			}
			if gone := errors.Is(err, iofs.ErrNotExist); gone != (fault == remotetest.NotFound) {
				t.Errorf("not there: %v: %v", gone, err)
			}
			asked := len(s.Requests())
			want := 8
			switch fault {
			case remotetest.NotFound, remotetest.Forbidden: // which would be said again
				want = 2
			case remotetest.TooMany, remotetest.Reset: // which may soon be over
				want = 20
			}
			if asked != want {
				t.Errorf("%d requests, want %d", asked, want)
			}
			// That is remembered, and of what hosts refuse as a whole all of it.
			_, again := c.Range(t.Context(), o.inLarge, 10, 5000, equals(nil))
			if len(s.Requests()) != asked || errors.Is(again, iofs.ErrNotExist) != (fault == remotetest.NotFound) {
				t.Errorf("asked again: %v", again)
			}
			_, _ = c.Range(t.Context(), o.inLarge, 11, 5000, equals(nil))
			refused := slices.Contains([]remotetest.Fault{
				remotetest.NotFound, remotetest.TooMany, remotetest.Unavailable, remotetest.Forbidden, remotetest.Broken, remotetest.Dropped,
			}, fault)
			if more := len(s.Requests()) - asked; (more == 0) != refused {
				t.Errorf("%d requests for another part", more)
			}
		})
	}
}

// TestRecovery checks that a host which failed for a while is asked again within one read.
func TestRecovery(t *testing.T) {
	s := remotetest.New(t, 1)
	o := newObjects(s)
	var mu sync.Mutex
	left := map[string]int{}
	s.SetFault(func(r remotetest.Request) remotetest.Fault {
		mu.Lock()
		defer mu.Unlock()
		left[r.Path]++
		return []remotetest.Fault{remotetest.TooMany, remotetest.Reset, remotetest.WrongBytes, remotetest.None}[min(left[r.Path]-1, 3)]
	})
	c := newClient(t, remote.Options{Hosts: s.Hosts()})
	if err := o.readAll(t.Context(), c); err != nil {
		t.Fatal(err)
	}
}

// TestProductConfig checks where the configuration of a product is looked for.
func TestProductConfig(t *testing.T) {
	s := remotetest.New(t, 1)
	text := []byte(`{"all":{}}`)
	key := md5.Sum(text)
	s.Put(strings.Replace(pathOf("data", key), storage, "tpr/configs", 1), text)
	c := newClient(t, remote.Options{Hosts: s.Hosts(), ConfigPath: "tpr/configs/data"})
	if got, err := c.ProductConfig(t.Context(), key); err != nil || !bytes.Equal(got, text) {
		t.Errorf("%q, %v", got, err)
	}
	nowhere := newClient(t, remote.Options{Hosts: s.Hosts()})
	if _, err := nowhere.ProductConfig(t.Context(), key); err == nil || len(s.Requests()) != 1 {
		t.Errorf("%d requests, %v", len(s.Requests()), err)
	}
}

// TestSmallWhole checks that a small object may come whole, so that hosts without ranges can
// be used.
func TestSmallWhole(t *testing.T) {
	s := remotetest.New(t, 1)
	o := newObjects(s)
	s.SetFault(func(remotetest.Request) remotetest.Fault { return remotetest.Whole })
	c := newClient(t, remote.Options{Hosts: s.Hosts()})
	want := part(o.archive, o.inArchive, 500, 8000)
	if got, err := c.Range(t.Context(), o.inArchive, 500, 8000, equals(want)); err != nil || !bytes.Equal(got, want) {
		t.Fatal(err)
	}
}

// TestCache checks that a second client asks for nothing, also without hosts, and that what
// was damaged is fetched again.
func TestCache(t *testing.T) {
	s := remotetest.New(t, 1)
	o := newObjects(s)
	dir := t.TempDir()
	cache := newCache(t, dir, mirror.Options{})
	if err := o.readAll(t.Context(), newClient(t, remote.Options{Hosts: s.Hosts(), Cache: cache})); err != nil {
		t.Fatal(err)
	}
	s.Reset()
	c := newClient(t, remote.Options{Hosts: s.Hosts(), Cache: newCache(t, dir, mirror.Options{})})
	if err := o.readAll(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	// A part of a part needs no request either, nor does a loose file that lies in an archive.
	want := part(o.archive, o.inArchive, 700, 50)
	if _, err := c.Range(t.Context(), remote.File{Key: o.inArchive.Key}, 700, 50, equals(want)); err != nil {
		t.Error(err)
	}
	if stats := c.Stats(); stats.Requests != 0 || stats.Cached != 6 || len(s.Requests()) != 0 {
		t.Errorf("the second client: %+v, %d requests", stats, len(s.Requests()))
	}
	offline := newClient(t, remote.Options{Offline: true, Cache: cache})
	if err := o.readAll(t.Context(), offline); err != nil {
		t.Fatal(err)
	}
	if _, err := offline.Loose(t.Context(), remote.File{Key: remote.Key{99}}, equals(nil)); !errors.Is(err, remote.ErrOffline) {
		t.Errorf("offline: %v", err)
	}
	spoilAll(t, dir)
	if err := o.readAll(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if n := len(s.Requests()); n != 5 {
		t.Errorf("%d requests for damaged objects, want 5", n)
	}
	s.Reset()
	if err := o.readAll(t.Context(), c); err != nil || len(s.Requests()) != 0 {
		t.Errorf("what was damaged was not replaced: %d requests, %v", len(s.Requests()), err)
	}
}

// TestOnce checks that a client whose reader keeps what it reads once puts only what the storage
// needs into the cache, and still takes from it what is there.
func TestOnce(t *testing.T) {
	s := remotetest.New(t, 1)
	o := newObjects(s)
	cache := newCache(t, t.TempDir(), mirror.Options{})
	once := newClient(t, remote.Options{Hosts: s.Hosts(), Cache: cache, Once: true})
	if err := o.readAll(t.Context(), once); err != nil {
		t.Fatal(err)
	}
	files := []remote.File{o.inArchive}
	isRight := func(int, []byte) error { return nil }
	if got, err := once.Together(t.Context(), o.archiveKey, files, 0, isRight); err != nil || got[0] == nil {
		t.Fatal(err)
	}
	offline := newClient(t, remote.Options{Offline: true, Cache: cache})
	if _, err := offline.Config(t.Context(), o.configKey); err != nil {
		t.Error(err)
	}
	if _, err := offline.Index(t.Context(), o.archiveKey, equals(o.index)); err != nil {
		t.Error(err)
	}
	if _, err := offline.Loose(t.Context(), remote.File{Key: o.looseKey}, equals(o.loose)); !errors.Is(err, remote.ErrOffline) {
		t.Errorf("a loose file: %v", err)
	}
	if _, err := offline.Range(t.Context(), o.inArchive, 0, o.inArchive.Size, func([]byte) error { return nil }); !errors.Is(err, remote.ErrOffline) {
		t.Errorf("a file of an archive: %v", err)
	}
	if err := o.readAll(t.Context(), newClient(t, remote.Options{Hosts: s.Hosts(), Cache: cache})); err != nil {
		t.Fatal(err)
	}
	s.Reset()
	if err := o.readAll(t.Context(), once); err != nil || len(s.Requests()) != 0 {
		t.Errorf("%d requests for what is in the cache, %v", len(s.Requests()), err)
	}
}

// TestFullDisk checks that nothing but the cache suffers from a full disk, and that it is said.
func TestFullDisk(t *testing.T) {
	s := remotetest.New(t, 1)
	o := newObjects(s)
	d := disktest.New()
	cache := newCache(t, t.TempDir(), mirror.Options{Disk: d})
	c := newClient(t, remote.Options{Hosts: s.Hosts(), Cache: cache})
	if err := c.Stats().CacheTrouble; err != nil {
		t.Errorf("trouble before anything was written: %v", err)
	}
	d.SetBefore(disktest.Fail(-1, func(op disktest.Op) bool { return op.Name == "write" }))
	for range 2 {
		if err := o.readAll(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Stats().CacheTrouble; !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("the trouble is %v", err)
	}
	if n := len(s.Requests()); n != 10 {
		t.Errorf("%d requests, want 10", n)
	}
}

// spoilAll changes a byte of every file in a cache.
func spoilAll(t *testing.T, dir string) {
	t.Helper()
	for _, sub := range []string{"mirror", "pieces"} {
		fsys := os.DirFS(dir)
		err := iofs.WalkDir(fsys, sub, func(name string, d iofs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			data, err := iofs.ReadFile(fsys, name)
			if err != nil {
				return err
			}
			data[len(data)/2] ^= 1
			return os.WriteFile(dir+"/"+name, data, 0o600)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestHostOrder checks what the parameters of hosts do.
func TestHostOrder(t *testing.T) {
	cases := map[string]struct {
		fallback, strict int // the number of a host, or -1
		faulty           []int
		want             []int // the hosts that are asked, in their order
	}{
		"order":             {-1, -1, nil, []int{0}},
		"next":              {-1, -1, []int{0}, []int{0, 1}},
		"fallback later":    {0, -1, nil, []int{1}},
		"fallback needed":   {0, -1, []int{1, 2}, []int{1, 2, 0}},
		"strict":            {-1, 1, []int{0}, []int{0, 1}},
		"strict and faulty": {-1, 0, []int{0}, []int{0, 0, 0, 0}},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := remotetest.New(t, 3)
			o := newObjects(s)
			hosts := s.Hosts()
			if test.fallback >= 0 {
				hosts[test.fallback].Fallback = true
			}
			if test.strict >= 0 {
				hosts[test.strict].Strict = true
			}
			s.SetFault(func(r remotetest.Request) remotetest.Fault {
				if slices.Contains(test.faulty, r.Host) {
					return remotetest.Unavailable
				}
				return remotetest.None
			})
			_, err := newClient(t, remote.Options{Hosts: hosts}).Config(t.Context(), o.configKey)
			if failed := err != nil; failed != (name == "strict and faulty") {
				t.Error(err)
			}
			var got []int
			for _, r := range s.Requests() {
				got = append(got, r.Host)
			}
			if fmt.Sprint(got) != fmt.Sprint(test.want) {
				t.Errorf("asked %v, want %v", got, test.want)
			}
		})
	}
}

// TestBadRequests checks requests that make no sense.
func TestBadRequests(t *testing.T) {
	s := remotetest.New(t, 1)
	o := newObjects(s)
	c := newClient(t, remote.Options{Hosts: s.Hosts()})
	for _, r := range [][2]int64{{-1, 10}, {0, 0}, {0, -1}, {0, 20_001}, {20_000, 1}, {1 << 62, 1 << 62}, {0, 1 << 40}} {
		if _, err := c.Range(t.Context(), o.inArchive, r[0], r[1], equals(nil)); err == nil {
			t.Errorf("%d bytes from %d on were read", r[1], r[0])
		}
	}
	for _, r := range []struct{ start, off, size int64 }{{-5, 0, 1}, {0, math.MaxInt64 - 5, 10}, {1 << 62, 1 << 62, 1}} {
		f := remote.File{Archive: remote.Key{2}, Off: r.start} // nobody knows its size
		if _, err := c.Range(t.Context(), f, r.off, r.size, equals(nil)); err == nil {
			t.Errorf("%+v was read", r)
		}
	}
	if _, err := c.Range(t.Context(), o.inArchive, 0, 1, nil); err == nil {
		t.Error("a range that nothing proves was read")
	}
	if _, err := c.Loose(t.Context(), remote.File{Key: o.looseKey}, nil); err == nil {
		t.Error("an object that nothing proves was read")
	}
	if n := len(s.Requests()); n != 0 {
		t.Errorf("%d requests were made", n)
	}
	for _, path := range []string{"../x", "a//b", "/a", "a/", "a b", "a/..", "a?b", "a\\b"} {
		if _, err := remote.New(remote.Options{Path: path}); err == nil {
			t.Errorf("the path %q was taken", path)
		}
	}
	none := newClient(t, remote.Options{})
	if _, err := none.Config(t.Context(), o.configKey); err == nil || errors.Is(err, iofs.ErrNotExist) {
		t.Errorf("without hosts: %v", err)
	}
}

func TestParseHosts(t *testing.T) {
	listed := map[string]string{
		"http://level3.example.com/?maxhosts=4":             "{http://level3.example.com false false 4}",
		"https://us.cdn.example.com/?maxhosts=4&fallback=1": "{https://us.cdn.example.com true false 4}",
		"https://a1-b.example.com?strict=1&x=y&maxhosts=0":  "{https://a1-b.example.com false true 0}",
		"http://10.0.0.1/":           "",
		"http://localhost/":          "",
		"http://a.example.com:8080/": "",
		"http://u:p@a.example.com/":  "",
		"http://a.example.com/x":     "",
		"http://[::1]/":              "",
		"file://a.example.com/":      "",
		"http://-a.example.com/":     "",
		"http://a..com/":             "",
		"http://a_b.example.com/":    "",
		"a.example.com":              "",
		"http://127.1/":              "",
		"http://127.0.0.0x1/":        "",
		"http://0x7f.0x1/":           "",
		"http://%zz/":                "",
	}
	for text, want := range listed {
		h, err := remote.ParseListed(text)
		if got := fmt.Sprint(h); err == nil && got != want || (err != nil) != (want == "") {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	given := map[string]string{
		"archive.example.com":           "{https://archive.example.com false false 0}",
		"http://127.0.0.1:8080/mirror/": "{http://127.0.0.1:8080/mirror false false 0}",
		"http://u:p@a.example.com/":     "",
		"":                              "",
	}
	for text, want := range given {
		h, err := remote.ParseGiven(text)
		if got := fmt.Sprint(h); err == nil && got != want || (err != nil) != (want == "") {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
}

// TestDecrypt checks that objects of encrypted products are decrypted by their names and by the
// place of what was fetched, and that the cache needs neither.
func TestDecrypt(t *testing.T) {
	crypt := func(name remote.Key, off int64, data []byte) {
		for i := range data {
			data[i] ^= name[0] + byte(off) + byte(i)
		}
	}
	s := remotetest.New(t, 1)
	o := newObjects(s)
	put := func(path string, name remote.Key, data []byte) {
		data = bytes.Clone(data)
		crypt(name, 0, data)
		s.Put(path, data)
	}
	put(pathOf("config", o.configKey), o.configKey, o.config)
	put(pathOf("data", o.archiveKey)+".index", o.archiveKey, o.index)
	put(pathOf("data", o.archiveKey), o.archiveKey, o.archive)
	put(pathOf("data", o.looseKey), o.looseKey, o.loose)
	put(pathOf("data", o.inLarge.Archive), o.inLarge.Archive, o.largeArchive)
	cache := newCache(t, t.TempDir(), mirror.Options{})
	for _, host := range [][]remote.Host{s.Hosts(), nil} {
		c := newClient(t, remote.Options{Hosts: host, Cache: cache, Decrypt: crypt})
		if err := o.readAll(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	c := newClient(t, remote.Options{Hosts: s.Hosts()})
	if err := o.readAll(t.Context(), c); err == nil {
		t.Error("encrypted objects were taken as they are")
	}
}

// TestPanickingCheck lets a check panic more often than a host has requests: the host is free
// for others afterwards.
func TestPanickingCheck(t *testing.T) {
	s := remotetest.New(t, 1)
	o := newObjects(s)
	c := newClient(t, remote.Options{Hosts: s.Hosts()})
	for range 20 {
		func() {
			defer func() {
				if recover() == nil {
					t.Error("the panic is lost")
				}
			}()
			_, _ = c.Loose(t.Context(), remote.File{Key: o.looseKey}, func([]byte) error { panic("BUG") })
		}()
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if got, err := c.Loose(ctx, remote.File{Key: o.looseKey}, equals(o.loose)); err != nil || !bytes.Equal(got, o.loose) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}

// TestBegin fetches the beginning of a file, of which only a part can be proven, and reads that
// again from the cache.
func TestBegin(t *testing.T) {
	s := remotetest.New(t, 2)
	o := newObjects(s)
	c := newClient(t, remote.Options{Hosts: s.Hosts(), Cache: newCache(t, t.TempDir(), mirror.Options{})})
	const asked, good = 5000, 3000
	want := part(o.archive, o.inArchive, 0, good)
	proven := func(b []byte) (int, error) {
		if len(b) < good || !bytes.Equal(b[:good], want) {
			return 0, errors.New("wrong")
		}
		return good, nil
	}
	s.SetFault(func(r remotetest.Request) remotetest.Fault {
		if r.Host == 0 {
			return remotetest.HTML
		}
		return remotetest.None
	})
	for range 2 {
		if got, err := c.Begin(t.Context(), o.inArchive, asked, proven); err != nil || !bytes.Equal(got, want) {
			t.Fatalf("%d bytes, %v", len(got), err)
		}
	}
	if n := len(s.Requests()); n != 2 {
		t.Errorf("%d requests: %v", n, s.Requests())
	}
	if _, err := c.Begin(t.Context(), remote.File{Key: o.looseKey}, asked, proven); err == nil {
		t.Error("a file of unknown size has a beginning")
	}
}
