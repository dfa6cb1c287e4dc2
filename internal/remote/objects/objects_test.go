package objects_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"iter"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"lorefs/internal/origin"
	"lorefs/internal/remote"
	"lorefs/internal/remote/mirror"
	"lorefs/internal/remote/objects"
	"lorefs/internal/source"
	"lorefs/internal/testneeds"
)

// object is what a web server has.
type object struct {
	data     []byte
	etag     string
	modified time.Time
	// plain means that it is sent as a whole whatever is asked for.
	plain bool
}

// web is a web server that counts, and that a test can make fail.
type web struct {
	*httptest.Server
	mu       sync.Mutex // guards the rest
	objects  map[string]object
	fault    func(w http.ResponseWriter, r *http.Request) bool
	requests []*http.Request
	bytes    int64
}

var testTime = time.Unix(1_500_000_000, 0).UTC()

func newWeb(t *testing.T) *web {
	t.Helper()
	s := &web{objects: map[string]object{}}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *web) put(name string, o object) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.objects[name] = o
}

func (s *web) setFault(fault func(w http.ResponseWriter, r *http.Request) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault = fault
}

// took returns how many requests came and how many bytes went since it was called last.
func (s *web) took() (int, int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n, sent := len(s.requests), s.bytes
	s.requests, s.bytes = nil, 0
	return n, sent
}

func (s *web) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.requests = append(s.requests, r)
	o, ok := s.objects[strings.TrimPrefix(r.URL.Path, "/")]
	fault := s.fault
	s.mu.Unlock()
	if fault != nil && fault(w, r) {
		return
	}
	if !ok {
		http.NotFound(w, r)
		return
	}
	if o.etag != "" {
		w.Header().Set("ETag", o.etag)
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	out := &counting{ResponseWriter: w, s: s}
	if o.plain {
		_, _ = out.Write(o.data)
	} else {
		http.ServeContent(out, r, "", o.modified, bytes.NewReader(o.data))
	}
}

type counting struct {
	http.ResponseWriter
	s *web
}

// Write counts first: who has read all may ask for the count before Write returns.
func (c *counting) Write(p []byte) (int, error) {
	c.s.mu.Lock()
	c.s.bytes += int64(len(p))
	c.s.mu.Unlock()
	return c.ResponseWriter.Write(p)
}

// TestMain gives all tests the credentials of an object store, since those that run side by side can't
// set variables each for itself.
func TestMain(m *testing.M) {
	for key, value := range map[string]string{
		"AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b", "AWS_REGION": "us-east-1", "AWS_EC2_METADATA_DISABLED": "true",
	} {
		if err := os.Setenv(key, value); err != nil {
			panic(err)
		}
	}
	testneeds.AtOnce(4)
	m.Run()
}

// hasty are times for tests that wait until all of them are over. A try may fail for no other reason
// than that the machine is busy.
var hasty = remote.Times{
	Connect: 100 * time.Millisecond, Header: 100 * time.Millisecond, Progress: 100 * time.Millisecond,
	Pause: time.Millisecond, MaxRetryAfter: 10 * time.Millisecond,
}

// quick are times that a test can wait for.
var quick = remote.Times{
	Connect: time.Second, Header: time.Second, Progress: 500 * time.Millisecond, Pause: time.Millisecond, MaxRetryAfter: 10 * time.Millisecond,
}

