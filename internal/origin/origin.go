package origin

import (
	"fmt"
	"net/url"
	"path"
	"path/filepath"
	"strings"
)

// Scheme says how a source is reached.
type Scheme string

// The schemes. Those of URLs are the words in front of the colon.
const (
	File  Scheme = ""
	CDN   Scheme = "cdn"
	HTTP  Scheme = "http"
	HTTPS Scheme = "https"
	S3    Scheme = "s3"
)

// Origin is the place of a source.
type Origin struct {
	Scheme Scheme
	// Rest follows the colon, or the whole path of a file.
	Rest string
}

// Parse splits the spelling of a source. It never fails: [Origin.Check] tells whether what
// follows the scheme makes sense.
func Parse(name string) Origin {
	word, rest, found := strings.Cut(name, ":")
	if found {
		switch s := Scheme(strings.ToLower(word)); s {
		case CDN, HTTP, HTTPS, S3:
			return Origin{s, rest}
		}
	}
	return Origin{File, name}
}

// IsRemote reports whether a name is that of no local file or folder.
func IsRemote(name string) bool { return Parse(name).Remote() }

// Remote reports whether the source is no local file or folder.
func (o Origin) Remote() bool { return o.Scheme != File }

// Web reports whether the source is on a web server.
func (o Origin) Web() bool { return o.Scheme == HTTP || o.Scheme == HTTPS }

// String returns the spelling that Parse gives o for. It may have a password: [Origin.Shown]
// is for people.
func (o Origin) String() string {
	if o.Scheme == File {
		return o.Rest
	}
	return string(o.Scheme) + ":" + o.Rest
}

// Check returns an error that says what is wrong with the spelling.
func (o Origin) Check() error {
	switch o.Scheme {
	case CDN:
		if o.Rest == "" || strings.ContainsAny(o.Rest, "/\\:?#") {
			return fmt.Errorf("%q: want cdn:PRODUCT", o.Shown())
		}
	case HTTP, HTTPS:
		if u, err := url.Parse(o.String()); err != nil || u.Host == "" || u.Opaque != "" {
			return fmt.Errorf("%q: want %s://HOST/PATH", o.Shown(), o.Scheme)
		}
	case S3:
		if bucket, _ := o.Bucket(); bucket == "" {
			return fmt.Errorf("%q: want s3://BUCKET/PREFIX", o.Shown())
		}
	}
	return nil
}

// Bucket returns the bucket and the prefix or key of a source of the scheme S3. The prefix
// has no slash at either end. The bucket is "" if the spelling is wrong.
func (o Origin) Bucket() (bucket, key string) {
	rest, ok := strings.CutPrefix(o.Rest, "//")
	if !ok {
		return "", ""
	}
	bucket, key, _ = strings.Cut(rest, "/")
	return bucket, strings.Trim(key, "/")
}

// Join returns the origin of what has the slash-separated name below o. A query string stays,
// because the signature in one may be for all that is below.
func (o Origin) Join(name string) Origin {
	switch {
	case o.Scheme == File:
		return Origin{File, filepath.Join(o.Rest, filepath.FromSlash(name))}
	case !o.Web():
		return Origin{o.Scheme, strings.TrimRight(o.Rest, "/") + "/" + name}
	}
	front, query, signed := strings.Cut(o.Rest, "?")
	front, _, _ = strings.Cut(front, "#")
	parts := strings.Split(name, "/")
	for i, part := range parts {
		parts[i] = url.PathEscape(part)
	}
	rest := strings.TrimRight(front, "/") + "/" + strings.Join(parts, "/")
	if signed {
		rest += "?" + query
	}
	return Origin{o.Scheme, rest}
}

// Base returns the last part of the name, without escapes. It is "" if the spelling is wrong.
func (o Origin) Base() string {
	switch {
	case o.Scheme == File:
		return filepath.Base(o.Rest)
	case o.Web():
		u, err := url.Parse(o.String())
		if err != nil {
			return ""
		}
		if base := path.Base(u.Path); base != "/" && base != "." {
			return base
		}
		return u.Hostname()
	}
	return path.Base(strings.TrimRight(o.Rest, "/"))
}

// Dir returns the origin that o is directly below, which for the top is o itself.
func (o Origin) Dir() Origin {
	if o.Scheme == File {
		return Origin{File, filepath.Dir(o.Rest)}
	}
	front, query, signed := strings.Cut(o.Rest, "?")
	front = strings.TrimRight(front, "/")
	// The slashes before the host or the bucket are no parts of a path.
	host, _ := strings.CutPrefix(front, "//")
	slash := strings.LastIndexByte(host, '/')
	if slash < 0 {
		return o
	}
	rest := front[:len(front)-len(host)+slash]
	if signed {
		rest += "?" + query
	}
	return Origin{o.Scheme, rest}
}

// Shown returns the spelling for people: without a user's name and password, and without the
// values of a query string, which may be a signature.
func (o Origin) Shown() string {
	if o.Scheme == S3 {
		return o.shownBucket()
	}
	if !o.Web() {
		return o.String()
	}
	u, err := url.Parse(o.String())
	if err != nil || u.Opaque != "" || u.Host == "" { // a slip of the pen may put a password anywhere
		return string(o.Scheme) + ":…"
	}
	u.User, u.Fragment = nil, ""
	query := u.RawQuery
	u.RawQuery = ""
	if query != "" {
		return u.String() + "?…"
	}
	return u.String()
}

// shownBucket is Shown for an object store. A bucket has no user in front of it, but somebody may
// write keys there all the same.
func (o Origin) shownBucket() string {
	bucket, key, below := strings.Cut(strings.TrimPrefix(o.Rest, "//"), "/")
	at := strings.LastIndexByte(bucket, '@')
	if at < 0 {
		return o.String()
	}
	text := "s3://…" + bucket[at:]
	if below {
		text += "/" + key
	}
	return text
}

// Shown returns the spelling of a source for people, as [Origin.Shown] does.
func Shown(name string) string { return Parse(name).Shown() }

// Abs returns a spelling of the source that doesn't depend on the current folder.
func Abs(name string) (string, error) {
	o := Parse(name)
	if o.Remote() {
		return o.String(), nil
	}
	return filepath.Abs(name)
}
