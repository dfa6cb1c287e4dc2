package objects

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/minio/minio-go/v7/pkg/credentials"
	"github.com/minio/minio-go/v7/pkg/s3utils"
	"github.com/minio/minio-go/v7/pkg/signer"

	"lorefs/internal/origin"
	"lorefs/internal/remote"
)

const (
	// amazon is the endpoint that stands for the one of the bucket's region.
	amazon = "https://s3.amazonaws.com"
	// noRegion is the region of stores that have none.
	noRegion = "us-east-1"
	// emptySum is the SHA-256 of the body of a request that has none.
	emptySum = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
	// metadataTime bounds the question to the machine that may run lorefs for a role.
	metadataTime = 2 * time.Second
)

// endpointOf returns the address of the object store.
func endpointOf(given string) (*url.URL, error) {
	text := cmp.Or(given, os.Getenv("AWS_ENDPOINT_URL_S3"), os.Getenv("AWS_ENDPOINT_URL"), amazon)
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" {
		return nil, fmt.Errorf("the address of the object store: want http://HOST or https://HOST, with a port if it needs one")
	}
	return u, nil
}

// providers are where credentials are looked for.
func providers() *credentials.Credentials {
	all := []credentials.Provider{
		&credentials.EnvAWS{}, &credentials.EnvMinio{}, &credentials.FileAWSCredentials{}, &credentials.FileMinioClient{},
	}
	if !strings.EqualFold(os.Getenv("AWS_EC2_METADATA_DISABLED"), "true") {
		all = append(all, &credentials.IAM{Client: &http.Client{Timeout: metadataTime}})
	}
	return credentials.NewChainCredentials(all)
}

// s3Place returns the place of a source in an object store.
func s3Place(ctx context.Context, o origin.Origin, opts *Options, transport http.RoundTripper) (*place, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	bucket, key := o.Bucket()
	if err := s3utils.CheckValidBucketName(bucket); err != nil {
		return nil, fmt.Errorf("%s: %w", o.Shown(), err)
	}
	at, err := endpointOf(opts.Endpoint)
	if err != nil {
		return nil, err
	}
	s := s3{
		creds: providers(), shown: o.Shown(), endpoint: at, bucket: bucket, prefix: key,
		region: cmp.Or(os.Getenv("AWS_REGION"), os.Getenv("AWS_DEFAULT_REGION"), s3utils.GetRegionFromURL(*at)),
	}
	var sign func(*http.Request) error
	if !opts.Offline {
		now, err := s.creds.GetWithContext(nil)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", o.Shown(), err)
		}
		if !now.SignerType.IsAnonymous() {
			sign = s.sign
		}
		if s.region == "" {
			if err := s.locate(ctx, opts.Times, signing{transport, s.address("").Host, sign}); err != nil {
				return nil, err
			}
		}
	}
	s.region = cmp.Or(s.region, noRegion) // a wrong one is told by each answer
	return &place{url: s.address(key), sign: sign, list: s.list}, nil
}

// maxPage bounds a page of a listing, in bytes. It has a thousand names of at most 1 kB.
const maxPage = 16 << 20

// s3 is part of a bucket.
type s3 struct {
	creds *credentials.Credentials
	// shown names the source in messages.
	shown    string
	endpoint *url.URL
	bucket   string
	// prefix has no slash at its end.
	prefix string
	// region is empty as long as it is not known.
	region string
}

// locate asks in which region the bucket lies. Not all keys may ask, but even the answer that
// refuses may tell. It fails only if ctx has ended.
func (s *s3) locate(ctx context.Context, t remote.Times, transport http.RoundTripper) error {
	client, err := remote.New(remote.Options{Hosts: []remote.Host{{URL: s.endpoint.String()}}, Follow: true, Times: t, Transport: transport})
	if err != nil {
		return err
	}
	defer client.Close()
	_, err = client.Exchange(ctx, remote.Exchange{
		Name: s.shown, URL: s.ask("location="), Once: true,
		Read: func(resp *http.Response, body io.Reader) ([]byte, error) {
			if resp.StatusCode != http.StatusOK {
				told := complaintOf(body)
				s.region = cmp.Or(resp.Header.Get("X-Amz-Bucket-Region"), told.Region)
				return nil, remote.Final(remote.StatusError(resp, body))
			}
			return nil, readXML(body, &s.region)
		},
	})
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if s.region = strings.TrimSpace(s.region); s.region == "EU" { // as it is said of the oldest buckets
		s.region = "eu-west-1"
	}
	return nil
}