func store(t *testing.T, name string, o objects.Options) *objects.Store {
	t.Helper()
	if o.Times == (remote.Times{}) {
		o.Times = quick
	}
	s, err := objects.Open(t.Context(), origin.Parse(name), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func open(t *testing.T, name string, o objects.Options) *objects.File {
	t.Helper()
	f, err := store(t, name, o).Open(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	return f
}

// noise are bytes in which each place can be told from the others.
func noise(size int) []byte {
	data := make([]byte, size)
	_, _ = rand.NewChaCha8([32]byte{1}).Read(data)
	return data
}

func readAll(f *objects.File) ([]byte, error) {
	return io.ReadAll(io.NewSectionReader(f, 0, f.Size()))
}

const large = 5<<20 + 12345

// TestPins reads an object of each kind of server, as a whole and here and there.
func TestPins(t *testing.T) {
	data := noise(large)
	for name, o := range map[string]object{
		"etag":             {data: data, etag: `"one"`},
		"etag and time":    {data: data, etag: `"one"`, modified: testTime},
		"time":             {data: data, modified: testTime},
		"weak etag, time":  {data: data, etag: `W/"one"`, modified: testTime},
		"empty etag, time": {data: data, etag: `""`, modified: testTime},
		"weak etag":        {data: data, etag: `W/"one"`},
		"bare etag":        {data: data, etag: `one`},
		"bare etag, time":  {data: data, etag: `one`, modified: testTime},
		"nothing":          {data: data},
		"no ranges":        {data: data, etag: `"one"`, plain: true},
		"empty":            {etag: `"one"`},
		"empty, no ranges": {plain: true},
		"one byte":         {data: data[:1], etag: `"one"`},
		"one chunk":        {data: data[:1<<20], etag: `"one"`},
	} {
		t.Run(name, func(t *testing.T) {
			s := newWeb(t)
			s.put("dir/a b", o)
			f := open(t, s.URL+"/dir/a%20b", objects.Options{})
			if f.Size() != int64(len(o.data)) || !f.ModTime().Equal(o.modified) {
				t.Errorf("%d bytes of %v", f.Size(), f.ModTime())
			}
			got, err := readAll(f)
			if err != nil || !bytes.Equal(got, o.data) {
				t.Fatalf("%d bytes, %v", len(got), err)
			}
			for range 20 {
				off := rand.Int64N(f.Size() + 1)
				p := make([]byte, rand.IntN(3<<20))
				n, err := f.ReadAt(p, off)
				if !bytes.Equal(p[:n], o.data[off:min(off+int64(len(p)), f.Size())]) || (n < len(p)) != errors.Is(err, io.EOF) {
					t.Fatalf("%d of %d bytes at %d: %v", n, len(p), off, err)
				}
			}
			if err := f.CheckNow(); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestStoredCoding reads from a store that keeps how an object was sent to it as its coding, and from
// servers that name as a coding what is none.
func TestStoredCoding(t *testing.T) {
	for coding, plain := range map[string]bool{
		"aws-chunked": true, "Identity": true, "utf-8": true, "UTF-8": true, "aws-chunked, identity": true,
		"gzip": false, "aws-chunked,gzip": false, "utf-16": false,
	} {
		s := newWeb(t)
		data := noise(large)
		s.put("a", object{data: data, etag: `"one"`})
		s.setFault(func(w http.ResponseWriter, _ *http.Request) bool {
			w.Header().Set("Content-Encoding", coding)
			return false
		})
		f, err := store(t, s.URL+"/a", objects.Options{}).Open(t.Context(), "")
		if !plain {
			if err == nil || !strings.Contains(err.Error(), "packed") {
				t.Errorf("%s: %v", coding, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", coding, err)
			continue
		}
		if got, err := readAll(f); err != nil || !bytes.Equal(got, data) {
			t.Errorf("%s: %d bytes, %v", coding, len(got), err)
		}
	}
}

// TestBareETag reads from a server that sends ETags without quotes, and wants them back so.
func TestBareETag(t *testing.T) {
	s := newWeb(t)
	data := noise(large)
	s.put("a", object{data: data, etag: "one"})
	s.setFault(func(w http.ResponseWriter, r *http.Request) bool {
		tag := r.Header.Get("If-Match")
		wrong := tag != "" && tag != "one"
		if wrong {
			w.WriteHeader(http.StatusPreconditionFailed)
		}
		return wrong
	})
	f := open(t, s.URL+"/a", objects.Options{})
	if got, err := readAll(f); err != nil || !bytes.Equal(got, data) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	s.put("a", object{data: data, etag: "two"})
	if err := f.CheckNow(); !errors.Is(err, source.ErrChanged) {
		t.Errorf("changed: %v", err)
	}
}

// TestSilentServer asks a server that says nothing whether an object has changed.
func TestSilentServer(t *testing.T) {
	testneeds.Seconds(t)
	t.Parallel() // it only waits
	s := newWeb(t)
	s.put("a", object{data: noise(large), etag: `"one"`})
	f := open(t, s.URL+"/a", objects.Options{Times: hasty})
	s.setFault(func(_ http.ResponseWriter, r *http.Request) bool { <-r.Context().Done(); return true })
	if err := errors.Join(f.CheckNow(), f.Check()); err != nil {
		t.Error(err)
	}
	if _, err := f.ReadAt(make([]byte, 10), 0); err == nil || errors.Is(err, source.ErrChanged) {
		t.Errorf("a read: %v", err)
	}
}

// TestRequests counts what reading costs.
func TestRequests(t *testing.T) {
	s := newWeb(t)
	data := noise(40 << 20)
	s.put("a", object{data: data, etag: `"one"`})
	f := open(t, s.URL+"/a", objects.Options{})
	if n, _ := s.took(); n != 1 {
		t.Errorf("%d requests to open it", n)
	}
	if got, err := readAll(f); err != nil || !bytes.Equal(got, data) {
		t.Fatal(len(got), err)
	}
	// Runs of 1, 2, 4, 8, 16 and 9 chunks.
	if n, sent := s.took(); n != 6 || sent != int64(len(data)) {
		t.Errorf("%d requests and %d bytes to read all", n, sent)
	}
	for _, off := range []int64{5 << 20, 1<<20 + 7, 3 << 20} {
		if _, err := f.ReadAt(make([]byte, 10), off); err != nil {
			t.Error(err)
		}
	}
	if n, sent := s.took(); n != 3 || sent != 3<<20 {
		t.Errorf("%d requests and %d bytes for three places", n, sent)
	}
	var readers sync.WaitGroup
	for range 20 {
		readers.Go(func() {
			if _, err := f.ReadAt(make([]byte, 10), 37<<20); err != nil {
				t.Error(err)
			}
		})
	}
	readers.Wait()
	if n, _ := s.took(); n > 1 {
		t.Errorf("%d requests for one place", n)
	}
}

// TestFaults has the server fail once, and for good.
func TestFaults(t *testing.T) {
	t.Parallel() // it waits, too
	data := noise(large)
	reset := func(w http.ResponseWriter) {
		conn, _, err := w.(http.Hijacker).Hijack()
		if err == nil {
			conn.Close()
		}
	}
	half := func(w http.ResponseWriter, r *http.Request) {
		var first, last int
		_, _ = fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-%d", &first, &last)
		w.Header().Set("ETag", `"one"`)
		w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", first, last, len(data)))
		w.Header().Set("Content-Length", fmt.Sprint(last-first+1))
		w.WriteHeader(http.StatusPartialContent)
		_, _ = w.Write(data[first : first+(last-first)/2])
	}
	faults := map[string]struct {
		do    func(w http.ResponseWriter, r *http.Request)
		want  string
		final bool
		times remote.Times
	}{
		"500":      {do: func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) }, want: "status 500"},
		"503":      {do: func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(503) }, want: "status 503"},
		"404":      {do: func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(404) }, want: "status 404", final: true},
		"403":      {do: func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(403) }, want: "the server refuses", final: true},
		"too many": {do: func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Retry-After", "1"); w.WriteHeader(429) }, want: "status 429"},
		"reset":    {do: func(w http.ResponseWriter, _ *http.Request) { reset(w) }, want: "EOF"},
		"short":    {do: half, want: "too short"},
		"stall": {do: func(w http.ResponseWriter, r *http.Request) {
			half(w, r)
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		}, want: "no byte came for too long", times: hasty},
		"another range": {do: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("ETag", `"one"`)
			w.Header().Set("Content-Range", fmt.Sprintf("bytes 1-10/%d", len(data)))
			w.WriteHeader(http.StatusPartialContent)
			_, _ = w.Write(data[1:11])
		}, want: "the range \"bytes 1-10/"},
		"whole": {do: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("ETag", `"one"`)
			w.Header().Set("Content-Length", fmt.Sprint(len(data)))
			_, _ = w.Write(data)
		}, want: "the whole object came"},
		"packed": {do: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(data)
		}, want: "packed"},
		"HTML": {do: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			_, _ = w.Write([]byte("<html>not today</html>"))
		}, want: "changed", final: true},
	}
	for name, fault := range faults {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newWeb(t)
			s.put("a", object{data: data, etag: `"one"`})
			f := open(t, s.URL+"/a", objects.Options{Times: fault.times})
			count := 0
			s.setFault(func(w http.ResponseWriter, r *http.Request) bool {
				s.mu.Lock()
				count++
				first := count == 1
				s.mu.Unlock()
				if first {
					fault.do(w, r)
				}
				return first
			})
			p := make([]byte, 100)
			_, err := f.ReadAt(p, 2<<20)
			switch {
			case !fault.final && (err != nil || !bytes.Equal(p, data[2<<20:2<<20+100])):
				t.Errorf("failing once: %v", err)
			case fault.final && (err == nil || !strings.Contains(err.Error(), fault.want)):
				t.Errorf("failing once: %v, want %s", err, fault.want)
			}
			if fault.want == "changed" {
				return
			}
			s.setFault(func(w http.ResponseWriter, r *http.Request) bool { fault.do(w, r); return true })
			_, err = f.ReadAt(p, 4<<20)
			if err == nil || !strings.Contains(err.Error(), fault.want) || !strings.Contains(err.Error(), f.Path()) {
				t.Errorf("failing always: %v", err)
			}
			s.setFault(nil)
			if _, err = f.ReadAt(p, 4<<20); err != nil || !bytes.Equal(p, data[4<<20:4<<20+100]) {
				t.Errorf("when the server works again: %v", err)
			}
		})
	}
}

