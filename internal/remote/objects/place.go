package objects

import (
	"context"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"strings"

	"lorefs/internal/origin"
	"lorefs/internal/remote"
)

// place is where a source lies on a server.
type place struct {
	// url is the address of the source, without anything secret. It has no slash at its end.
	url *url.URL
	// sign adds to a request what the server wants to see; nil if that is nothing.
	sign func(*http.Request) error
	// list lists what has a prefix: all of it, or only up to the next slash. It is nil if the
	// server lists nothing.
	list func(ctx context.Context, client *remote.Client, prefix string, all bool) iter.Seq2[listed, error]
}

// listed is an entry of a listing. The path is relative to the source, and ends in a slash if
// it stands for all that lies below it.
type listed struct {
	path string
	pin  pin
}

// webPlace returns the place of a source on a web server.
func webPlace(o origin.Origin) (*place, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	u, err := url.Parse(o.String())
	if err != nil {
		return nil, fmt.Errorf("%s: the address can't be read", o.Shown()) // err would show it
	}
	user, query := u.User, u.RawQuery
	u.User, u.RawQuery, u.Fragment, u.RawFragment = nil, "", "", ""
	u.Path, u.RawPath = strings.TrimRight(u.Path, "/"), strings.TrimRight(u.RawPath, "/")
	p := &place{url: u}
	if user != nil || query != "" {
		p.sign = func(req *http.Request) error {
			if user != nil {
				password, _ := user.Password()
				req.SetBasicAuth(user.Username(), password)
			}
			if req.URL.RawQuery == "" { // else the host has led to an address that has its own
				req.URL.RawQuery = query
			}
			return nil
		}
	}
	return p, nil
}

// at returns the address of what lies at a path below the source, or of the source itself.
func (p *place) at(name string) string {
	if name == "" {
		return p.url.String()
	}
	parts := strings.Split(name, "/")
	for i, part := range parts {
		parts[i] = url.PathEscape(part)
	}
	return strings.TrimRight(p.url.String(), "/") + "/" + strings.Join(parts, "/")
}

// signing signs the requests to the host of a place. Other hosts, to which that host has led,
// must not see the signature.
type signing struct {
	http.RoundTripper
	host string
	sign func(*http.Request) error
}

// RoundTrip implements [http.RoundTripper].
func (s signing) RoundTrip(req *http.Request) (*http.Response, error) {
	if s.sign != nil && req.URL.Host == s.host {
		req = req.Clone(req.Context())
		if err := s.sign(req); err != nil {
			return nil, err
		}
	}
	return s.RoundTripper.RoundTrip(req)
}

// CloseIdleConnections is called by [http.Client.CloseIdleConnections].
func (s signing) CloseIdleConnections() {
	if t, ok := s.RoundTripper.(interface{ CloseIdleConnections() }); ok {
		t.CloseIdleConnections()
	}
}
