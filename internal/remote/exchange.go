package remote

import (
	"context"
	"fmt"
	"io"
	"net/http"
)

// Exchange is a request for something that no hash proves: the package that makes it has to
// find out by itself whether it got what it wanted. It has the times, the tries and the counts
// of all requests.
type Exchange struct {
	// Name names what is asked for in messages, and URL is where it lies.
	Name, URL string
	Header    http.Header
	// Once means that a host that fails is not asked again.
	Once bool
	// Long means that the answer may take as long as it likes while it is not too slow.
	Long bool
	// Read reads the answer, whatever its status is. It may be called several times, since a
	// failure makes the host be asked again, unless it is [Final].
	Read func(resp *http.Response, body io.Reader) ([]byte, error)
}

// Exchange makes a request, and returns what Read does. Nothing of it is kept.
func (c *Client) Exchange(ctx context.Context, e Exchange) ([]byte, error) {
	if c.offline {
		return nil, fmt.Errorf("remote: %s: %w", e.Name, ErrOffline)
	}
	return c.fetch(ctx, request{path: e.Name, exchange: &e, once: e.Once, check: func([]byte) error { return nil }})
}

// finalError is an error that another try can't mend.
type finalError struct{ err error }

func (e *finalError) Error() string { return e.err.Error() }
func (e *finalError) Unwrap() error { return e.err }

// Final marks an error of [Exchange.Read] that another try can't mend. [Client.Exchange]
// returns it without the mark.
func Final(err error) error { return &finalError{Brief(err)} }

// StatusError returns the error of an answer whose status tells that it is none.
func StatusError(resp *http.Response, body io.Reader) error {
	_, _ = io.CopyN(io.Discard, body, maxPage) // its errors don't matter any more
	return &statusError{resp.StatusCode, parseRetryAfter(resp.Header.Get("Retry-After"))}
}
