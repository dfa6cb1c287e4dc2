package remote

import (
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// TestLedInside has a host lead to one on this machine, by its address and by a name: that is
// followed only if the user gave such an address. A proxy, which is on this machine as well, is
// asked for hosts of the public network.
func TestLedInside(t *testing.T) {
	var asked atomic.Int32
	inside := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		_, _ = w.Write([]byte("secret")) // a client that leaves is no fault of the server
	}))
	defer inside.Close()
	_, port, err := net.SplitHostPort(strings.TrimPrefix(inside.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	to := ""
	first := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, to+"/object", http.StatusFound)
	}))
	defer first.Close()
	proxy, err := url.Parse(first.URL)
	if err != nil {
		t.Fatal(err)
	}
	targets := []string{inside.URL, "http://localhost:" + port, "http://LOCALHOST.:" + port, "http://[::ffff:127.0.0.1]:" + port}
	if name, err := os.Hostname(); err == nil {
		targets = append(targets, "http://"+name+":"+port) // only dialling it tells
	}
	for _, to = range targets {
		for from, allowed := range map[string]bool{"http://public.example.com": false, first.URL: true} {
			tr := newTransport(Times{}.orDefault())
			tr.Proxy = func(r *http.Request) (*url.URL, error) {
				if r.URL.Hostname() == "public.example.com" {
					return proxy, nil
				}
				return nil, nil //nolint:nilnil // no proxy
			}
			c, err := New(Options{Hosts: []Host{{URL: from}}, Follow: true, Transport: tr, Times: Times{Pause: time.Millisecond}})
			if err != nil {
				t.Fatal(err)
			}
			before := asked.Load()
			got, err := c.Get(t.Context(), "object", func([]byte) error { return nil })
			if led := asked.Load() > before; led && !allowed {
				t.Errorf("%s led to %s: %q, %v", from, to, got, err)
			}
			if allowed && to == inside.URL && string(got) != "secret" {
				t.Errorf("%s did not lead to %s: %v", from, to, err)
			}
			c.Close()
		}
	}
}

func TestIsInside(t *testing.T) {
	for text, want := range map[string]bool{
		"127.0.0.1": true, "10.1.2.3": true, "172.16.0.1": true, "192.168.1.1": true, "169.254.169.254": true, "0.0.0.0": true,
		"100.64.0.1": true, "224.0.0.1": true, "::1": true, "::": true, "fe80::1%eth0": true, "fd00:ec2::254": true, "ff02::1": true,
		"::ffff:10.0.0.1": true, "64:ff9b::7f00:1": true,
		"8.8.8.8": false, "172.32.0.1": false, "100.128.0.1": false, "2606:4700::1": false, "::ffff:8.8.8.8": false, "64:ff9b::808:808": false,
	} {
		if got := isInside(netip.MustParseAddr(text)); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}
