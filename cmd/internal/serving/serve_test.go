package serving_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"lorefs/cmd/internal/cli"
	"lorefs/cmd/internal/sample"
	"lorefs/cmd/internal/serving"
)

// begun is a serve that has printed its addresses.
type begun struct {
	Page, WebDAV string
	stop         func() error
}

// begin runs the command until it has printed its addresses.
func begin(t *testing.T, args ...string) begun {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	out, in := io.Pipe()
	c := serving.New(slog.New(slog.DiscardHandler))
	c.SetArgs(append([]string{"--json"}, args...))
	c.SetOut(in)
	c.SetErr(io.Discard)
	ended := make(chan error, 1)
	go func() {
		err := c.ExecuteContext(ctx)
		_ = in.CloseWithError(err)
		ended <- err
	}()
	var b begun
	if err := json.NewDecoder(out).Decode(&b); err != nil {
		stop()
		t.Fatal(err, <-ended)
	}
	b.stop = sync.OnceValue(func() error {
		stop()
		return <-ended
	})
	t.Cleanup(func() { _ = b.stop() })
	return b
}

func get(t *testing.T, c *http.Client, address string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := c.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(body)
}

func samples(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if _, err := sample.Write(dir); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestServe serves a source of each kind, and reads a file of it by the WebDAV address. When the command
// ends nobody answers there any more.
func TestServe(t *testing.T) {
	dir := samples(t)
	for _, tt := range []struct{ source, file, want string }{
		{sample.DataCenterName, "sheets/ItemData/ItemData-00000.xml", "<ItemData "},
		{"world", "world.svg", "<svg"},
		{"session.TeraLog", "summary.json", "{"},
		{"tables", "tables.json", "Item.db2"},
		{"game", "files/lore/places/aldermoor.txt", "Aldermoor"},
	} {
		t.Run(tt.source, func(t *testing.T) {
			args := []string{filepath.Join(dir, tt.source)}
			switch tt.source {
			case "session.TeraLog":
				args = append(args, "--definitions", filepath.Join(dir, "definitions"))
			case "game":
				args = append(args, "--listfile", filepath.Join(dir, "listfile.csv"))
			}
			b := begin(t, args...)
			if code, page := get(t, http.DefaultClient, b.WebDAV); code != http.StatusOK || !strings.Contains(page, "About this source") {
				t.Errorf("%d: %s", code, page)
			}
			if code, content := get(t, http.DefaultClient, b.WebDAV+tt.file); code != http.StatusOK || !strings.Contains(content, tt.want) {
				t.Errorf("%s: %d: %.200s", tt.file, code, content)
			}
			if err := b.stop(); err != nil {
				t.Errorf("ended with %v", err)
			}
			http.DefaultClient.CloseIdleConnections()
			if c, err := new(net.Dialer).DialContext(t.Context(), "tcp", mustParse(t, b.Page).Host); err == nil {
				_ = c.Close()
				t.Error("somebody still answers")
			}
		})
	}
}

func mustParse(t *testing.T, address string) *url.URL {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// TestAddresses refuses to serve others without encryption.
func TestAddresses(t *testing.T) {
	for _, args := range [][]string{
		{"--addr", "0.0.0.0:0", "x"},
		{"--addr", ":8080", "x"},
		{"--addr", "192.0.2.1:80", "x"},
		{"--addr", "[::]:0", "x"},
		{"--addr", "example.com:80", "x"},
		{"--addr", "127.0.0.1", "x"},
		{"--tls-cert", "c", "x"},
		{"--tls-key", "k", "x"},
	} {
		c := serving.New(slog.New(slog.DiscardHandler))
		c.SetArgs(args)
		c.SetOut(io.Discard)
		c.SetErr(io.Discard)
		c.SilenceErrors, c.SilenceUsage = true, true
		if err := c.ExecuteContext(t.Context()); cli.ExitCode(err) != cli.ExitUsage {
			t.Errorf("%q: %v", args, err)
		}
	}
}

// TestEncrypted serves by https, at all addresses of this machine.
func TestEncrypted(t *testing.T) {
	cert, key := certificate(t)
	b := begin(t, "--addr", "0.0.0.0:0", "--tls-cert", cert, "--tls-key", key, filepath.Join(samples(t), sample.DataCenterName))
	c := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}} //nolint:gosec // the certificate is the test's own
	defer c.CloseIdleConnections()
	at := strings.Replace(b.WebDAV, "0.0.0.0", "127.0.0.1", 1)
	if code, _ := get(t, c, at); code != http.StatusOK || !strings.HasPrefix(at, "https://") {
		t.Errorf("%s: %d", at, code)
	}
}

