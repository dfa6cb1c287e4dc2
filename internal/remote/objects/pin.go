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

// pin tells whether an object is still the one that it was.
type pin struct {
	// size is negative if the server does not say it.
	size int64
	tag  etag
	// modified has whole seconds, and is zero if the server does not say it.
	modified time.Time
	// listed means that it comes from a listing, which says more than some servers' answers.
	listed bool
}

// etag is an ETag.
type etag struct {
	// value has no quotes, and is empty if the server sends no ETag.
	value string
	// weak means that two objects with this ETag need not have the same bytes. Two with different
	// ones still are different.
	weak bool
	// bare means that it came without quotes, as it must not. Servers that send it so compare it so.
	bare bool
}

func parseETag(text string) etag {
	text, weak := strings.CutPrefix(text, "W/")
	value := strings.Trim(text, `"`)
	return etag{value, weak, value == text}
}

// proves reports whether objects with the same ETag have the same bytes.
func (t etag) proves() bool { return t.value != "" && !t.weak }

// pinOf returns the pin of an object of a size by the headers of an answer.
func pinOf(h http.Header, size int64) pin {
	p := pin{size: size, tag: parseETag(h.Get("ETag"))}
	if t, err := http.ParseTime(h.Get("Last-Modified")); err == nil {
		p.modified = t
	}
	return p
}

// proves reports whether the object can be told from another one of the same size.
func (p pin) proves() bool { return p.size >= 0 && (p.tag.proves() || !p.modified.IsZero()) }

// difference returns how an object has changed, or "". What only the answer of now has doesn't
// count.
func (p pin) difference(now pin) string {
	switch {
	case p.size >= 0 && now.size >= 0 && p.size != now.size:
		return fmt.Sprintf("it had %d bytes and has %d", p.size, now.size)
	case p.tag.value != now.tag.value && p.tag.value != "" && now.tag.value != "":
		return "its ETag is another one"
	case p.tag.value != "" && now.tag.value == "" && !p.listed:
		return "it had an ETag and has none"
	case p.tag.proves() && now.tag.proves():
	case !p.modified.IsZero() && !now.modified.IsZero() && !p.modified.Equal(now.modified):
		return "it was written to"
	}
	return ""
}

// sameUnknown reports whether an answer says nothing at all of what p was pinned by.
func (p pin) sameUnknown(now pin) bool {
	return (!p.tag.proves() || !now.tag.proves()) && (p.modified.IsZero() || now.modified.IsZero())
}

// settled is how old the time of a change has to be before it stands for the bytes in the
// cache: it has whole seconds, and the object may have been written twice in one.
const settled = time.Minute

// key names the object at an address in the cache. ok is false if the pin is too weak to
// outlive the process.
func (p pin) key(address string) (key [md5.Size]byte, ok bool) {
	text := strings.Join([]string{address, strconv.FormatInt(p.size, 10), p.tag.value, p.modified.UTC().Format(time.RFC3339)}, "\x00")
	return md5.Sum([]byte(text)), p.tag.proves() || p.settled()
}

func (p pin) settled() bool { return !p.modified.IsZero() && time.Since(p.modified) > settled }

// changedError says how an object changed.
type changedError struct{ name, how string }

func (e *changedError) Error() string {
	return fmt.Sprintf("%s: %v: %s", e.name, source.ErrChanged, e.how)
}
func (e *changedError) Is(target error) bool { return target == source.ErrChanged }
