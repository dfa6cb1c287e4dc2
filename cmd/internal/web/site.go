package web

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"

	"lorefs/cmd/internal/kinds"
	"lorefs/datacenter"
	"lorefs/nodes"
)

// Options are the settings of a [Site].
type Options struct {
	// Name is the source as users know it, and Info what they may want to know of it.
	Name string
	Info string
	// DataCenter is what queries are about; nil if the source is none.
	DataCenter *datacenter.File
	// Token lets in whoever has it.
	Token string
	// Hosts are the names, with ports, by which clients may call the server, in lower case.
	Hosts []string
	// TLS says that clients come by https.
	TLS bool
	// Port tells cookies of several servers on one machine apart.
	Port   int
	Logger *slog.Logger
}

// Site answers requests for a source.
type Site struct {
	gate
	source *kinds.Source
	opts   Options
	// listings are the listings, searches and packed folders that may be made at once.
	listings *semaphore.Weighted
	// start tells this run from others in ETags, and changes counts what has changed in it.
	start   uint64
	changes atomic.Uint64
}

const (
	// maxListings bounds what takes long, so that a few clients can't keep all cores busy.
	maxListings = 8
	// listingWait is how long a request waits for its turn.
	listingWait = 10 * time.Second
)

// New returns a site for an open source that is not edited. Nobody else may watch its tree.
func New(s *kinds.Source, o Options) *Site {
	site := &Site{source: s, opts: o, listings: semaphore.NewWeighted(maxListings)}
	site.gate = gate{
		token: o.Token, hosts: map[string]bool{}, scheme: "http", cookie: "lorefs-" + strconv.Itoa(o.Port),
		cross: http.NewCrossOriginProtection(), next: site.answer,
	}
	for _, name := range o.Hosts {
		site.hosts[name] = true
	}
	if o.TLS {
		site.scheme = "https"
	}
	var start [8]byte
	_, _ = rand.Read(start[:]) // it never fails
	site.start = binary.LittleEndian.Uint64(start[:])
	if t, ok := nodes.Changes(s.Tree); ok {
		t.Watch(func(nodes.Change) { site.changes.Add(1) })
	}
	return site
}

// Methods that a client may use.
const (
	methodPropfind = "PROPFIND"
	allowed        = "OPTIONS, GET, HEAD, PROPFIND"
)

func options(w http.ResponseWriter) {
	w.Header().Set("Allow", allowed)
	w.Header().Set("DAV", "1")
	w.Header().Set("MS-Author-Via", "DAV") // without it Windows takes the server for another kind
	w.WriteHeader(http.StatusNoContent)
}

// answer answers a request that the gate has let in.
func (s *Site) answer(w http.ResponseWriter, r *http.Request, base string) {
	switch r.Method {
	case http.MethodGet, http.MethodHead, methodPropfind:
	default:
		w.Header().Set("Allow", allowed)
		refuse(w, http.StatusMethodNotAllowed, "the source is served for reading only")
		return
	}
	if name, ok := strings.CutPrefix(r.URL.Path, assetPath); ok {
		s.asset(w, r, name)
		return
	}
	found, err := s.source.Find(r.Context(), r.URL.Path)
	if err != nil {
		fail(w, err)
		return
	}
	v := &visit{Site: s, w: w, r: r, base: base, at: found}
	switch {
	case r.Method == methodPropfind:
		v.propfind()
	case found.Kind == nodes.Dir:
		v.folder()
	case strings.HasSuffix(r.URL.Path, "/"):
		refuse(w, http.StatusNotFound, r.URL.Path+": "+nodes.ErrNotDir.Error())
	case r.URL.Query().Has("view"):
		v.view()
	default:
		v.content()
	}
}

// visit is a request for something that exists.
type visit struct {
	*Site
	w    http.ResponseWriter
	r    *http.Request
	base string
	at   kinds.Found
}

// folder answers a GET of a folder. Its address ends with a slash, so that links on the page are
// relative to it.
func (v *visit) folder() {
	query := v.r.URL.Query()
	switch {
	case !strings.HasSuffix(v.r.URL.Path, "/"):
		to := v.address(v.at.Path, nodes.Dir)
		if v.r.URL.RawQuery != "" {
			to += "?" + v.r.URL.RawQuery
		}
		http.Redirect(v.w, v.r, to, http.StatusMovedPermanently)
	case v.r.Method == http.MethodHead:
		v.w.Header().Set("Content-Type", "text/html; charset=utf-8")
	case !v.takeTurn():
	case query.Has("json"):
		defer v.listings.Release(1)
		v.list()
	case query.Has("tar"), query.Has("zip"):
		defer v.listings.Release(1)
		v.pack(query.Has("zip"))
	case query.Has("query") && v.opts.DataCenter != nil:
		defer v.listings.Release(1)
		v.queries(query)
	default:
		defer v.listings.Release(1)
		v.page()
	}
}

// takeTurn waits for the turn of what takes long, and reports whether it came. Who takes it has to
// release it.
func (v *visit) takeTurn() bool {
	ctx, stop := context.WithTimeout(v.r.Context(), listingWait)
	defer stop()
	if v.listings.Acquire(ctx, 1) == nil {
		return true
	}
	v.w.Header().Set("Retry-After", "5")
	refuse(v.w, http.StatusServiceUnavailable, "too many listings at once")
	return false
}

// address returns the address of a path of the source on this server, without the host.
func (v *visit) address(path string, kind nodes.Kind) string {
	u := url.URL{Path: "/" + strings.TrimLeft(path, "/")} // two slashes would begin with a host
	a := v.base + u.EscapedPath()
	if kind == nodes.Dir && path != "" {
		a += "/"
	}
	return a
}

// etag returns a tag that changes with the content of a file.
func (s *Site) etag(e *nodes.Entry) string {
	return fmt.Sprintf(`"%x-%x-%x-%x-%x"`, s.start, s.changes.Load(), e.ID, e.Size, e.ModTime.UnixNano())
}
