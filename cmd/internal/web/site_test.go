package web_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"lorefs/cmd/internal/kinds"
	"lorefs/cmd/internal/web"
	"lorefs/nodes"
	"lorefs/nodes/nodetest"
)

const (
	token = "thetoken"
	host  = "127.0.0.1:4711"
)

var testTime = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// archive is a source in which one file has no key.
type archive struct {
	kinds.Archive
	locked nodes.ID
}

func (a archive) ModTime() time.Time { return testTime }

func (a archive) Readable(_ context.Context, file nodes.ID) error {
	if file == a.locked {
		return nodes.ErrNoKey
	}
	return nil
}

// lockedTree can't read one file.
type lockedTree struct {
	*nodetest.Mem
	locked nodes.ID
}

func (t lockedTree) ReadAt(ctx context.Context, file nodes.ID, p []byte, off int64) (int, error) {
	if file == t.locked {
		return 0, nodes.ErrNoKey
	}
	return t.Mem.ReadAt(ctx, file, p, off)
}

// files are those of testSite that can be read, with names that would do harm where they are not escaped.
var files = map[string]string{
	"a.txt":              "text\n",
	"b & <i>x \"q\".xml": "<a/>\n",
	"dir/100%#?.bin":     "\x00\x01\x02",
	"dir/evil.html":      "<script>alert(1)</script>",
	"dir/evil.svg":       `<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`,
	"dir/sub/deep.json":  `{"a": 1}`,
}

func testSite(t testing.TB, o web.Options) *web.Site {
	t.Helper()
	var b nodetest.Builder
	dirs := map[string]nodes.ID{"": nodes.Root}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		parent, names := nodes.Root, strings.Split(name, "/")
		for i, dir := range names[:len(names)-1] {
			full := strings.Join(names[:i+1], "/")
			if dirs[full] == 0 {
				dirs[full] = b.Dir(parent, dir)
			}
			parent = dirs[full]
		}
		b.File(parent, names[len(names)-1], files[name])
	}
	locked := b.File(nodes.Root, "locked.bin", "secret")
	b.Link(nodes.Root, "link", "dir/sub")
	mem, err := b.Build(testTime)
	if err != nil {
		t.Fatal(err)
	}
	o.Name, o.Token, o.Port, o.Logger = "game", token, 4711, slog.New(slog.DiscardHandler)
	if o.Hosts == nil {
		o.Hosts = []string{host}
	}
	return web.New(&kinds.Source{
		Archive: archive{locked: locked}, Kind: &kinds.Kind{Name: "test"}, Tree: lockedTree{mem, locked},
	}, o)
}

// ask sends a request with the token as password.
func ask(site http.Handler, method, target string, change ...func(*http.Request)) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, target, http.NoBody)
	r.Host = host
	r.SetBasicAuth("anybody", token)
	for _, f := range change {
		f(r)
	}
	w := httptest.NewRecorder()
	func() {
		defer func() {
			if p := recover(); p != nil && !errors.Is(p.(error), http.ErrAbortHandler) {
				panic(p)
			}
		}()
		site.ServeHTTP(w, r)
	}()
	return w
}

func header(name, value string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Set(name, value) }
}

func without(r *http.Request) { r.Header.Del("Authorization") }

func escaped(name string) string { return "/" + (&url.URL{Path: name}).EscapedPath() }

