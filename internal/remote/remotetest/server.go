// Package remotetest has hosts for tests: they serve objects from memory on the loopback
// interface, count what they are asked for, and can be made to do whatever hosts do wrong.
package remotetest

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"lorefs/internal/remote"
)

// Fault says what a host does instead of sending what it was asked for.
type Fault int

// The faults of hosts.
const (
	None        Fault = iota
	WrongBytes        // as many bytes as there should be, but one of them is wrong
	HTML              // status 200 and a page
	NotFound          // status 404
	TooMany           // status 429 and Retry-After
	Unavailable       // status 503
	Stall             // half of the bytes, and then nothing
	Silence           // nothing at all
	Reset             // half of the bytes, and then the connection is reset
	Whole             // the whole object and status 200, also for a range
	Short             // half of the bytes, as if that were all
	WrongRange        // a range that begins a byte later
	Packed            // a coding that nobody asked for
	Forbidden         // status 403
	Broken            // status 500
	Dropped           // the connection ends without an answer
	Drip              // a byte now and then
)

// Faults are all faults.
var Faults = []Fault{
	WrongBytes, HTML, NotFound, TooMany, Unavailable, Stall, Silence, Reset, Whole, Short, WrongRange, Packed,
	Forbidden, Broken, Dropped, Drip,
}

// refuses tells whether a host does a fault also when it does not have what it is asked for.
func (f Fault) refuses() bool {
	return slices.Contains([]Fault{TooMany, Unavailable, Silence, Forbidden, Broken, Dropped}, f)
}

func (f Fault) String() string {
	names := []string{
		"none", "wrong bytes", "HTML", "404", "429", "503", "stall", "silence", "reset", "whole", "short", "wrong range", "packed",
		"403", "500", "dropped", "drip",
	}
	return names[f]
}

// Request is a request that a host got.
type Request struct {
	Host int
	// Path has no slash at the beginning. Range is the header, which is empty for a whole object.
	Path, Range string
}

// Server is a number of hosts that have the same objects. It is safe for parallel use.
type Server struct {
	hosts []*httptest.Server

	mu       sync.Mutex // guards the rest
	objects  map[string][]byte
	fault    func(r Request) Fault
	requests []Request
	bytes    int64
	late     time.Duration
}

// New starts a number of hosts, which end with the test.
func New(t testing.TB, hosts int) *Server {
	t.Helper()
	s := Start(hosts)
	t.Cleanup(s.Close)
	return s
}

// Start starts a number of hosts.
func Start(hosts int) *Server {
	s := &Server{objects: map[string][]byte{}}
	for i := range hosts {
		h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.serve(i, w, r) }))
		s.hosts = append(s.hosts, h)
	}
	return s
}

// Close ends the hosts.
func (s *Server) Close() {
	for _, h := range s.hosts {
		h.CloseClientConnections()
		h.Close()
	}
}

// Hosts returns the hosts for a client.
func (s *Server) Hosts() []remote.Host {
	all := make([]remote.Host, len(s.hosts))
	for i, h := range s.hosts {
		all[i].URL = h.URL
	}
	return all
}

// Put gives an object to all hosts.
func (s *Server) Put(path string, data []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.objects[path] = data
}

// SetFault has a function called for each request, which may be done at the same time, or
// none if it is nil.
func (s *Server) SetFault(fault func(r Request) Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault = fault
}

// SetLate has each request wait before it is answered.
func (s *Server) SetLate(late time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.late = late
}

// Requests returns what was asked so far.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Bytes returns how many bytes of bodies the hosts have sent.
func (s *Server) Bytes() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bytes
}

// Reset forgets what was asked and sent.
func (s *Server) Reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests, s.bytes = nil, 0
}

// begin notes a request, and returns what to do with it.
func (s *Server) begin(req Request) ([]byte, Fault) {
	s.mu.Lock()
	s.requests = append(s.requests, req)
	data, ok := s.objects[req.Path]
	choose, late := s.fault, s.late
	s.mu.Unlock()
	time.Sleep(late)
	fault := None
	if choose != nil {
		fault = choose(req)
	}
	if !ok && !fault.refuses() {
		fault = NotFound
	}
	return data, fault
}

