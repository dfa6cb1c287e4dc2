package web_test

import (
	"encoding/xml"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"lorefs/cmd/internal/web"
)

// multistatus is an answer to a PROPFIND, read by the names of RFC 4918.
type multistatus struct {
	XMLName   xml.Name `xml:"DAV: multistatus"`
	Responses []struct {
		Href  string `xml:"DAV: href"`
		Stats []struct {
			Status string `xml:"DAV: status"`
			Prop   struct {
				Names []struct{ XMLName xml.Name } `xml:",any"`
				Size  string                       `xml:"DAV: getcontentlength"`
				Type  struct {
					Collection *struct{} `xml:"DAV: collection"`
				} `xml:"DAV: resourcetype"`
			} `xml:"DAV: prop"`
		} `xml:"DAV: propstat"`
	} `xml:"DAV: response"`
}

func propfind(t *testing.T, site http.Handler, target, depth, body string) (m multistatus) {
	t.Helper()
	w := ask(site, "PROPFIND", target, header("Depth", depth), func(r *http.Request) {
		r.Body = io.NopCloser(strings.NewReader(body))
	})
	if w.Code != http.StatusMultiStatus {
		t.Fatalf("%s: %d %s", body, w.Code, w.Body)
	}
	if err := xml.Unmarshal(w.Body.Bytes(), &m); err != nil {
		t.Fatal(err, w.Body)
	}
	return m
}

// TestPropfind walks the tree by PROPFIND, as a client does that copies it.
func TestPropfind(t *testing.T) {
	site := testSite(t, web.Options{})
	for _, base := range []string{"", "/" + token} {
		found := map[string]string{}
		var walk func(at string)
		walk = func(at string) {
			m := propfind(t, site, at, "1", "")
			for i, r := range m.Responses {
				if (i == 0) != (r.Href == at) {
					t.Fatalf("%s: the response %d is %s", at, i, r.Href)
				}
				if i == 0 {
					continue
				}
				name, err := url.PathUnescape(strings.TrimPrefix(r.Href, base+"/"))
				if err != nil {
					t.Fatal(err)
				}
				if r.Stats[0].Prop.Type.Collection != nil {
					walk(r.Href)
					continue
				}
				found[name] = r.Stats[0].Prop.Size
				if got := ask(site, "GET", r.Href); name != "locked.bin" && got.Body.String() != files[name] {
					t.Errorf("%s: %q", r.Href, got.Body)
				}
			}
		}
		walk(base + "/")
		if len(found) != len(files)+1 || found["a.txt"] != "5" || found["locked.bin"] != "6" {
			t.Errorf("%v", found)
		}
	}
}

// TestProperties asks for properties that there are and that there are not.
func TestProperties(t *testing.T) {
	site := testSite(t, web.Options{})
	m := propfind(t, site, "/a.txt", "0", `<?xml version="1.0"?><propfind xmlns="DAV:"><prop>
		<getetag/><quota xmlns="urn:a&amp;b"/><getcontentlength/><Win32FileAttributes xmlns="urn:schemas-microsoft-com:"/></prop></propfind>`)
	var names [2][]string
	for i, s := range m.Responses[0].Stats {
		for _, n := range s.Prop.Names {
			names[i] = append(names[i], n.XMLName.Space+" "+n.XMLName.Local)
		}
	}
	if want := []string{"urn:a&b quota", "urn:schemas-microsoft-com: Win32FileAttributes"}; !slices.Equal(names[1], want) ||
		!strings.Contains(m.Responses[0].Stats[1].Status, "404") {
		t.Errorf("not there: %q", names[1])
	}
	if m.Responses[0].Stats[0].Prop.Size != "5" || !slices.Contains(names[0], "DAV: getetag") {
		t.Errorf("there: %q", names[0])
	}
	m = propfind(t, site, "/", "0", `<D:propfind xmlns:D="DAV:"><D:propname/></D:propfind>`)
	if len(m.Responses) != 1 || len(m.Responses[0].Stats) != 1 {
		t.Errorf("%+v", m)
	}
}

// TestPropfindRefused sends what is no request, or one for too much.
func TestPropfindRefused(t *testing.T) {
	site := testSite(t, web.Options{})
	for _, depth := range []string{"", "infinity", "2", "1,noroot"} {
		w := ask(site, "PROPFIND", "/", header("Depth", depth))
		if w.Code != http.StatusForbidden || !strings.Contains(w.Body.String(), "propfind-finite-depth") {
			t.Errorf("depth %q: %d %s", depth, w.Code, w.Body)
		}
	}
	for name, body := range map[string]string{
		"no XML":         "hello",
		"cut":            `<propfind xmlns="DAV:"><prop>`,
		"another one":    `<a xmlns="DAV:"/>`,
		"no namespace":   `<propfind><allprop/></propfind>`,
		"entities":       `<!DOCTYPE a [<!ENTITY b "c">]><propfind xmlns="DAV:"><allprop/></propfind>`,
		"name of a prop": `<propfind xmlns="DAV:"><prop><é/></prop></propfind>`,
		"too many":       `<propfind xmlns="DAV:"><prop>` + strings.Repeat("<a/>", 300) + `</prop></propfind>`,
		"too long":       `<propfind xmlns="DAV:">` + strings.Repeat(" ", 70<<10) + `</propfind>`,
	} {
		w := ask(site, "PROPFIND", "/", header("Depth", "0"), func(r *http.Request) { r.Body = io.NopCloser(strings.NewReader(body)) })
		if w.Code != http.StatusBadRequest {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
	}
}

// FuzzPropfind sends any body. The answer is well formed or a refusal.
func FuzzPropfind(f *testing.F) {
	site := testSite(f, web.Options{})
	f.Add(`<propfind xmlns="DAV:"><allprop/></propfind>`, "1")
	f.Add(`<?xml version="1.0"?><D:propfind xmlns:D="DAV:"><D:prop><D:getetag/><x:y xmlns:x="a&#34;&lt;"/></D:prop></D:propfind>`, "0")
	f.Add("", "infinity")
	f.Fuzz(func(t *testing.T, body, depth string) {
		w := ask(site, "PROPFIND", "/", func(r *http.Request) {
			r.Header["Depth"] = []string{depth}
			r.Body = io.NopCloser(strings.NewReader(body))
		})
		switch w.Code {
		case http.StatusBadRequest, http.StatusForbidden:
		case http.StatusMultiStatus:
			var m multistatus
			if err := xml.Unmarshal(w.Body.Bytes(), &m); err != nil || len(m.Responses) == 0 {
				t.Errorf("%q: %v: %s", body, err, w.Body)
			}
		default:
			t.Errorf("%q: %d", body, w.Code)
		}
	})
}

// FuzzTarget sends any path and query: nothing but the source is read, and nothing panics.
func FuzzTarget(f *testing.F) {
	site := testSite(f, web.Options{})
	for _, target := range []string{"/", "/a.txt?view&hex&at=1", "/dir/?find=[a-z]*", "/?from=99", "/" + token + "/dir/?json", "/dir/%2e%2e/%00", "/a.txt?view&at=-9"} {
		f.Add(target, "")
		f.Add(target, "bytes=0-1,3-")
	}
	f.Fuzz(func(t *testing.T, target, span string) {
		u, err := url.ParseRequestURI(target)
		if err != nil {
			return
		}
		w := ask(site, "GET", "/", func(r *http.Request) { r.URL, r.Header["Range"] = u, []string{span} })
		if w.Code >= http.StatusInternalServerError || w.Header().Get("Content-Security-Policy") == "" {
			t.Errorf("%s: %d %s", target, w.Code, w.Body)
		}
	})
}