// TestGate lets in who has the token and calls the server by its name, and nobody else.
func TestGate(t *testing.T) {
	site := testSite(t, web.Options{})
	cookie := func(r *http.Request) { r.Header.Set("Cookie", "lorefs-4711="+token) }
	for _, tt := range []struct {
		name   string
		target string
		method string
		change []func(*http.Request)
		want   int
	}{
		{"the password", "/a.txt", "GET", nil, 200},
		{"no token", "/a.txt", "GET", []func(*http.Request){without}, 401},
		{"another password", "/a.txt", "GET", []func(*http.Request){func(r *http.Request) { r.SetBasicAuth(token, "x") }}, 401},
		{"the cookie", "/a.txt", "GET", []func(*http.Request){without, cookie}, 200},
		{"the cookie of another server", "/a.txt", "GET", []func(*http.Request){without, header("Cookie", "lorefs-4712="+token)}, 401},
		{"the path", "/" + token + "/a.txt", "GET", []func(*http.Request){without}, 200},
		{"a part of the path", "/thetoke/a.txt", "GET", []func(*http.Request){without}, 401},
		{"an empty first name", "//a.txt", "GET", []func(*http.Request){without}, 401},
		{"another token to begin with", "/?token=x", "GET", []func(*http.Request){without}, 401},
		{"a style without token", "/.lorefs/page.css", "GET", []func(*http.Request){without}, 401},
		{"rebinding", "/a.txt", "GET", []func(*http.Request){func(r *http.Request) { r.Host = "evil.example:4711" }}, 421},
		{"another port", "/a.txt", "GET", []func(*http.Request){func(r *http.Request) { r.Host = "127.0.0.1:1" }}, 421},
		{"no host", "/a.txt", "GET", []func(*http.Request){func(r *http.Request) { r.Host = "" }}, 421},
		{"rebinding of OPTIONS", "/", "OPTIONS", []func(*http.Request){func(r *http.Request) { r.Host = "evil.example" }}, 421},
		{"OPTIONS", "/", "OPTIONS", []func(*http.Request){without}, 204},
		{"a page of another origin", "/a.txt", "GET", []func(*http.Request){header("Origin", "http://evil.example")}, 403},
		{"a page without origin", "/a.txt", "GET", []func(*http.Request){header("Origin", "null")}, 403},
		{"our own page", "/a.txt", "GET", []func(*http.Request){header("Origin", "http://"+host), header("Sec-Fetch-Site", "same-origin")}, 200},
		{"a picture on another page", "/a.txt", "GET", []func(*http.Request){cookie, header("Sec-Fetch-Site", "cross-site"), header("Sec-Fetch-Mode", "no-cors")}, 403},
		{"a page of another port", "/a.txt", "GET", []func(*http.Request){cookie, header("Sec-Fetch-Site", "same-site"), header("Sec-Fetch-Mode", "no-cors")}, 403},
		{"PROPFIND from another page", "/", "PROPFIND", []func(*http.Request){header("Sec-Fetch-Site", "cross-site"), header("Depth", "0")}, 403},
		{"a link on another page", "/a.txt", "GET", []func(*http.Request){cookie, header("Sec-Fetch-Site", "cross-site"), header("Sec-Fetch-Mode", "navigate")}, 200},
		{"above the root", "/../../etc/passwd", "GET", nil, 404},
		{"above the root, escaped", "/%2e%2e/%2e%2e/etc/passwd", "GET", nil, 404},
		{"PUT", "/a.txt", "PUT", nil, 405},
		{"DELETE", "/a.txt", "DELETE", nil, 405},
		{"POST", "/", "POST", nil, 405},
		{"LOCK", "/a.txt", "LOCK", nil, 405},
		{"a method of nobody", "/", "BREW", nil, 405},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := ask(site, tt.method, tt.target, tt.change...)
			if w.Code != tt.want {
				t.Errorf("%s %s = %d, want %d: %s", tt.method, tt.target, w.Code, tt.want, w.Body)
			}
			if w.Code >= 400 && strings.Contains(w.Body.String(), files["a.txt"]) {
				t.Error("it tells the content")
			}
			if h := w.Header(); h.Get("Access-Control-Allow-Origin") != "" || h.Get("X-Content-Type-Options") != "nosniff" {
				t.Errorf("headers: %v", h)
			}
		})
	}
}

// TestBegin opens the address that is printed: the cookie lets in, and the address has no token any more.
func TestBegin(t *testing.T) {
	for _, encrypted := range []bool{false, true} {
		site := testSite(t, web.Options{TLS: encrypted})
		w := ask(site, "GET", "/?token="+token, without)
		cookies := w.Result().Cookies()
		if w.Code != http.StatusSeeOther || w.Header().Get("Location") != "/" || len(cookies) != 1 {
			t.Fatalf("%d, %v", w.Code, w.Header())
		}
		c := cookies[0]
		if !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Secure != encrypted || c.Path != "/" {
			t.Errorf("the cookie: %v", c)
		}
		w = ask(site, "GET", "/", without, func(r *http.Request) { r.AddCookie(c) })
		if w.Code != http.StatusOK || strings.Contains(w.Body.String(), token) {
			t.Errorf("%d: %s", w.Code, w.Body)
		}
	}
}

