package objects

import (
	"crypto/md5"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"lorefs/internal/source"
)

// pin is what tells whether an object is still the one that it was.
type pin struct {
	// size is negative if the server does not say it.
	size int64
	// etag is a strong ETag without quotes, or empty.
	etag string
	// modified has whole seconds, and is zero if the server does not say it.
	modified time.Time
}

// pinOf returns the pin of an object of a size by the headers of an answer.
func pinOf(h http.Header, size int64) pin {
	p := pin{size: size, etag: strongETag(h.Get("ETag"))}
	if t, err := http.ParseTime(h.Get("Last-Modified")); err == nil {
		p.modified = t
	}
	return p
}

// strongETag returns an ETag without its quotes. A weak one says that two objects mean the
// same, not that they have the same bytes, and counts for nothing.
func strongETag(text string) string {
	if strings.HasPrefix(text, "W/") {
		return ""
	}
	return strings.Trim(text, `"`)
}

// holds reports whether the object can be told from another one of the same size.
func (p pin) holds() bool { return p.size >= 0 && (p.etag != "" || !p.modified.IsZero()) }

// difference returns how an object has changed, or "". What only one of the pins has doesn't
// count: a listing says more than some servers' answers.
func (p pin) difference(now pin) string {
	switch {
	case p.size >= 0 && now.size >= 0 && p.size != now.size:
		return fmt.Sprintf("it had %d bytes and has %d", p.size, now.size)
	case p.etag != "" && now.etag != "":
		if p.etag != now.etag {
			return "its ETag is another one"
		}
	case !p.modified.IsZero() && !now.modified.IsZero() && !p.modified.Equal(now.modified):
		return "it was written to"
	}
	return ""
}

// sameUnknown reports whether an answer says nothing at all of what p was pinned by.
func (p pin) sameUnknown(now pin) bool {
	return (p.etag == "" || now.etag == "") && (p.modified.IsZero() || now.modified.IsZero())
}

// settled is how old the time of a change has to be before it stands for the bytes in the
// cache: it has whole seconds, and the object may have been written twice in one.
const settled = time.Minute

// key names the object at an address in the cache. ok is false if the pin is too weak to
// outlive the process.
func (p pin) key(address string) (key [md5.Size]byte, ok bool) {
	text := strings.Join([]string{address, strconv.FormatInt(p.size, 10), p.etag, p.modified.UTC().Format(time.RFC3339)}, "\x00")
	return md5.Sum([]byte(text)), p.etag != "" || p.settled()
}

func (p pin) settled() bool { return !p.modified.IsZero() && time.Since(p.modified) > settled }

// changedError says how an object changed.
type changedError struct{ name, how string }

func (e *changedError) Error() string {
	return fmt.Sprintf("%s: %v: %s", e.name, source.ErrChanged, e.how)
}
func (e *changedError) Is(target error) bool { return target == source.ErrChanged }
