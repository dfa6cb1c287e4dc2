package web

import (
	"crypto/rand"
	"crypto/subtle"
	"net/http"
	"strings"
)

// pagePolicy is what a browser may do on our own pages: load styles, scripts and pictures from here.
const pagePolicy = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// gate lets requests in. Any program of any user of this machine can send one, and any page
// in a browser can have the browser send one. So a request
//
//   - names this server as its host, since a name that resolves to 127.0.0.1 would give a page of
//     somebody else the right to read the answers;
//   - does not come from another page, whatever it carries;
//   - carries the token: in a cookie, which a browser gets for the address that the command
//     prints; as the password, whatever the user's name; or as the first name of the path.
//
// Only OPTIONS is answered without the token, because WebDAV clients send it before anything else.
// It tells nothing about the source.
type gate struct {
	token  string
	hosts  map[string]bool
	scheme string
	cookie string
	cross  *http.CrossOriginProtection
	next   func(w http.ResponseWriter, r *http.Request, base string)
}

// NewToken returns a token of 128 random bits.
func NewToken() string { return strings.ToLower(rand.Text()) }

// ServeHTTP implements [http.Handler].
func (g *gate) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	commonHeaders(w.Header())
	switch {
	case !g.hosts[strings.ToLower(r.Host)]:
		refuse(w, http.StatusMisdirectedRequest, "this server has another name")
		return
	case g.isForeign(r):
		refuse(w, http.StatusForbidden, "another page sent this request")
		return
	case r.Method == http.MethodOptions:
		options(w)
		return
	case r.URL.Path == "/" && r.URL.Query().Has(tokenQuery):
		g.begin(w, r)
		return
	}
	base, ok := g.admits(r)
	if !ok {
		w.Header().Set("WWW-Authenticate", `Basic realm="lorefs", charset="UTF-8"`)
		refuse(w, http.StatusUnauthorized, "open the address that lorefs serve has printed, or give its token as the password")
		return
	}
	g.next(w, r, base)
}

// tokenQuery is the token in the address that the command prints.
const tokenQuery = "token"

// isForeign reports whether a page of another server has made the browser send a request. What
// browsers do not say of a request they leave out of all of it: a program has no such headers.
func (g *gate) isForeign(r *http.Request) bool {
	origin := r.Header.Get("Origin")
	if origin != "" && origin != g.scheme+"://"+strings.ToLower(r.Host) {
		return true
	}
	site := r.Header.Get("Sec-Fetch-Site")
	if site == "cross-site" || site == "same-site" {
		// Somebody may have put a link to us on a page. It gets no cookie, so it ends in front of the gate.
		return r.Header.Get("Sec-Fetch-Mode") != "navigate" || r.Method != http.MethodGet
	}
	return r.Method != methodPropfind && g.cross.Check(r) != nil
}

// begin gives a browser the cookie, and leads it away from the address that has the token.
func (g *gate) begin(w http.ResponseWriter, r *http.Request) {
	if !g.isToken(r.URL.Query().Get(tokenQuery)) {
		refuse(w, http.StatusUnauthorized, "this is not the token that lorefs serve has printed")
		return
	}
	http.SetCookie(w, &http.Cookie{
		Name: g.cookie, Value: g.token, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode,
		Secure: g.scheme == "https",
	})
	http.Redirect(w, r, "/", http.StatusSeeOther)
}

// admits reports whether a request carries the token, and takes it out of the path. base is what
// comes before the paths of the source in all addresses that the answer has.
func (g *gate) admits(r *http.Request) (base string, ok bool) {
	first, rest, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	if g.isToken(first) {
		r.URL.Path, r.URL.RawPath = "/"+rest, ""
		return "/" + g.token, true
	}
	if c, err := r.Cookie(g.cookie); err == nil && g.isToken(c.Value) {
		return "", true
	}
	_, password, ok := r.BasicAuth()
	return "", ok && g.isToken(password)
}

func (g *gate) isToken(text string) bool {
	return subtle.ConstantTimeCompare([]byte(text), []byte(g.token)) == 1
}

// commonHeaders are on every answer. Those for bytes of the source are stricter.
func commonHeaders(h http.Header) {
	h.Set("Content-Security-Policy", pagePolicy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cache-Control", "private, no-cache")
}
