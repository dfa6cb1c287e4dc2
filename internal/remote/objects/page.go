package objects

import (
	"encoding/xml"
	"fmt"
	"io"
	"iter"
	"net/url"
	"strings"
	"time"

	"lorefs/internal/remote"
)

// listPage is a page of a listing, as ListObjectsV2 answers.
type listPage struct {
	XMLName  xml.Name `xml:"ListBucketResult"`
	Contents []struct {
		Key, ETag    string
		Size         int64
		LastModified time.Time
	}
	CommonPrefixes        []struct{ Prefix string }
	EncodingType          string
	IsTruncated           bool
	NextContinuationToken string
}

// entries yields what a page lists below top.
func (p *listPage) entries(top string) iter.Seq2[listed, error] {
	return func(yield func(listed, error) bool) {
		for _, o := range p.Contents {
			path, err := p.below(top, o.Key)
			tag := parseETag(`"` + strings.Trim(o.ETag, `"`) + `"`) // some stores leave the quotes out
			if !yield(listed{path, pin{o.Size, tag, o.LastModified.UTC().Truncate(time.Second), true}}, err) {
				return
			}
		}
		for _, folder := range p.CommonPrefixes {
			path, err := p.below(top, folder.Prefix)
			if !yield(listed{path: path}, err) {
				return
			}
		}
	}
}

// below returns the path below top of a key.
func (p *listPage) below(top, key string) (string, error) {
	if p.EncodingType == "url" {
		text, err := url.QueryUnescape(key)
		if err != nil {
			return "", fmt.Errorf("the listing has the key %.80q, which is not encoded as it says", key)
		}
		key = text
	}
	return strings.TrimPrefix(key, top), nil
}

// complaint comes from an object store that refuses something.
type complaint struct{ Message, Region string }

// complaintOf reads the answer to what was refused.
func complaintOf(body io.Reader) (told complaint) {
	const most = 64 << 10
	// Not all stores say anything.
	_ = xml.NewDecoder(io.LimitReader(body, most)).Decode(&told)
	return told
}

// readXML reads an answer.
func readXML(body io.Reader, into any) error {
	data, err := io.ReadAll(io.LimitReader(body, maxPage+1))
	switch {
	case err != nil:
		return short(err)
	case len(data) > maxPage:
		return remote.Final(fmt.Errorf("more than %d bytes came", maxPage))
	}
	if err := xml.Unmarshal(data, into); err != nil {
		return remote.Final(fmt.Errorf("the answer is no XML of an object store: %w", err))
	}
	return nil
}