func (s *Server) serve(host int, w http.ResponseWriter, r *http.Request) {
	req := Request{Host: host, Path: strings.TrimPrefix(r.URL.Path, "/"), Range: r.Header.Get("Range")}
	data, fault := s.begin(req)
	a, ok := answerOf(req.Range, data)
	if !ok && fault != NotFound && !fault.refuses() {
		w.WriteHeader(http.StatusRequestedRangeNotSatisfiable)
		return
	}
	switch fault {
	case WrongBytes:
		a.body = bytes.Clone(a.body)
		a.body[len(a.body)/2] ^= 1
	case HTML:
		a = answer{status: http.StatusOK, kind: "text/html", body: []byte(page)}
	case NotFound:
		a = answer{status: http.StatusNotFound, kind: "text/html", body: []byte(page)}
	case TooMany:
		w.Header().Set("Retry-After", "1")
		a = answer{status: http.StatusTooManyRequests}
	case Unavailable:
		a = answer{status: http.StatusServiceUnavailable}
	case Forbidden:
		a = answer{status: http.StatusForbidden}
	case Broken:
		a = answer{status: http.StatusInternalServerError}
	case Dropped:
		reset(w)
		return
	case Silence:
		<-r.Context().Done()
		return
	case Whole:
		a, _ = answerOf("", data)
	case Short:
		a.body = a.body[:len(a.body)/2]
	case WrongRange:
		a.later()
	case Packed:
		w.Header().Set("Content-Encoding", "gzip")
	}
	s.send(w, r, a, fault)
}

const page = "<!DOCTYPE html><html><body>This page is not available.</body></html>"

// answer goes to a client.
type answer struct {
	status int
	kind   string
	// first is where the body begins in an object of size bytes.
	first, size int
	body        []byte
}

// answerOf returns the right answer, unless there is no such range.
func answerOf(text string, data []byte) (answer, bool) {
	a := answer{status: http.StatusOK, kind: "application/octet-stream", body: data, size: len(data)}
	if text == "" {
		return a, true
	}
	last := 0
	n, err := fmt.Sscanf(text, "bytes=%d-%d", &a.first, &last)
	if err != nil || n != 2 || a.first >= len(data) || last < a.first {
		return answer{}, false
	}
	a.status = http.StatusPartialContent
	a.body = data[a.first:min(last+1, len(data))]
	return a, true
}

// later makes it an answer that begins a byte later.
func (a *answer) later() {
	a.first++
	a.body = append(bytes.Clone(a.body[1:]), 0)
}

func (s *Server) send(w http.ResponseWriter, r *http.Request, a answer, fault Fault) {
	w.Header().Set("Content-Type", a.kind)
	w.Header().Set("Content-Length", strconv.Itoa(len(a.body)))
	if a.status == http.StatusPartialContent {
		w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", a.first, a.first+len(a.body)-1, a.size))
	}
	w.WriteHeader(a.status)
	switch fault {
	case Stall, Reset:
		a.body = a.body[:len(a.body)/2]
	case Drip:
		s.drip(w, r, a.body)
		return
	}
	s.mu.Lock()
	s.bytes += int64(len(a.body)) // before the client has them
	s.mu.Unlock()
	_, _ = w.Write(a.body) // a client that leaves is no fault of the server
	switch fault {
	case Stall:
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	case Reset:
		_ = http.NewResponseController(w).Flush()
		reset(w)
	}
}

// drip sends a byte every 10 ms.
func (s *Server) drip(w http.ResponseWriter, r *http.Request, body []byte) {
	for i := range body {
		s.mu.Lock()
		s.bytes++
		s.mu.Unlock()
		_, _ = w.Write(body[i : i+1])
		_ = http.NewResponseController(w).Flush()
		select {
		case <-r.Context().Done():
			return
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// reset ends a connection without the usual goodbye.
func reset(w http.ResponseWriter) {
	control := http.NewResponseController(w)
	conn, _, err := control.Hijack()
	if err != nil {
		panic(http.ErrAbortHandler) // ends the connection as well
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}
