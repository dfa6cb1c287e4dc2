package objects

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"
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
	creds := providers()
	client, err := minio.New(at.Host, &minio.Options{
		Creds: creds, Secure: at.Scheme == "https", Transport: pager{remote.Watched(transport, opts.Times, maxPage)}, MaxRetries: listTries,
		Region: cmp.Or(os.Getenv("AWS_REGION"), os.Getenv("AWS_DEFAULT_REGION")),
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.Shown(), err)
	}
	s := s3{client: client, creds: creds, bucket: bucket, prefix: key, region: noRegion}
	if opts.Offline {
		return &place{url: s.address(at), list: s.list}, nil
	}
	if region, err := client.GetBucketLocation(ctx, bucket); err == nil {
		s.region = region
	} else if ctx.Err() != nil { // else not all keys may ask; a wrong region is told by each answer
		return nil, context.Cause(ctx)
	}
	p := &place{url: s.address(at), list: s.list}
	now, err := creds.GetWithContext(client.CredContext())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.Shown(), err)
	}
	if !now.SignerType.IsAnonymous() {
		p.sign = s.sign
	}
	return p, nil
}

const (
	// listTries is how often a page of a listing is asked for.
	listTries = 3
	// maxPage bounds a page, in bytes. It has a thousand names of at most 1 kB.
	maxPage = 16 << 20
)

// s3 is part of a bucket.
type s3 struct {
	client *minio.Client
	creds  *credentials.Credentials
	bucket string
	// prefix has no slash at its end.
	prefix string
	region string
}

// address returns the address of the prefix: below the name of the bucket as a host, where
// stores want that, or below the bucket as a folder.
func (s *s3) address(endpoint *url.URL) *url.URL {
	u := &url.URL{Scheme: endpoint.Scheme, Host: endpoint.Host}
	if s3utils.IsAmazonEndpoint(*endpoint) && endpoint.Host == strings.TrimPrefix(amazon, "https://") {
		u.Host = "s3." + s.region + ".amazonaws.com"
	}
	parts := []string{""}
	if s3utils.IsVirtualHostSupported(*endpoint, s.bucket) {
		u.Host = s.bucket + "." + u.Host
	} else {
		parts = append(parts, s.bucket)
	}
	if s.prefix != "" {
		parts = append(parts, s.prefix)
	}
	u.Path = strings.Join(parts, "/")
	return u
}

// sign signs a request.
func (s *s3) sign(req *http.Request) error {
	v, err := s.creds.GetWithContext(s.client.CredContext())
	if err != nil {
		return err
	}
	// The signature is of this spelling of the path.
	req.URL.RawPath = s3utils.EncodePath(req.URL.Path)
	req.Header.Set("X-Amz-Content-Sha256", emptySum)
	*req = *signer.SignV4(*req, v.AccessKeyID, v.SecretAccessKey, v.SessionToken, s.region)
	return nil
}

// list implements place.list.
func (s *s3) list(ctx context.Context, prefix string, all bool) iter.Seq2[listed, error] {
	top := s.prefix
	if top != "" {
		top += "/"
	}
	return func(yield func(listed, error) bool) {
		ctx, p := newPaging(ctx)
		defer p.end(nil)
		for o := range s.client.ListObjectsIter(ctx, s.bucket, minio.ListObjectsOptions{Prefix: top + prefix, Recursive: all}) {
			err := cmp.Or(context.Cause(ctx), o.Err)
			if err == nil {
				err = p.took(o.Key, all)
			}
			if err != nil {
				yield(listed{}, remote.Brief(err))
				return
			}
			// The library has removed the quotes.
			l := listed{strings.TrimPrefix(o.Key, top), pin{o.Size, parseETag(`"` + o.ETag + `"`), o.LastModified.UTC().Truncate(time.Second), true}}
			if !yield(l, nil) {
				return
			}
		}
		if err := context.Cause(ctx); err != nil { // of which the library says nothing between two pages
			yield(listed{}, err)
		}
	}
}