// TestFiles reads each file, and looks at what a browser may do with it.
func TestFiles(t *testing.T) {
	site := testSite(t, web.Options{})
	for name, content := range files {
		w := ask(site, "GET", escaped(name))
		if w.Code != http.StatusOK || w.Body.String() != content {
			t.Errorf("%s: %d, %q", name, w.Code, w.Body)
		}
		h := w.Header()
		if !strings.HasPrefix(h.Get("Content-Security-Policy"), "sandbox; default-src 'none'") {
			t.Errorf("%s: %v", name, h)
		}
		inline := strings.HasPrefix(h.Get("Content-Disposition"), "inline")
		if plain := strings.HasPrefix(h.Get("Content-Type"), "text/plain"); inline != plain {
			t.Errorf("%s: %v", name, h)
		}
	}
	w := ask(site, "GET", "/a.txt", header("Range", "bytes=1-2"))
	if w.Code != http.StatusPartialContent || w.Body.String() != "ex" {
		t.Errorf("a range: %d, %q", w.Code, w.Body)
	}
	tag := w.Header().Get("ETag")
	if w = ask(site, "GET", "/a.txt", header("If-None-Match", tag)); tag == "" || w.Code != http.StatusNotModified {
		t.Errorf("%s: %d", tag, w.Code)
	}
	if w = ask(site, "HEAD", "/a.txt"); w.Body.Len() != 0 || w.Header().Get("Content-Length") != "5" {
		t.Errorf("HEAD: %q, %v", w.Body, w.Header())
	}
	w = ask(site, "GET", "/locked.bin")
	if w.Code != http.StatusConflict || w.Header().Get("ETag") != "" || !strings.Contains(w.Body.String(), "unknown key") {
		t.Errorf("without a key: %d, %v, %s", w.Code, w.Header(), w.Body)
	}
	for _, target := range []string{"/none", "/dir/none", "/a.txt/x", "/a.txt/", "/.lorefs/none", "/.lorefs/folder.html", "/.lorefs/../site.go"} {
		if w := ask(site, "GET", target); w.Code != http.StatusNotFound {
			t.Errorf("%s: %d", target, w.Code)
		}
	}
	if w := ask(site, "GET", "/dir?zip"); w.Header().Get("Location") != "/dir/?zip" {
		t.Errorf("a folder without a slash: %v", w.Header())
	}
}

// TestPages follows all links of all pages, by cookie and by the path with the token. Names are
// escaped, and each file is found.
func TestPages(t *testing.T) {
	site := testSite(t, web.Options{})
	href := regexp.MustCompile(`(?:href|src)="([^"]*)"`)
	for _, base := range []string{"", "/" + token} {
		seen, queue := map[string]int{}, []string{base + "/"}
		for len(queue) > 0 {
			at := queue[0]
			queue = queue[1:]
			if _, ok := seen[at]; ok || strings.Contains(at, "?tar") || strings.Contains(at, "?zip") {
				continue
			}
			w := ask(site, "GET", at)
			seen[at] = w.Code
			if to := w.Header().Get("Location"); to != "" {
				queue = append(queue, to)
				continue
			}
			if w.Code != http.StatusOK && !strings.HasPrefix(at, base+"/locked.bin") {
				t.Errorf("%s: %d %s", at, w.Code, w.Body)
			}
			if !strings.HasPrefix(w.Header().Get("Content-Type"), "text/html") {
				continue
			}
			body := w.Body.String()
			if strings.Contains(body, "<i>") || strings.Contains(body, "alert(1)</script>") {
				t.Errorf("%s: not escaped: %s", at, body)
			}
			from, err := url.Parse("http://" + host + at)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range href.FindAllStringSubmatch(body, -1) {
				to, err := from.Parse(strings.ReplaceAll(m[1], "&amp;", "&"))
				if err != nil || to.Host != host {
					t.Fatalf("%s leads to %s: %v", at, m[1], err)
				}
				queue = append(queue, to.RequestURI())
			}
		}
		names := map[string]bool{}
		for target := range seen {
			u, err := url.Parse(target)
			if err != nil {
				t.Fatal(err)
			}
			names[u.Path] = true
		}
		for name := range files {
			if !names[base+"/"+name] {
				t.Errorf("no page leads to %s", name)
			}
		}
		if len(seen) < 2*len(files) {
			t.Errorf("only %d addresses", len(seen))
		}
	}
}

// TestFind searches by parts of names and by patterns.
func TestFind(t *testing.T) {
	site := testSite(t, web.Options{})
	for find, want := range map[string]string{
		"DEEP": "dir/sub/deep.json", "*.html": "dir/evil.html", "100%#": "dir/100%#?.bin", "&": `b & <i>x "q".xml`,
	} {
		w := ask(site, "GET", "/?find="+url.QueryEscape(find))
		if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), "1 found") || !strings.Contains(w.Body.String(), html.EscapeString(want)) {
			t.Errorf("%s: %d %s", find, w.Code, w.Body)
		}
	}
	if w := ask(site, "GET", "/?find=nothing"); !strings.Contains(w.Body.String(), "0 found") {
		t.Errorf("%s", w.Body)
	}
	if w := ask(site, "GET", "/?find=[a"); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), "problem") {
		t.Errorf("a wrong pattern: %d %s", w.Code, w.Body)
	}
}

