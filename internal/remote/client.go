package remote

import (
	"context"
	"crypto/md5"
	"errors"
	"fmt"
	iofs "io/fs"
	"log/slog"
	"maps"
	"math"
	"net/http"
	"path"
	"sync"
	"time"

	"lorefs/internal/flight"
	"lorefs/internal/remote/mirror"
)

// Key is the name of an object.
type Key = [md5.Size]byte

// Options are options for a client.
type Options struct {
	// Hosts are the hosts in the order of their list.
	Hosts []Host
	// Path is where the storage lies on them, and ConfigPath where product configurations
	// lie, as in the list of CDNs.
	Path, ConfigPath string
	// Cache keeps what was fetched. Default: nothing is kept.
	Cache *mirror.Cache
	// Once means that what is fetched is read once, and that its reader keeps it: the cache gets
	// only what the storage can't be read without, since writing all the rest takes as long as
	// fetching it, and lets go of what others read again.
	Once bool
	// Offline means that only the cache is read.
	Offline bool
	// Decrypt decrypts, in place, what an object has from off on, before it is checked. Some
	// products have encrypted objects: the name of an object, which is that of the archive for
	// part of it and for its index, is part of the key. The cache has them decrypted, since
	// files of archives get other names there. Default: nothing is encrypted.
	Decrypt func(name Key, off int64, data []byte)
	// Times are how long the client waits.
	Times Times
	// Transport makes the requests. Default: one that waits as Times says.
	Transport http.RoundTripper
	// Follow means that a host may lead to another one, since the user chose the host.
	Follow bool
	// Logger gets the failures of hosts, for debugging. Default: none.
	Logger *slog.Logger
}

// Client fetches the objects of one storage. It is safe for parallel use.
type Client struct {
	path, configPath string
	pool             *pool
	http             *http.Client
	cache            *mirror.Cache
	once             bool
	offline          bool
	decrypt          func(name Key, off int64, data []byte)
	times            Times
	progress         progress
	log              *slog.Logger
	flights          flight.Group[string, []byte]

	mu sync.Mutex // guards the rest
	// failed has the objects that no host gave, up to maxFailed.
	failed map[failedObject]failure
	// cut is how many parts of an object in a row were always cut.
	cut         map[string]int
	cached      int64
	cachedBytes int64
}

// maxFailed bounds how many objects are remembered that no host gave.
const maxFailed = 1 << 16

// failedObject is an object that no host gave or, with a size, a part of it.
type failedObject struct {
	path      string
	off, size int64
}

// failure is why no host gave an object, and until when that counts. What no host has is nowhere
// for ever.
type failure struct {
	err   error
	until time.Time
}

