package kinds

import (
	"lorefs/internal/origin"
	"lorefs/internal/remote"
	"lorefs/internal/shown"
)

// RemoteStatus describes what was fetched for a source that is on other machines. Its fields
// are printed in this order, and scripts rely on their names.
type RemoteStatus struct {
	// Build is the key of the build configuration of a CASC storage, Version its version.
	Build   string `json:"build,omitempty"`
	Version string `json:"version,omitempty"`
	// Newer is the version of the build that there is now, if it is another one.
	Newer    string `json:"newer,omitempty"`
	Requests int64  `json:"requests"`
	Bytes    int64  `json:"bytes"`
	Failures int64  `json:"failures"`
	// Cached is how often the cache had what was wanted, and CachedBytes how much that was.
	Cached      int64 `json:"cached"`
	CachedBytes int64 `json:"cached_bytes"`
	// CacheProblem is why nothing is kept at the moment.
	CacheProblem string       `json:"cache_problem,omitempty"`
	Hosts        []HostStatus `json:"hosts"`
}

// HostStatus describes what one host did.
type HostStatus struct {
	URL         string `json:"url"`
	Requests    int64  `json:"requests"`
	Bytes       int64  `json:"bytes"`
	Failures    int64  `json:"failures"`
	LastFailure string `json:"last_failure,omitempty"`
}

// FetchedBy returns the status of what a client has fetched.
func FetchedBy(s remote.Stats) *RemoteStatus {
	r := &RemoteStatus{
		Requests: s.Requests, Bytes: s.Bytes, Failures: s.Failures, Cached: s.Cached, CachedBytes: s.CachedBytes, Hosts: []HostStatus{},
	}
	if s.CacheTrouble != nil {
		r.CacheProblem = shown.Line(s.CacheTrouble)
	}
	for _, h := range s.Hosts {
		r.Hosts = append(r.Hosts, HostStatus{origin.Shown(h.URL), h.Requests, h.Bytes, h.Failures, h.LastFailure})
	}
	return r
}

// FetchedFor returns the status of a file, or nil if it is on this machine.
func FetchedFor(file Original) *RemoteStatus {
	if d, ok := file.(*Distant); ok {
		return d.server.Fetched()
	}
	return nil
}

// Fetched returns the status of what comes from a server.
func (s *Server) Fetched() *RemoteStatus { return FetchedBy(s.Stats()) }

// fetcher is an archive that may be on other machines.
type fetcher interface {
	// Fetched returns what was fetched, or nil if it is on this machine.
	Fetched() *RemoteStatus
}

// Remote returns what was fetched for the source, or nil if it is on this machine.
func (s *Source) Remote() *RemoteStatus {
	if f, ok := s.Archive.(fetcher); ok {
		return f.Fetched()
	}
	return nil
}