// TestHostile sends requests of others, thousands of them by several clients at once: other hosts, origins,
// tokens, paths, methods and bodies. None of them gets anything.
func TestHostile(t *testing.T) {
	const clients, each = 4, 2500
	b := begin(t, filepath.Join(samples(t), sample.DataCenterName))
	at := mustParse(t, b.Page)
	token := at.Query().Get("token")
	var wait sync.WaitGroup
	for n := range clients {
		wait.Go(func() {
			random := rand.New(rand.NewPCG(1, uint64(n)))
			for range each {
				r := hostile(random, at.Host, token)
				answer, err := http.DefaultTransport.RoundTrip(r.WithContext(t.Context()))
				if err != nil {
					continue // the server has hung up
				}
				body, _ := io.ReadAll(io.LimitReader(answer.Body, 1<<20))
				_ = answer.Body.Close()
				if answer.StatusCode < 400 || bytes.Contains(body, []byte("ItemData")) {
					t.Errorf("%s %s, host %s, %v: %s: %.200s", r.Method, r.URL, r.Host, r.Header, answer.Status, body)
				}
			}
		})
	}
	// One that sends its header slowly keeps nobody waiting.
	slow, err := new(net.Dialer).DialContext(t.Context(), "tcp", at.Host)
	if err != nil {
		t.Fatal(err)
	}
	defer slow.Close()
	if _, err := io.WriteString(slow, "GET / HTTP/1.1\r\nHost: "); err != nil {
		t.Fatal(err)
	}
	wait.Wait()
	if code, _ := get(t, http.DefaultClient, b.WebDAV); code != http.StatusOK {
		t.Errorf("afterwards: %d", code)
	}
}

// hostile returns a request that must be refused.
func hostile(random *rand.Rand, host, token string) *http.Request {
	pick := func(words ...string) string { return words[random.IntN(len(words))] }
	r := &http.Request{
		Method: pick("GET", "HEAD", "POST", "PUT", "PROPFIND", "PROPPATCH", "MKCOL", "DELETE", "COPY", "MOVE", "LOCK", "UNLOCK", "TRACE", "PATCH", "X"),
		Header: http.Header{"Depth": {pick("0", "1", "infinity", "-1")}}, Host: host,
		URL: &url.URL{Scheme: "http", Host: host, Path: pick(
			"/", "/sheets/", "/sheets/ItemData/ItemData-00000.xml", "/.lorefs/page.css", "//", "/..", "/../../etc/passwd", "/\x00",
			"/"+token[1:]+"/", "/"+token+token+"/", "/ "+token+"/", "/"+strings.ToUpper(token)+"/")},
		Body: io.NopCloser(strings.NewReader(strings.Repeat(pick("x", "<a>", "\x00", "<!DOCTYPE a>"), random.IntN(2000)))),
	}
	right := false
	switch random.IntN(4) {
	case 0:
		r.SetBasicAuth("x", pick("", "x", token[1:], token+"x", strings.ToUpper(token)))
	case 1:
		r.Header.Set("Cookie", "lorefs="+token+"; lorefs-1="+token)
	case 2: // who has the token, but comes from another page or calls another host
		right = true
		r.SetBasicAuth("x", token)
	}
	if right || random.IntN(2) == 0 {
		switch random.IntN(3) {
		case 0:
			r.Host = pick("evil.example", "localhost", "127.0.0.1", "127.0.0.1:1", "[::1]", "evil.example:"+r.URL.Port(), "127.0.0.1.nip.io:"+r.URL.Port())
		case 1:
			r.Header.Set("Origin", pick("http://evil.example", "null", "https://"+host, "http://localhost:1", "file://"))
		case 2:
			r.Header.Set("Sec-Fetch-Site", pick("cross-site", "same-site"))
			r.Header.Set("Sec-Fetch-Mode", pick("cors", "no-cors", "websocket"))
		}
	}
	return r
}

// certificate writes a certificate of the test's own, and its key.
func certificate(t *testing.T) (cert, key string) {
	t.Helper()
	cert, key = filepath.Join(t.TempDir(), "cert.pem"), filepath.Join(t.TempDir(), "key.pem")
	if err := writeCertificate(cert, key, time.Now().Add(time.Hour)); err != nil {
		t.Fatal(fmt.Errorf("certificate: %w", err))
	}
	return cert, key
}