// TestChanged changes an object in each way that a server can tell.
func TestChanged(t *testing.T) {
	data := noise(large)
	for name, tt := range map[string]struct{ was, now object }{
		"etag":               {object{data: data, etag: `"one"`}, object{data: data, etag: `"two"`}},
		"etag, not the time": {object{data: data, etag: `"one"`, modified: testTime}, object{data: data, etag: `"two"`, modified: testTime}},
		"time":               {object{data: data, modified: testTime}, object{data: data, modified: testTime.Add(time.Second)}},
		"weak etag":          {object{data: data, etag: `W/"one"`, modified: testTime}, object{data: data, etag: `W/"two"`, modified: testTime}},
		"strong to weak":     {object{data: data, etag: `"one"`, modified: testTime}, object{data: data, etag: `W/"two"`, modified: testTime}},
		"etag goes":          {object{data: data, etag: `"one"`, modified: testTime}, object{data: data, modified: testTime}},
		"weak etag goes":     {object{data: data, etag: `W/"one"`, modified: testTime}, object{data: data, modified: testTime}},
		"length":             {object{data: data, modified: testTime}, object{data: data[1:], modified: testTime}},
		"length, a lot":      {object{data: data, modified: testTime}, object{data: data[:100], modified: testTime}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newWeb(t)
			s.put("a", tt.was)
			f := open(t, s.URL+"/a", objects.Options{})
			look := open(t, s.URL+"/a", objects.Options{})
			if _, err := f.ReadAt(make([]byte, 10), 0); err != nil {
				t.Fatal(err)
			}
			s.put("a", tt.now)
			if _, err := f.ReadAt(make([]byte, 10), 3<<20); !errors.Is(err, source.ErrChanged) {
				t.Errorf("a read: %v", err)
			}
			if err := f.Check(); !errors.Is(err, source.ErrChanged) {
				t.Errorf("Check: %v", err)
			}
			if _, err := f.ReadAt(make([]byte, 10), 0); !errors.Is(err, source.ErrChanged) {
				t.Errorf("a read of what was read before: %v", err)
			}
			s.put("a", tt.was)
			if _, err := f.ReadAt(make([]byte, 10), 0); !errors.Is(err, source.ErrChanged) {
				t.Errorf("a read after all was put back: %v", err)
			}
			s.put("a", tt.now)
			if err := look.CheckNow(); !errors.Is(err, source.ErrChanged) {
				t.Errorf("CheckNow: %v", err)
			}
		})
	}
}

