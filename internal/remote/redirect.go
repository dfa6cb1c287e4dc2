package remote

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"syscall"
	"time"
)

// guarded makes requests, but does not let a host of the public network lead into the user's own:
// what answers there may be for this machine only. Where a name leads is seen when it is dialled.
// Proxies, and addresses that the user gave, are the user's choice.
type guarded struct {
	*http.Transport

	mu sync.Mutex // guards inside
	// inside has the names of hosts, of those that were asked without being led there, that are in
	// the user's own network.
	inside map[string]bool
}

func newTransport(t Times) *guarded {
	g := &guarded{inside: map[string]bool{}}
	dialer := &net.Dialer{Timeout: t.Connect}
	outward := &net.Dialer{Timeout: t.Connect, Control: refuseInside}
	g.Transport = &http.Transport{
		Proxy: http.ProxyFromEnvironment, TLSHandshakeTimeout: t.Connect,
		MaxIdleConnsPerHost: maxHost, IdleConnTimeout: 90 * time.Second, ForceAttemptHTTP2: true,
		MaxResponseHeaderBytes: maxHeader,
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			if ctx.Value(ledAway{}) != nil {
				return outward.DialContext(ctx, network, address)
			}
			conn, err := dialer.DialContext(ctx, network, address)
			if err == nil {
				g.remember(address, conn.RemoteAddr())
			}
			return conn, err
		},
	}
	return g
}

// ledAway is in the context of requests to where a host of the public network has led.
type ledAway struct{}

// RoundTrip implements [http.RoundTripper].
func (g *guarded) RoundTrip(req *http.Request) (*http.Response, error) {
	first := req
	for first.Response != nil && first.Response.Request != nil {
		first = first.Response.Request
	}
	if first == req || g.isInside(first.URL.Hostname()) {
		return g.Transport.RoundTrip(req)
	}
	if names(req.URL.Hostname()) {
		return nil, fmt.Errorf("the host leads to %q, %w", req.URL.Host, errInside)
	}
	proxy, err := g.Proxy(req)
	if err != nil {
		return nil, err
	}
	if proxy == nil {
		req = req.WithContext(context.WithValue(req.Context(), ledAway{}, true))
	}
	return g.Transport.RoundTrip(req)
}

// remember notes where the host of an address was found.
func (g *guarded) remember(address string, at net.Addr) {
	name, _, err := net.SplitHostPort(address)
	tcp, ok := at.(*net.TCPAddr)
	if err != nil || !ok || !isInside(tcp.AddrPort().Addr()) {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.inside[name] = true
}

// isInside reports whether a host that the user gave is in the user's own network.
func (g *guarded) isInside(name string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.inside[name] || names(name)
}

// names reports whether a name alone says that the host is in the user's own network.
func names(name string) bool {
	if at, err := netip.ParseAddr(name); err == nil {
		return isInside(at)
	}
	name = strings.ToLower(strings.TrimSuffix(name, "."))
	return name == "localhost" || strings.HasSuffix(name, ".localhost")
}

var (
	// shared are the addresses behind the translation of a provider, nowhere those that mean this
	// machine to some systems, and mapped those that stand for others of IPv4.
	shared  = netip.MustParsePrefix("100.64.0.0/10")
	nowhere = netip.MustParsePrefix("0.0.0.0/8")
	mapped  = netip.MustParsePrefix("64:ff9b::/96")
)

// isInside reports whether an address is one of this machine or of the user's own network.
func isInside(at netip.Addr) bool {
	at = at.WithZone("").Unmap()
	if b := at.AsSlice(); mapped.Contains(at) {
		at, _ = netip.AddrFromSlice(b[12:])
	}
	return at.IsLoopback() || at.IsPrivate() || at.IsLinkLocalUnicast() || at.IsMulticast() || at.IsUnspecified() ||
		shared.Contains(at) || nowhere.Contains(at)
}

// refuseInside refuses to dial an address of the user's own network.
func refuseInside(_, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil || isInside(at.Addr()) {
		return fmt.Errorf("the host leads to %q, %w", address, errInside)
	}
	return nil
}
