package objects

import (
	"context"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"lorefs/internal/origin"
	"lorefs/internal/remote"
	"lorefs/internal/remote/mirror"
)

// Options are options for a store. The zero value is right.
type Options struct {
	// Cache keeps chunks between runs. Default: they stay in memory only.
	Cache *mirror.Cache
	// Endpoint is the address of the object store. Default: that of the environment, or AWS.
	Endpoint string
	// Offline means that no server is asked.
	Offline bool
	// Times are how long a request may take.
	Times remote.Times
	// Logger gets the failures of the server, for debugging. Default: none.
	Logger *slog.Logger
}

const (
	// maxMemory is how many chunks stay in memory.
	maxMemory = 32
	// maxObject is more bytes than any object has. It keeps offsets from overflowing.
	maxObject = 1 << 50
)

// Store is a source on a web server or in an object store. It is safe for parallel use.
type Store struct {
	origin origin.Origin
	place  *place
	client *remote.Client
	cache  *mirror.Cache
	// transport makes the requests of a place, signed.
	transport http.RoundTripper
	options   Options

	chunks *lru.Cache[chunkID, []byte]
	// changed is the first object that was found changed.
	changed atomic.Pointer[changedError]

	// life is for reads without a context of their own. It ends with the context of Open, until
	// unbind is called.
	life   context.Context //nolint:containedctx // io.ReaderAt takes none
	end    context.CancelFunc
	unbind func() bool

	mu sync.Mutex // guards the rest
	// reads is the part of life that lasts until EndReads is called, which endReads ends.
	reads    context.Context //nolint:containedctx // io.ReaderAt takes none
	endReads context.CancelFunc
}

// Open returns the store of a source. It asks no web server, but for an object store it may
// have to find out in which region a bucket lies. When ctx ends, reads without a context of
// their own end: see [Store.Outlive].
func Open(ctx context.Context, o origin.Origin, opts Options) (*Store, error) {
	base := remote.Transport(opts.Times)
	var p *place
	var err error
	switch {
	case o.Web():
		p, err = webPlace(o)
	case o.Scheme == origin.S3:
		p, err = s3Place(ctx, o, &opts, base)
	default:
		err = fmt.Errorf("%s is no address of a web server or an object store", o.Shown())
	}
	if err != nil {
		return nil, err
	}
	s := &Store{origin: o, place: p, cache: opts.Cache, transport: signing{base, p.url.Host, p.sign}, options: opts}
	host := url.URL{Scheme: p.url.Scheme, Host: p.url.Host}
	s.client, err = remote.New(remote.Options{
		Hosts: []remote.Host{{URL: host.String()}}, Follow: true, Offline: opts.Offline, Times: opts.Times, Transport: s.transport, Logger: opts.Logger,
	})
	if err != nil {
		return nil, err
	}
	if s.chunks, err = lru.New[chunkID, []byte](maxMemory); err != nil {
		panic(fmt.Sprintf("objects: BUG: %v", err))
	}
	s.life, s.end = context.WithCancel(context.WithoutCancel(ctx))
	s.unbind = context.AfterFunc(ctx, s.end)
	s.reads, s.endReads = context.WithCancel(s.life)
	return s, nil
}

// Mirror returns a client for a mirror of a storage that lies at the source. What that has is
// proven by its hash, and can't change. opts.Hosts and opts.Transport are those of the store.
func (s *Store) Mirror(opts remote.Options) (*remote.Client, error) {
	opts.Hosts = []remote.Host{{URL: s.place.at("")}}
	opts.Follow, opts.Times, opts.Transport = true, s.options.Times, s.transport
	return remote.New(opts)
}

// ModTime returns when an object was last changed, or zero if the server does not say it.
func (s *Store) ModTime(ctx context.Context, name string) (time.Time, error) {
	found, err := s.stat(ctx, name)
	return found.modified, named(s.shown(name), err)
}

// Outlive has reads go on after the context of Open has ended.
func (s *Store) Outlive() { s.unbind() }

// EndReads ends the reads without a context of their own that are going on, with errors that
// match [context.Canceled].
func (s *Store) EndReads() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.endReads()
	s.reads, s.endReads = context.WithCancel(s.life)
}

// reading returns the context of a read without one of its own.
func (s *Store) reading() context.Context {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.reads
}

// Close ends what is going on, and closes connections that are not used.
func (s *Store) Close() error {
	s.unbind()
	s.end()
	s.client.Close()
	return nil
}

