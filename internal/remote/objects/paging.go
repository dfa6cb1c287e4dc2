package objects

import (
	"fmt"
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
}

func newPaging() *paging { return &paging{since: time.Now()} }

// page counts a request. Its error ends the listing.
func (p *paging) page() error {
	p.pages++
	if p.pages > sparePages+p.names/leastNames || time.Since(p.since) > maxIdle {
		return fmt.Errorf("the listing does not end: %d pages of it had %d names", p.pages-1, p.names)
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