// New returns a client. It asks no host.
func New(o Options) (*Client, error) {
	for _, p := range []string{o.Path, o.ConfigPath} {
		if p == "" {
			continue
		}
		if err := CheckPath(p); err != nil {
			return nil, fmt.Errorf("remote: %w", err)
		}
	}
	times := o.Times.orDefault()
	if o.Transport == nil {
		o.Transport = newTransport(times)
	}
	redirect := sameHost
	if o.Follow {
		redirect = anyHost
	}
	if o.Decrypt == nil {
		o.Decrypt = func(Key, int64, []byte) {}
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return &Client{
		path: o.Path, configPath: o.ConfigPath, pool: newPool(o.Hosts), cache: o.Cache,
		http: &http.Client{Transport: o.Transport, CheckRedirect: redirect},
		once: o.Once, offline: o.Offline, decrypt: o.Decrypt, times: times, progress: progress{vain: times.Vain, rest: times.Failed}, log: o.Logger,
		failed: map[failedObject]failure{}, cut: map[string]int{},
	}, nil
}

// Transport returns what makes requests by default.
func Transport(t Times) http.RoundTripper { return newTransport(t.orDefault()) }

// sameHost follows a host only to itself, for example to https, because a list or the user
// chose the host.
func sameHost(req *http.Request, via []*http.Request) error {
	const most = 3
	first := via[0].URL
	if len(via) > most || req.URL.Hostname() != first.Hostname() || first.Scheme == "https" && req.URL.Scheme != "https" {
		return fmt.Errorf("the host leads to %q", req.URL.Redacted())
	}
	return nil
}

// anyHost follows a host to others. They are not told where they were called from, because an
// address may have a signature in it.
func anyHost(req *http.Request, via []*http.Request) error {
	const most = 10
	if len(via) > most || via[0].URL.Scheme == "https" && req.URL.Scheme != "https" {
		return fmt.Errorf("the host leads to %q", req.URL.Host)
	}
	req.Header.Del("Referer")
	return nil
}

// Close closes connections that are not used. Nobody may wait for an object any more.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// isMD5 returns a check for something that is named by its MD5.
func isMD5(key Key) func([]byte) error {
	return func(data []byte) error {
		if sum := md5.Sum(data); sum != key {
			return fmt.Errorf("its MD5 is %x, not %x", sum, key)
		}
		return nil
	}
}

// Config returns a configuration. It stays in the cache as long as the client's cache is open.
func (c *Client) Config(ctx context.Context, key Key) ([]byte, error) {
	return c.whole(ctx, mirror.Object{Path: c.path, Kind: mirror.Config, Key: key}, maxConfig, isMD5(key))
}

// ProductConfig returns the configuration of a product.
func (c *Client) ProductConfig(ctx context.Context, key Key) ([]byte, error) {
	if c.configPath == "" {
		return nil, errors.New("remote: nobody says where product configurations lie")
	}
	return c.whole(ctx, mirror.Object{Path: c.configPath, Key: key}, maxConfig, isMD5(key))
}

// Index returns the index of an archive, which check proves. It stays in the cache like
// configurations.
func (c *Client) Index(ctx context.Context, archive Key, check func([]byte) error) ([]byte, error) {
	return c.whole(ctx, mirror.Object{Path: c.path, Kind: mirror.Data, Key: archive, Index: true}, maxIndex, check)
}

// Loose returns a file that is not part of an archive as a whole.
func (c *Client) Loose(ctx context.Context, f File, check func([]byte) error) ([]byte, error) {
	o := mirror.Object{Path: c.path, Kind: mirror.Data, Key: f.Key}
	return c.fetchWhole(ctx, o, request{path: o.String(), name: o.Key, most: maxWhole, check: check, once: f.Guess}, f.Own)
}

// whole returns an object of at most so many bytes as a whole. It stays in the cache like
// configurations.
func (c *Client) whole(ctx context.Context, o mirror.Object, most int64, check func([]byte) error) ([]byte, error) {
	return c.fetchWhole(ctx, o, request{path: o.String(), name: o.Key, most: most, check: check}, true)
}

// fetchWhole returns an object as a whole.
//
// All checks have in common that they depend on the object and the range only: who waits for
// the same shares one of them. They also prove what comes from the cache. What they get is
// returned to all who wait, so it must not be changed.
func (c *Client) fetchWhole(ctx context.Context, o mirror.Object, r request, own bool) ([]byte, error) {
	if r.check == nil {
		return nil, errors.New("remote: nothing proves the object")
	}
	c.own(o, own)
	return c.flights.Do(ctx, fmt.Sprint(o, r.once), func(ctx context.Context) ([]byte, error) {
		return c.get(ctx, r, own, func() ([]byte, bool) { return c.cache.Whole(o, r.check) },
			func(data []byte) { c.cache.PutWhole(o, data) })
	})
}

// File is an encoded file.
type File struct {
	// Key is its encoding key, under which it lies in the cache.
	Key Key
	// Archive is the archive with the file. Without one it is a loose file.
	Archive Key
	// Off is where the file begins in the archive.
	Off int64
	// Size is the size of the file. 0 means unknown.
	Size int64
	// Own means that the storage can't be read without the file, so that it stays in the
	// cache like configurations.
	Own bool
	// Guess means that the file may be elsewhere: each host is asked for it once.
	Guess bool
}

// Range returns size bytes of a file from off on, which check proves: see [Client.Loose] for
// all of it.
func (c *Client) Range(ctx context.Context, f File, off, size int64, check func([]byte) error) ([]byte, error) {
	if check == nil {
		return nil, errors.New("remote: nothing proves the range")
	}
	if off < 0 || size <= 0 || size > maxWhole || f.Size > 0 && (off > f.Size || size > f.Size-off) {
		return nil, fmt.Errorf("remote: encoding key %x: %d bytes from %d on, of %d", f.Key, size, off, f.Size)
	}
	if f.Off < 0 || off > math.MaxInt64-size || f.Off > math.MaxInt64-size-off {
		return nil, fmt.Errorf("remote: encoding key %x: %d bytes from %d on, of a file at %d", f.Key, size, off, f.Off)
	}
	o, from, start := c.place(f)
	c.own(o, f.Own)
	return c.flights.Do(ctx, fmt.Sprintf("%s %s %d %d %v", o, from, start+off, size, f.Guess), func(ctx context.Context) ([]byte, error) {
		return c.get(ctx, request{path: from.String(), name: from.Key, off: start + off, size: size, check: check, once: f.Guess},
			f.Own, func() ([]byte, bool) { return c.cache.Range(o, off, size, check) },
			func(data []byte) { c.cache.PutPiece(o, f.Size, off, data) })
	})
}

// Begin returns the beginning of a file whose size is known: as much of its first size bytes
// as proven says is right. That says 0 if nothing of it can be proven, and an error if it is
// wrong.
func (c *Client) Begin(ctx context.Context, f File, size int64, proven func([]byte) (int, error)) ([]byte, error) {
	if proven == nil || size <= 0 || size > f.Size || size > maxWhole || f.Off < 0 || f.Off > math.MaxInt64-size {
		return nil, fmt.Errorf("remote: encoding key %x: the first %d bytes of %d at %d", f.Key, size, f.Size, f.Off)
	}
	o, from, start := c.place(f)
	c.own(o, f.Own)
	return c.flights.Do(ctx, fmt.Sprintf("begin %s %s %d %d %v", o, from, start, size, f.Guess), func(ctx context.Context) ([]byte, error) {
		n := 0
		check := func(data []byte) (err error) { n, err = proven(data); return err }
		data, err := c.get(ctx, request{path: from.String(), name: from.Key, off: start, size: size, check: check, once: f.Guess},
			f.Own, func() ([]byte, bool) { return c.cache.Begin(o, size, check) },
			func(data []byte) {
				if n > 0 {
					c.cache.PutPiece(o, f.Size, 0, data[:n])
				}
			})
		if err != nil {
			return nil, err
		}
		return data[:n], nil
	})
}

// place returns where a file lies in the cache, and in which object of the hosts from where on.
func (c *Client) place(f File) (o, from mirror.Object, start int64) {
	o = mirror.Object{Path: c.path, Kind: mirror.Data, Key: f.Key}
	from = o
	if f.Archive != (Key{}) {
		from.Key, start = f.Archive, f.Off
	}
	return o, from, start
}

// Get returns what lies at a path below the hosts, such as the answer of a service. It is
// neither decrypted nor kept.
func (c *Client) Get(ctx context.Context, at string, check func([]byte) error) ([]byte, error) {
	if c.offline {
		return nil, fmt.Errorf("remote: %s: %w", at, ErrOffline)
	}
	return c.flights.Do(ctx, "get "+at, func(ctx context.Context) ([]byte, error) {
		return c.fetch(ctx, request{path: path.Join(c.path, at), most: maxConfig, check: check})
	})
}

// own keeps an object in the cache while the storage is read.
func (c *Client) own(o mirror.Object, own bool) {
	if own && c.cache != nil {
		c.cache.Own(o.Key)
	}
}

// caches reports whether something is put into the cache.
func (c *Client) caches(own bool) bool { return c.cache != nil && (own || !c.once) }

// get returns something from the cache, or fetches and keeps it.
func (c *Client) get(ctx context.Context, r request, own bool, kept func() ([]byte, bool), keep func([]byte)) ([]byte, error) {
	if c.cache != nil {
		if data, ok := kept(); ok {
			c.hit(data)
			return data, nil
		}
	}
	if c.offline {
		return nil, fmt.Errorf("remote: %s: %w", r.path, ErrOffline)
	}
	if err := c.known(&r); err != nil {
		return nil, err
	}
	data, err := c.fetch(ctx, r)
	if err != nil {
		c.remember(&r, err)
		return nil, err
	}
	c.came(&r)
	if c.caches(own) {
		keep(data)
	}
	return data, nil
}

// hit counts what the cache had.
func (c *Client) hit(data []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cached++
	c.cachedBytes += int64(len(data))
}

// known returns the error of a request that no host has answered a short time ago.
func (c *Client) known(r *request) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, o := range []failedObject{{path: r.path}, {r.path, r.off, r.size}} {
		if f := c.failed[o]; f.counts(time.Now()) {
			return f.err
		}
	}
	return nil
}