// Origin returns what the store was opened with.
func (s *Store) Origin() origin.Origin { return s.origin }

// Stats returns the counts of requests so far.
func (s *Store) Stats() remote.Stats { return s.client.Stats() }

// Lists reports whether the server lists what it has.
func (s *Store) Lists() bool { return s.place.list != nil }

// shown returns the name of an object for messages.
func (s *Store) shown(name string) string {
	if name == "" {
		return s.origin.Shown()
	}
	front, _, _ := strings.Cut(s.origin.Shown(), "?")
	return strings.TrimRight(front, "/") + "/" + name
}

// seen describes an object that was asked for.
type seen struct {
	pin
	// whole means that the object has to be copied: its server sends no ranges, or nothing by
	// which it could be pinned.
	whole bool
	// page means that it is a page for people, which may stand for a folder.
	page bool
}

// stat asks for the first byte of an object. HEAD would tell the same, but the signature of a
// URL may be for GET only.
func (s *Store) stat(ctx context.Context, name string) (found seen, err error) {
	_, err = s.client.Exchange(ctx, remote.Exchange{
		Name: s.shown(name), URL: s.place.at(name), Header: http.Header{"Range": {"bytes=0-0"}},
		Read: func(resp *http.Response, body io.Reader) ([]byte, error) {
			found, err = see(resp, body)
			if err == nil && found.size > maxObject {
				err = remote.Final(fmt.Errorf("the server says that it has %d bytes: no object has more than %d", found.size, int64(maxObject)))
			}
			return nil, err
		},
	})
	return found, err
}

// see reads the answer to a request for the first byte.
func see(resp *http.Response, body io.Reader) (found seen, err error) {
	found.page = isPage(resp)
	switch resp.StatusCode {
	case http.StatusPartialContent:
		size, known := totalOf(resp.Header.Get("Content-Range"))
		found.pin = pinOf(resp.Header, size)
		found.whole = !known || !found.proves()
		_, err = io.CopyN(io.Discard, body, 1) // so that the connection can be used again
	case http.StatusOK:
		found.pin, found.whole = pinOf(resp.Header, resp.ContentLength), resp.ContentLength != 0
	case http.StatusRequestedRangeNotSatisfiable:
		found.pin = pinOf(resp.Header, 0) // only an empty object has no first byte
	default:
		err = statusError(resp, body)
	}
	return found, err
}

// isPage reports whether an answer is a page for people.
func isPage(resp *http.Response) bool {
	return strings.HasPrefix(resp.Header.Get("Content-Type"), "text/html")
}

// totalOf returns the size of an object by the header of a range of it.
func totalOf(text string) (int64, bool) {
	_, total, _ := strings.Cut(text, "/")
	size, err := strconv.ParseInt(total, 10, 64)
	if err != nil || size < 0 {
		return -1, false
	}
	return size, true
}

// errForbidden means that nobody may have what was asked for.
var errForbidden = errors.New("the server refuses")

// statusError returns the error of an answer that is none.
func statusError(resp *http.Response, body io.Reader) error {
	return refusal(resp.StatusCode, remote.StatusError(resp, body))
}

// refusal marks the error of an answer with a status as one that will not be another, if it is.
func refusal(status int, err error) error {
	switch status {
	case http.StatusForbidden:
		return remote.Final(fmt.Errorf("%w: %w", errForbidden, err))
	case http.StatusBadRequest, http.StatusUnauthorized, http.StatusMethodNotAllowed:
		return remote.Final(fmt.Errorf("the server refuses: %w", err))
	}
	return err
}

// IsObject reports whether the source is one object, rather than the top of a tree. A web
// server may send a page for people where a tree is.
func (s *Store) IsObject(ctx context.Context) (bool, error) {
	if s.origin.Scheme == origin.S3 {
		if _, key := s.origin.Bucket(); key == "" {
			return false, nil
		}
	}
	found, err := s.stat(ctx, "")
	if errors.Is(err, iofs.ErrNotExist) || errors.Is(err, errForbidden) { // so are listings of folders
		return false, nil
	}
	return err == nil && !found.page, named(s.shown(""), err)
}

// named puts the name of an object before an error that has none.
func named(name string, err error) error {
	if err == nil || strings.Contains(err.Error(), name) {
		return err
	}
	return fmt.Errorf("%s: %w", name, err)
}