// address returns the address of an object, or of what lies below a prefix: below the name of the
// bucket as a host, where stores want that, or below the bucket as a folder.
func (s *s3) address(key string) *url.URL {
	u := &url.URL{Scheme: s.endpoint.Scheme, Host: s.endpoint.Host}
	if s.region != "" && s3utils.IsAmazonEndpoint(*s.endpoint) && s.endpoint.Host == strings.TrimPrefix(amazon, "https://") {
		u.Host = "s3." + s.region + ".amazonaws.com"
	}
	parts := []string{""}
	if s3utils.IsVirtualHostSupported(*s.endpoint, s.bucket) {
		u.Host = s.bucket + "." + u.Host
	} else {
		parts = append(parts, s.bucket)
	}
	if key != "" {
		parts = append(parts, key)
	}
	u.Path = strings.Join(parts, "/")
	return u
}

// ask returns the address of a question to the bucket.
func (s *s3) ask(query string) string {
	u := s.address("")
	u.Path, u.RawQuery = strings.TrimRight(u.Path, "/")+"/", query
	return u.String()
}

// sign signs a request.
func (s *s3) sign(req *http.Request) error {
	v, err := s.creds.GetWithContext(nil)
	if err != nil {
		return err
	}
	// The signature is of this spelling of the path.
	req.URL.RawPath = s3utils.EncodePath(req.URL.Path)
	req.Header.Set("X-Amz-Content-Sha256", emptySum)
	*req = *signer.SignV4(*req, v.AccessKeyID, v.SecretAccessKey, v.SessionToken, cmp.Or(s.region, noRegion))
	return nil
}

// list implements place.list.
func (s *s3) list(ctx context.Context, client *remote.Client, prefix string, all bool) iter.Seq2[listed, error] {
	top := s.prefix
	if top != "" {
		top += "/"
	}
	query := url.Values{"list-type": {"2"}, "encoding-type": {"url"}, "prefix": {top + prefix}}
	if !all {
		query.Set("delimiter", "/")
	}
	return func(yield func(listed, error) bool) {
		p := newPaging()
		for {
			err := p.page()
			var now listPage
			if err == nil {
				now, err = s.page(ctx, client, query)
			}
			if err != nil {
				yield(listed{}, err)
				return
			}
			for l, err := range now.entries(top) {
				if err == nil {
					err = p.took(l.path, all)
				}
				if !yield(l, err) || err != nil {
					return
				}
			}
			if !now.IsTruncated {
				return
			}
			query.Set("continuation-token", now.NextContinuationToken)
		}
	}
}

// page asks for a page of a listing.
func (s *s3) page(ctx context.Context, client *remote.Client, query url.Values) (now listPage, err error) {
	_, err = client.Exchange(ctx, remote.Exchange{
		Name: s.shown, URL: s.ask(query.Encode()),
		Read: func(resp *http.Response, body io.Reader) ([]byte, error) {
			now = listPage{}
			if resp.StatusCode != http.StatusOK {
				told := complaintOf(body)
				err := remote.StatusError(resp, body)
				if told.Message != "" {
					err = fmt.Errorf("%w: %s", err, told.Message)
				}
				return nil, refusal(resp.StatusCode, err)
			}
			if err := readXML(body, &now); err != nil {
				return nil, err
			}
			if now.IsTruncated && now.NextContinuationToken == "" {
				return nil, remote.Final(errors.New("a page of the listing is not the last one, and does not tell the next"))
			}
			return nil, nil
		},
	})
	return now, err
}
