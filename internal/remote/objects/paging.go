package objects

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"
)

const (
	// sparePages is how many pages of a listing may bring nothing, and leastNames how many names each
	// other one has to bring. Stores send up to a thousand, but now and then a page of nothing.
	sparePages = 256
	leastNames = 10
	// maxIdle is how long a listing may take to bring another name.
	maxIdle = 5 * time.Minute
)

// paging is how a listing gets on. A store may say forever that there is another page.
type paging struct {
	pages, names, bytes int
	since               time.Time
	end                 context.CancelCauseFunc
}

type pagingKey struct{}

// newPaging returns a context for the requests of a listing.
func newPaging(ctx context.Context) (context.Context, *paging) {
	ctx, end := context.WithCancelCause(ctx)
	p := &paging{since: time.Now(), end: end}
	return context.WithValue(ctx, pagingKey{}, p), p
}

// page counts a request. Its error ends the listing.
func (p *paging) page() error {
	p.pages++
	if p.pages > sparePages+p.names/leastNames || time.Since(p.since) > maxIdle {
		err := fmt.Errorf("the listing does not end: %d pages of it had %d names", p.pages-1, p.names)
		p.end(err)
		return err
	}
	return nil
}

// took counts what a page has brought. A name that ends in a slash stands for a folder, and for
// nothing if all is listed that lies in there.
func (p *paging) took(name string, all bool) error {
	if p.bytes += len(name); p.bytes > maxIndex {
		return fmt.Errorf("the names in the listing have more than %d bytes", maxIndex)
	}
	if !all || !strings.HasSuffix(name, "/") {
		p.names++
		p.since = time.Now()
	}
	if p.names > maxListed {
		return tooMany()
	}
	return nil
}

// pager is a transport that counts the pages of listings.
type pager struct{ http.RoundTripper }

// RoundTrip implements [http.RoundTripper].
func (p pager) RoundTrip(req *http.Request) (*http.Response, error) {
	if listing, ok := req.Context().Value(pagingKey{}).(*paging); ok {
		if err := listing.page(); err != nil {
			return nil, err
		}
	}
	return p.RoundTripper.RoundTrip(req)
}