func (f *failure) counts(now time.Time) bool {
	return f.err != nil && (f.until.IsZero() || now.Before(f.until))
}

// remember remembers what no host gave: all of an object that every host refused, and otherwise the
// part that came wrong.
func (c *Client) remember(r *request, err error) {
	e, ok := errors.AsType[*Error](err)
	gone := errors.Is(err, iofs.ErrNotExist)
	if !ok || r.once && !gone && !e.cut() {
		return
	}
	o, now := failedObject{path: r.path}, time.Now()
	f := failure{err: err}
	if !gone {
		f.until = now.Add(c.times.Failed)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !e.refused() && !c.alwaysCut(r.path, e) {
		o.off, o.size = r.off, r.size
	}
	if len(c.failed) >= maxFailed {
		maps.DeleteFunc(c.failed, func(_ failedObject, f failure) bool { return !f.counts(now) })
	}
	if len(c.failed) < maxFailed {
		c.failed[o] = f
	}
}

// maxCut is how many parts of an object are tried of which each was always cut.
const maxCut = 3

// alwaysCut reports whether all parts of an object are cut, as far as that can be known. The caller
// holds mu.
func (c *Client) alwaysCut(path string, e *Error) bool {
	if !e.cut() {
		return false
	}
	if len(c.cut) >= maxFailed {
		clear(c.cut)
	}
	c.cut[path]++
	return c.cut[path] >= maxCut
}

// came notes that a request was answered.
func (c *Client) came(r *request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.cut, r.path)
}

// Stats are counts since the client was made.
type Stats struct {
	// Requests were sent to hosts, and Bytes came back.
	Requests, Bytes int64
	// Failures are the requests of which nothing could be used.
	Failures int64
	// Cached counts what the cache had, and CachedBytes how much that was.
	Cached, CachedBytes int64
	// Hosts has the hosts that may be asked.
	Hosts []HostStats
	// CacheTrouble is why nothing is kept at the moment, or nil.
	CacheTrouble error
}

// HostStats are the counts of one host.
type HostStats struct {
	URL                       string
	Requests, Bytes, Failures int64
	// LastFailure is the text of the last failure, if there was one.
	LastFailure string
}

// Stats returns the counts so far.
func (c *Client) Stats() Stats {
	s := Stats{Hosts: c.pool.stats()}
	for _, h := range s.Hosts {
		s.Requests += h.Requests
		s.Bytes += h.Bytes
		s.Failures += h.Failures
	}
	if c.cache != nil {
		s.CacheTrouble = c.cache.Trouble()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	s.Cached, s.CachedBytes = c.cached, c.cachedBytes
	return s
}