// TestCopied changes an object that was copied, which nobody notices.
func TestCopied(t *testing.T) {
	s := newWeb(t)
	data := noise(large)
	s.put("a", object{data: data})
	f := open(t, s.URL+"/a", objects.Options{})
	s.put("a", object{data: noise(10)})
	if got, err := readAll(f); err != nil || !bytes.Equal(got, data) || f.CheckNow() != nil {
		t.Errorf("%d bytes, %v, %v", len(got), err, f.CheckNow())
	}
	left, err := filepath.Glob(filepath.Join(os.TempDir(), "lorefs-copy-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// TestCache opens an object again, also after what the cache has was damaged.
func TestCache(t *testing.T) {
	s := newWeb(t)
	data := noise(large)
	for name, o := range map[string]object{
		"etag": {data: data, etag: `"one"`}, "time": {data: data, modified: testTime},
		"weak etag": {data: data, etag: `W/"one"`, modified: testTime},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			s.put("a", o)
			look := func(want int) {
				t.Helper()
				cache, err := mirror.Open(dir, mirror.Options{})
				if err != nil {
					t.Fatal(err)
				}
				defer cache.Close()
				s.took()
				if got, err := readAll(open(t, s.URL+"/a", objects.Options{Cache: cache})); err != nil || !bytes.Equal(got, data) {
					t.Fatalf("%d bytes, %v", len(got), err)
				}
				if n, _ := s.took(); n != want {
					t.Errorf("%d requests, want %d", n, want)
				}
			}
			look(4) // one to open it, and runs of 1, 2 and 3 chunks
			look(1)
			damage(t, dir)
			look(4)
			look(1)
			if strings.HasPrefix(o.etag, "W/") {
				o.etag = `W/"two"` // in the same second
			} else {
				o.etag, o.modified = `"two"`, time.Now().UTC().Truncate(time.Second)
			}
			s.put("a", o)
			look(4)
		})
	}
}

// damage flips a bit of all files in a folder.
func damage(t *testing.T, dir string) {
	t.Helper()
	damaged := 0
	err := filepath.WalkDir(dir, func(path string, d iofs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.Contains(path, "holds") {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for i := 0; i < len(b); i += 1 << 19 {
			b[i] ^= 1
		}
		damaged++
		return os.WriteFile(path, b, 0o600)
	})
	if err != nil || damaged == 0 {
		t.Fatalf("%d files damaged, %v", damaged, err)
	}
}

// TestFreshTime has a time that another version of the object may have as well.
func TestFreshTime(t *testing.T) {
	s := newWeb(t)
	now := time.Now().UTC().Truncate(time.Second)
	dir := t.TempDir()
	for _, data := range [][]byte{[]byte("one"), []byte("two")} {
		s.put("a", object{data: data, modified: now})
		cache, err := mirror.Open(dir, mirror.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer cache.Close()
		if got, err := readAll(open(t, s.URL+"/a", objects.Options{Cache: cache})); err != nil || !bytes.Equal(got, data) {
			t.Errorf("%q, %v, want %q", got, err, data)
		}
	}
}

// TestSecrets looks for what must not be in messages.
func TestSecrets(t *testing.T) {
	s := newWeb(t)
	s.put("a", object{data: noise(100), etag: `"one"`})
	var asked []string
	s.setFault(func(w http.ResponseWriter, r *http.Request) bool {
		user, password, _ := r.BasicAuth()
		asked = append(asked, user+" "+password+" "+r.URL.RawQuery)
		if len(asked) > 1 {
			w.WriteHeader(http.StatusInternalServerError)
		}
		return len(asked) > 1
	})
	name := strings.Replace(s.URL, "http://", "http://me:hidden1@", 1) + "/a?key=hidden2"
	f := open(t, name, objects.Options{})
	_, err := f.ReadAt(make([]byte, 10), 0)
	s.Close()
	_, gone := f.ReadAt(make([]byte, 10), 0)
	if err == nil || gone == nil {
		t.Fatal("no errors to look at")
	}
	if asked[0] != "me hidden1 key=hidden2" || len(asked) < 2 || asked[1] != asked[0] {
		t.Errorf("asked as %q", asked)
	}
	for _, text := range []string{err.Error(), gone.Error(), f.Path()} {
		if strings.Contains(text, "hidden") || strings.Contains(text, "me:") {
			t.Errorf("a secret in %q", text)
		}
	}
}

// TestRedirect has a server that leads to another one, which must not see what is for the first.
func TestRedirect(t *testing.T) {
	to := newWeb(t)
	data := noise(large)
	to.put("b", object{data: data, etag: `"one"`})
	var seen []string
	to.setFault(func(_ http.ResponseWriter, r *http.Request) bool {
		seen = append(seen, r.Header.Get("Authorization")+r.Header.Get("Referer")+r.URL.RawQuery)
		return false
	})
	from := httptest.NewServer(http.RedirectHandler(to.URL+"/b", http.StatusFound))
	t.Cleanup(from.Close)
	got, err := readAll(open(t, strings.Replace(from.URL, "http://", "http://me:hidden@", 1)+"/a?hidden", objects.Options{}))
	if err != nil || !bytes.Equal(got, data) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if strings.Join(seen, "") != "" {
		t.Errorf("the other server got %q", seen)
	}
}

// TestCancel ends a read that nothing comes for, while another one goes on.
func TestCancel(t *testing.T) {
	s := newWeb(t)
	data := noise(large)
	s.put("a", object{data: data, etag: `"one"`})
	f := open(t, s.URL+"/a", objects.Options{})
	began, goOn := make(chan struct{}), make(chan struct{})
	var once sync.Once
	s.setFault(func(http.ResponseWriter, *http.Request) bool {
		once.Do(func() { close(began) })
		<-goOn
		return false
	})
	ctx, cancel := context.WithCancel(t.Context())
	left, stayed := make(chan error), make(chan error)
	go func() {
		_, err := f.ReadAtContext(ctx, make([]byte, 10), 0)
		left <- err
	}()
	<-began
	go func() {
		_, err := f.ReadAtContext(t.Context(), make([]byte, 10), 0)
		stayed <- err
	}()
	cancel()
	if err := <-left; !errors.Is(err, context.Canceled) {
		t.Errorf("who left: %v", err)
	}
	close(goOn)
	if err := <-stayed; err != nil {
		t.Errorf("who stayed: %v", err)
	}
}

// TestFolder reads a tree of a web server by its index.
func TestFolder(t *testing.T) {
	s := newWeb(t)
	names := []string{"a.txt", "b c/d?e.txt", "b c/f/g%20.txt", "empty"}
	for i, name := range names {
		s.put("top/"+name, object{data: noise(100 * (len(names) - 1 - i)), modified: testTime})
	}
	s.put("top/index.txt", object{data: []byte("./" + strings.Join(names, "\n./") + "\n./index.txt\r\n"), modified: testTime})
	st := store(t, s.URL+"/top/", objects.Options{})
	if is, err := st.IsObject(t.Context()); is || err != nil {
		t.Errorf("an object: %v, %v", is, err)
	}
	var top []string
	for name, err := range st.Top(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		top = append(top, name)
	}
	if !slices.Equal(top, []string{"a.txt", "b c/", "empty"}) {
		t.Errorf("the top has %q", top)
	}
	d, err := st.OpenFolder(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := fstest.TestFS(d, names...); err != nil {
		t.Error(err)
	}
	if got, err := iofs.ReadFile(d, "b c/d?e.txt"); err != nil || !bytes.Equal(got, noise(200)) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if !d.ModTime().Equal(testTime) || d.Check() != nil {
		t.Errorf("%v, %v", d.ModTime(), d.Check())
	}
	s.put("top/a.txt", object{data: noise(300), modified: testTime.Add(time.Second)})
	st2 := store(t, s.URL+"/top", objects.Options{})
	other, err := st2.OpenFolder(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s.put("top/a.txt", object{data: noise(301), modified: testTime.Add(time.Second)})
	if _, err := iofs.ReadFile(other, "a.txt"); !errors.Is(err, source.ErrChanged) || !errors.Is(other.Check(), source.ErrChanged) {
		t.Errorf("changed: %v, %v", err, other.Check())
	}
}

// TestFolderFetch fetches small files side by side: the server answers none until it has several
// requests. Reading them asks for nothing then.
func TestFolderFetch(t *testing.T) {
	const n, most = 24, 8
	s := newWeb(t)
	var names []string
	for i := range n {
		names = append(names, fmt.Sprintf("%d.def", i))
		s.put(names[i], object{data: noise(i), etag: `"one"`})
	}
	s.put("index.txt", object{data: []byte(strings.Join(names, "\n"))})
	cache, err := mirror.Open(t.TempDir(), mirror.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer cache.Close()
	d, err := store(t, s.URL, objects.Options{Cache: cache}).OpenFolder(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var here sync.WaitGroup
	here.Add(most)
	var came atomic.Int64
	s.setFault(func(http.ResponseWriter, *http.Request) bool {
		if came.Add(1) <= most {
			here.Done()
		}
		here.Wait()
		return false
	})
	d.Fetch(slices.Concat(names, []string{"none"}))
	s.took()
	for i, name := range names {
		if got, err := iofs.ReadFile(d, name); err != nil || !bytes.Equal(got, noise(i)) {
			t.Errorf("%s: %d bytes, %v", name, len(got), err)
		}
	}
	if asked, _ := s.took(); asked > 0 || came.Load() != n-1 {
		t.Errorf("%d requests, and then %d", came.Load(), asked)
	}
}

// TestBadIndexes has indexes that name what is not below them.
func TestBadIndexes(t *testing.T) {
	for _, line := range []string{"../up", "/etc/passwd", "a//b", "a/../b", "none"} {
		s := newWeb(t)
		s.put("index.txt", object{data: []byte(line + "\n"), modified: testTime})
		if _, err := store(t, s.URL, objects.Options{}).OpenFolder(t.Context()); err == nil || !strings.HasPrefix(err.Error(), s.URL) && !strings.HasPrefix(err.Error(), "remote: "+s.URL) {
			t.Errorf("%s: %v", line, err)
		}
	}
	s := newWeb(t)
	if _, err := store(t, s.URL, objects.Options{}).OpenFolder(t.Context()); !errors.Is(err, iofs.ErrNotExist) {
		t.Errorf("no index: %v", err)
	}
}

// TestSizes has a server state sizes that nothing can have.
func TestSizes(t *testing.T) {
	for _, size := range []string{"9223372036854775807", "9223372036854770000", "9223372036854775808"} {
		s := newWeb(t)
		s.setFault(func(w http.ResponseWriter, _ *http.Request) bool {
			w.Header().Set("ETag", `"one"`)
			w.Header().Set("Content-Range", "bytes 0-0/"+size)
			w.WriteHeader(http.StatusPartialContent)
			_, _ = w.Write([]byte{1})
			return true
		})
		if _, err := store(t, s.URL+"/a", objects.Options{}).Open(t.Context(), ""); err == nil || errors.Is(err, iofs.ErrNotExist) {
			t.Errorf("%s bytes: %v", size, err)
		}
	}
}

// TestOwnRedirect has a server lead to another address of its own, which has a signature of
// its own.
func TestOwnRedirect(t *testing.T) {
	s := newWeb(t)
	data := noise(1000)
	s.put("b", object{data: data, etag: `"one"`})
	var seen []string
	s.setFault(func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path == "/a" {
			http.Redirect(w, r, "/b?sum=two", http.StatusFound)
			return true
		}
		seen = append(seen, r.URL.RawQuery)
		return false
	})
	got, err := readAll(open(t, s.URL+"/a?sum=one", objects.Options{}))
	if err != nil || !bytes.Equal(got, data) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	for _, query := range seen {
		if query != "sum=two" {
			t.Errorf("asked for %q", query)
		}
	}
}

// TestConnections counts the connections that stay when a store is closed.
func TestConnections(t *testing.T) {
	var open atomic.Int64
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"one"`)
		http.ServeContent(w, r, "", time.Time{}, strings.NewReader("text"))
	}))
	closed := make(chan struct{}, 16)
	s.Config.ConnState = func(_ net.Conn, to http.ConnState) {
		switch to {
		case http.StateNew:
			open.Add(1)
		case http.StateClosed:
			open.Add(-1)
			closed <- struct{}{}
		}
	}
	s.Start()
	t.Cleanup(s.Close)
	st, err := objects.Open(t.Context(), origin.Parse(s.URL+"/a"), objects.Options{Times: quick})
	if err != nil {
		t.Fatal(err)
	}
	f, err := st.Open(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.Close(), st.Close()); err != nil {
		t.Fatal(err)
	}
	for open.Load() > 0 {
		select {
		case <-closed:
		case <-time.After(10 * time.Second):
			t.Fatalf("%d connections stay open", open.Load())
		}
	}
}

// TestFileAndFolder has a name in an index that is both a file and a folder, in either order:
// it is a file.
func TestFileAndFolder(t *testing.T) {
	for _, index := range []string{"a\na/b\nc\nc\n", "a/b\na\nc\nc\n"} {
		s := newWeb(t)
		for _, name := range []string{"a", "a/b", "c"} {
			s.put(name, object{data: noise(10), etag: `"one"`})
		}
		s.put("index.txt", object{data: []byte(index)})
		d, err := store(t, s.URL, objects.Options{}).OpenFolder(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		entries, err := d.ReadDir(".")
		var names []string
		for _, e := range entries {
			names = append(names, iofs.FormatDirEntry(e))
		}
		if err != nil || !slices.Equal(names, []string{"- a", "- c"}) {
			t.Errorf("%q: %q, %v", index, names, err)
		}
	}
}

// TestPackedPage has a server pack the page that says that something is not there.
func TestPackedPage(t *testing.T) {
	s := newWeb(t)
	s.setFault(func(w http.ResponseWriter, _ *http.Request) bool {
		w.Header().Set("Content-Encoding", "gzip")
		w.WriteHeader(http.StatusNotFound)
		return true
	})
	if _, err := store(t, s.URL+"/a", objects.Options{}).Open(t.Context(), ""); !errors.Is(err, iofs.ErrNotExist) {
		t.Errorf("%v", err)
	}
}

// TestPageAsIndex has a server send a page for people whatever is asked for.
func TestPageAsIndex(t *testing.T) {
	s := newWeb(t)
	s.setFault(func(w http.ResponseWriter, _ *http.Request) bool {
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, "<!DOCTYPE html>\n<html>\n</html>\n")
		return true
	})
	_, err := store(t, s.URL, objects.Options{}).OpenFolder(t.Context())
	if err == nil || !strings.Contains(err.Error(), objects.IndexName) || !strings.Contains(err.Error(), "HTML") {
		t.Errorf("%v", err)
	}
}

// TestReadsEnd has reads without a context of their own end with the one that the store was
// opened with, unless it outlives that.
func TestReadsEnd(t *testing.T) {
	for _, outlives := range []bool{false, true} {
		s := newWeb(t)
		s.put("a", object{data: noise(large), etag: `"one"`})
		ctx, cancel := context.WithCancel(t.Context())
		st, err := objects.Open(ctx, origin.Parse(s.URL+"/a"), objects.Options{Times: quick})
		if err != nil {
			t.Fatal(err)
		}
		f, err := st.Open(ctx, "")
		if err != nil {
			t.Fatal(err)
		}
		if outlives {
			st.Outlive()
			cancel()
		} else {
			s.setFault(func(_ http.ResponseWriter, r *http.Request) bool {
				cancel()
				<-r.Context().Done()
				return true
			})
		}
		_, err = f.ReadAt(make([]byte, 10), 0)
		if outlives && err != nil || !outlives && !errors.Is(err, context.Canceled) {
			t.Errorf("outlives %v: %v", outlives, err)
		}
		if err := errors.Join(f.Close(), st.Close()); err != nil {
			t.Error(err)
		}
	}
}

// TestBadListings has an object store list what can't be, and nothing for too long.
func TestBadListings(t *testing.T) {
	t.Parallel() // it mostly waits
	listing := func(size string) string {
		return `<ListBucketResult><Contents><Key>a.zgd</Key><Size>` + size + `</Size><ETag>"x"</ETag></Contents></ListBucketResult>`
	}
	for name, answer := range map[string]func(w http.ResponseWriter, r *http.Request){
		"negative": func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, listing("-5")) },
		"large":    func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, listing("9223372036854775807")) },
		"stalled":  func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
		"dripping": func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(w, "<ListBucketResult>")
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		},
		"endless": func(w http.ResponseWriter, _ *http.Request) {
			text := []byte(strings.Repeat("<Contents><Key>a</Key><Size>1</Size></Contents>", 1000))
			_, err := io.WriteString(w, "<ListBucketResult>")
			for err == nil {
				_, err = w.Write(text)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newWeb(t)
			s.setFault(func(w http.ResponseWriter, r *http.Request) bool {
				answer(w, r)
				return true
			})
			if _, err := store(t, "s3://bucket", objects.Options{Endpoint: s.URL, Times: hasty}).OpenFolder(t.Context()); err == nil {
				t.Error("no error")
			}
		})
	}
}

// TestEndlessListings has an object store say each time that there is another page, with nothing in
// it, or with what is no file.
func TestEndlessListings(t *testing.T) {
	t.Parallel()
	testneeds.Seconds(t)
	for name, content := range map[string]func(page int64) string{
		"empty":        func(int64) string { return "" },
		"folders":      func(page int64) string { return fmt.Sprintf("<Contents><Key>%d/</Key><Size>0</Size></Contents>", page) },
		"same folders": func(int64) string { return strings.Repeat("<Contents><Key>a/</Key><Size>0</Size></Contents>", 5) },
		"common":       func(int64) string { return "<CommonPrefixes><Prefix>a/</Prefix></CommonPrefixes>" },
		"files":        func(page int64) string { return fmt.Sprintf("<Contents><Key>%d</Key><Size>1</Size></Contents>", page) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newWeb(t)
			var pages atomic.Int64
			s.setFault(func(w http.ResponseWriter, _ *http.Request) bool {
				const most = 1000
				page := pages.Add(1)
				_, _ = fmt.Fprintf(w, `<ListBucketResult><IsTruncated>%v</IsTruncated><NextContinuationToken>%d</NextContinuationToken>%s</ListBucketResult>`,
					page%most != 0, page, content(page))
				return true
			})
			st := store(t, "s3://bucket", objects.Options{Endpoint: s.URL})
			ended := func(names iter.Seq2[string, error], err error) {
				t.Helper()
				for _, err = range names {
					_ = err // the last one counts
				}
				if err == nil || !strings.Contains(err.Error(), "s3://bucket: the listing does not end") {
					t.Errorf("%v after %d pages", err, pages.Load())
				}
				pages.Store(0)
			}
			_, err := st.OpenFolder(t.Context())
			ended(func(func(string, error) bool) {}, err)
			ended(st.Top(t.Context()), nil)
			ended(st.Below(t.Context(), "config/"), nil)
		})
	}
}

// TestLongNames has paths in which the folders would take far more memory and time than the paths.
func TestLongNames(t *testing.T) {
	testneeds.Seconds(t)
	deep := strings.Repeat("a/", 20_000) + "b.zgd"
	wide := func(yield func(string) bool) {
		for i := range 4096 {
			if !yield(fmt.Sprintf("%d/%sb.zgd", i, strings.Repeat("a/", 100))) {
				return
			}
		}
	}
	for name, tt := range map[string]struct{ index, want string }{
		"deep": {deep + "\n", "line 1"},
		"long": {strings.Repeat("a", 1<<20) + "\n", "line 1"},
		"wide": {strings.Join(slices.Collect(wide), "\n"), "folders"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newWeb(t)
			s.put("index.txt", object{data: []byte(tt.index), modified: testTime})
			s.setFault(func(w http.ResponseWriter, r *http.Request) bool {
				if r.URL.Path == "/index.txt" {
					return false
				}
				w.Header().Set("Last-Modified", testTime.Format(http.TimeFormat))
				w.Header().Set("Content-Range", "bytes 0-0/1")
				w.WriteHeader(http.StatusPartialContent)
				_, _ = w.Write([]byte{1})
				return true
			})
			_, err := store(t, s.URL, objects.Options{}).OpenFolder(t.Context())
			if err == nil || !strings.Contains(err.Error(), tt.want) || len(err.Error()) > 300 {
				t.Errorf("%.300v", err)
			}
			if n, _ := s.took(); tt.want != "folders" && n > 1 {
				t.Errorf("%d requests", n)
			}
		})
	}
}

// TestWordyServer has a server answer with a lot of words where few are expected.
func TestWordyServer(t *testing.T) {
	t.Parallel()
	words := strings.Repeat("a", 100_000)
	for name, answer := range map[string]func(w http.ResponseWriter){
		"coding": func(w http.ResponseWriter) { w.Header().Set("Content-Encoding", words) },
		"status": func(w http.ResponseWriter) { w.Header().Set("Retry-After", words); w.WriteHeader(http.StatusTeapot) },
		"redirect": func(w http.ResponseWriter) {
			w.Header().Set("Location", "http://%zz"+words)
			w.WriteHeader(http.StatusFound)
		},
		"range": func(w http.ResponseWriter) {
			w.Header().Set("Content-Range", words)
			w.WriteHeader(http.StatusPartialContent)
		},
		"listing": func(w http.ResponseWriter) {
			w.WriteHeader(http.StatusForbidden)
			_, _ = io.WriteString(w, "<Error><Code>AccessDenied</Code><Message>"+words+"</Message></Error>")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newWeb(t)
			s.setFault(func(w http.ResponseWriter, _ *http.Request) bool { answer(w); return true })
			_, err := store(t, s.URL+"/a", objects.Options{Times: hasty}).Open(t.Context(), "")
			_, listErr := store(t, "s3://bucket", objects.Options{Endpoint: s.URL, Times: hasty}).OpenFolder(t.Context())
			for _, err := range []error{err, listErr} {
				if err == nil || len(err.Error()) > 2000 {
					t.Errorf("%.300v", err)
				}
			}
		})
	}
}