// TestTable reads all rows of a CSV file by the pages that show it, though a row is longer than a line, and
// texts are escaped.
func TestTable(t *testing.T) {
	var table strings.Builder
	table.WriteString("id,text\n")
	const rows = 1000
	for i := range rows {
		fmt.Fprintf(&table, "%d,\"<b>a \"\"row\"\"\nof two lines, %s\"\n", i, strings.Repeat("x", i%200))
	}
	var plain strings.Builder
	plain.WriteString("id,number\n")
	for i := range 30 * rows {
		fmt.Fprintf(&plain, "%d,%d\n", i, 1000000+i)
	}
	mem := nodetest.MemFiles(testTime, map[string]string{"t.csv": table.String(), "plain.csv": plain.String(), "no.csv": "\"", "head.csv": "a,b\n"})
	site := web.New(&kinds.Source{Archive: archive{}, Kind: &kinds.Kind{}, Tree: mem}, web.Options{
		Token: token, Hosts: []string{host}, Logger: slog.New(slog.DiscardHandler),
	})
	next := regexp.MustCompile(`href="([^"]*)" rel="next"`)
	seen := 0
	for at := "/t.csv?view"; at != ""; {
		body := ask(site, "GET", at).Body.String()
		if !strings.Contains(body, `<th scope="col">text</th>`) || strings.Contains(body, "<b>") {
			t.Fatalf("%s: %s", at, body)
		}
		for strings.Contains(body, fmt.Sprintf("<td>%d</td><td>&lt;b&gt;a &#34;row&#34;\nof two lines, ", seen)) {
			seen++
		}
		at = ""
		if m := next.FindStringSubmatch(body); m != nil {
			at = html.UnescapeString(m[1])
		}
	}
	if seen != rows {
		t.Errorf("%d rows, want %d", seen, rows)
	}
	for at, row := "/plain.csv?view", 0; at != ""; {
		body := ask(site, "GET", at).Body.String()
		for strings.Contains(body, fmt.Sprintf("<tr><td>%d</td><td>%d</td></tr>", row, 1000000+row)) {
			row++
		}
		at = ""
		if m := next.FindStringSubmatch(body); m != nil {
			at = html.UnescapeString(m[1])
		} else if row != 30*rows {
			t.Errorf("%d plain rows, want %d", row, 30*rows)
		}
	}
	if body := ask(site, "GET", "/no.csv?view").Body.String(); !strings.Contains(body, "<pre") {
		t.Errorf("what is no table: %s", body)
	}
	if body := ask(site, "GET", "/head.csv?view").Body.String(); !strings.Contains(body, `<th scope="col">b</th>`) {
		t.Errorf("no rows: %s", body)
	}
}

// TestList reads a folder as JSON.
func TestList(t *testing.T) {
	site := testSite(t, web.Options{})
	var list []struct {
		Name, Kind, Problem string
		Size                *int64
	}
	w := ask(site, "GET", "/?json")
	if err := json.Unmarshal(w.Body.Bytes(), &list); err != nil {
		t.Fatal(err, w.Body)
	}
	got := map[string]string{}
	for _, e := range list {
		got[e.Name] = e.Kind + " " + e.Problem
		if (e.Size != nil) != (e.Kind == "file") {
			t.Errorf("%+v", e)
		}
	}
	want := map[string]string{
		"a.txt": "file ", "b & <i>x \"q\".xml": "file ", "dir": "directory ", "link": "link ",
		"locked.bin": "file content is encrypted with an unknown key",
	}
	if !maps.Equal(got, want) {
		t.Errorf("%v", got)
	}
}

// TestPacked unpacks what ?tar and ?zip answer.
func TestPacked(t *testing.T) {
	site := testSite(t, web.Options{})
	got := map[string]string{}
	r := tar.NewReader(ask(site, "GET", "/?tar").Body)
	for {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		if h.Typeflag == tar.TypeReg {
			got[h.Name] = string(data)
		}
		if h.Typeflag == tar.TypeSymlink && h.Linkname != "dir/sub" {
			t.Errorf("%s leads to %s", h.Name, h.Linkname)
		}
	}
	checkPacked(t, got)
	clear(got)
	data := ask(site, "GET", "/?zip").Body.Bytes()
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range z.File {
		if !f.Mode().IsRegular() {
			continue
		}
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		got[f.Name] = string(data)
	}
	checkPacked(t, got)
}

// checkPacked wants all files, and one that names what could not be read.
func checkPacked(t *testing.T, got map[string]string) {
	t.Helper()
	const left = "lorefs-unreadable.txt"
	if !strings.HasPrefix(got[left], "locked.bin: ") {
		t.Errorf("left out: %q", got[left])
	}
	delete(got, left)
	if !maps.Equal(got, files) {
		t.Errorf("%q", got)
	}
}
