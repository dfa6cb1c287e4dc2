package objects_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"lorefs/internal/origin"
	"lorefs/internal/remote/objects"
)

// TestRegions has an object store say in which region a bucket lies, or refuse to, and looks for the
// region that the next requests are signed for.
func TestRegions(t *testing.T) {
	t.Setenv("AWS_REGION", "")
	for name, tt := range map[string]struct {
		status     int
		text, want string
	}{
		"said":      {http.StatusOK, `<?xml version="1.0"?><LocationConstraint xmlns="http://s3.amazonaws.com/doc/2006-03-01/">eu-north-1</LocationConstraint>`, "eu-north-1"},
		"old":       {http.StatusOK, `<LocationConstraint>EU</LocationConstraint>`, "eu-west-1"},
		"none":      {http.StatusOK, `<LocationConstraint/>`, "us-east-1"},
		"refused":   {http.StatusForbidden, `<Error><Code>AccessDenied</Code><Message>no</Message></Error>`, "us-east-1"},
		"malformed": {http.StatusBadRequest, `<Error><Code>AuthorizationHeaderMalformed</Code><Region>ap-south-1</Region></Error>`, "ap-south-1"},
		"broken":    {http.StatusInternalServerError, "", "us-east-1"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newWeb(t)
			var asked int
			var signed []string
			s.setFault(func(w http.ResponseWriter, r *http.Request) bool {
				signed = append(signed, strings.Split(r.Header.Get("Authorization"), "/")[2])
				if r.URL.Query().Has("location") {
					asked++
					w.WriteHeader(tt.status)
					_, _ = io.WriteString(w, tt.text)
					return true
				}
				_, _ = io.WriteString(w, "<ListBucketResult/>")
				return true
			})
			for _, err := range store(t, "s3://bucket", objects.Options{Endpoint: s.URL}).Top(t.Context()) {
				t.Error(err)
			}
			if want := []string{"us-east-1", tt.want}; asked != 1 || !slices.Equal(signed, want) {
				t.Errorf("asked %d times, signed for %q, want %q", asked, signed, want)
			}
		})
	}
	s := newWeb(t)
	ctx, cancel := context.WithCancel(t.Context())
	s.setFault(func(_ http.ResponseWriter, r *http.Request) bool {
		cancel()
		<-r.Context().Done()
		return true
	})
	if _, err := objects.Open(ctx, origin.Parse("s3://bucket"), objects.Options{Endpoint: s.URL, Times: quick}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want that it was canceled", err)
	}
}

// TestListing lists two pages, with names that XML and URLs have to spell in another way.
func TestListing(t *testing.T) {
	s := newWeb(t)
	var asked []string
	s.setFault(func(w http.ResponseWriter, r *http.Request) bool {
		q := r.URL.Query()
		asked = append(asked, fmt.Sprintf("%s %s %q %q", r.URL.Path, q.Get("prefix"), q.Get("delimiter"), q.Get("continuation-token")))
		page := `<IsTruncated>true</IsTruncated><NextContinuationToken>a+b/c=</NextContinuationToken><EncodingType>url</EncodingType>
			<Contents><Key>top/one+more%26.bin</Key><Size>7</Size><ETag>&quot;x&quot;</ETag><LastModified>2020-01-02T03:04:05.678Z</LastModified></Contents>
			<CommonPrefixes><Prefix>top/sub%20dir/</Prefix></CommonPrefixes>`
		if q.Get("continuation-token") != "" {
			page = "<Contents><Key>top/a%20b&lt;</Key><Size>8</Size></Contents>"
		}
		_, _ = io.WriteString(w, "<ListBucketResult>"+page+"</ListBucketResult>")
		return true
	})
	var got []string
	for name, err := range store(t, "s3://bucket/top", objects.Options{Endpoint: s.URL}).Top(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, name)
	}
	if want := []string{"one more&.bin", "sub dir/", "a%20b<"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if want := []string{`/bucket/ top/ "/" ""`, `/bucket/ top/ "/" "a+b/c="`}; !slices.Equal(asked, want) {
		t.Errorf("asked %q, want %q", asked, want)
	}
}

// TestRefusedListings has an object store say why it lists nothing, or answer what is no listing.
func TestRefusedListings(t *testing.T) {
	for name, tt := range map[string]struct {
		status, most int
		text, want   string
	}{
		"refused": {http.StatusForbidden, 1, "<Error><Code>AccessDenied</Code><Message>You shall not list.</Message></Error>", "status 403 Forbidden: You shall not list."},
		"none":    {http.StatusNotFound, 1, "<Error><Code>NoSuchBucket</Code><Message>No such bucket.</Message></Error>", "status 404 Not Found: No such bucket."},
		"busy":    {http.StatusServiceUnavailable, 4, "", "status 503"},
		"page":    {http.StatusOK, 1, "<html>Hello</html>", "the answer is no XML of an object store"},
		"endless": {http.StatusOK, 1, "<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>", "does not tell the next"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newWeb(t)
			s.setFault(func(w http.ResponseWriter, _ *http.Request) bool {
				w.WriteHeader(tt.status)
				_, _ = io.WriteString(w, tt.text)
				return true
			})
			_, err := store(t, "s3://bucket", objects.Options{Endpoint: s.URL}).OpenFolder(t.Context())
			if n, _ := s.took(); n > tt.most || err == nil || !strings.Contains(err.Error(), tt.want) || strings.Count(err.Error(), "s3://bucket") != 1 {
				t.Errorf("after %d requests: %v", n, err)
			}
		})
	}
}
