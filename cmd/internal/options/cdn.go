package options

import (
	"path/filepath"
	"strings"

	"lorefs/cmd/internal/cli"
	"lorefs/cmd/internal/kinds"
	"lorefs/cmd/internal/kinds/casckind"
	"lorefs/internal/origin"
	"lorefs/internal/remote"
)

// CDNFlags are the flags for CASC storages on the hosts of a CDN.
type CDNFlags struct {
	region       string
	hosts        []string
	versionHosts []string
	// WholeFiles says that the command reads all of each file. It has no flag.
	WholeFiles bool
}

// RemoteFlags are the flags for all that comes from other machines: a source of any kind, or a
// folder beside it. So every command that opens a source has them.
type RemoteFlags struct {
	endpoint   string
	offline    bool
	cacheDir   string
	cacheLimit ByteSize
}

// defaultCacheLimit bounds the cache of what is fetched.
const defaultCacheLimit = 10 << 30

// Table returns the options of all that comes from other machines.
func (f *RemoteFlags) Table() []Option {
	f.cacheLimit = defaultCacheLimit
	return []Option{
		{Name: "endpoint", Value: &f.endpoint, Help: "`URL` of the object store of s3: sources (default: $AWS_ENDPOINT_URL, or that of AWS)"},
		{Name: "offline", Value: &f.offline, Help: "read only what was fetched before, and ask no host"},
		{Name: "cache-dir", Path: true, made: true, Value: &f.cacheDir, Help: "`folder` for what is fetched from other machines (default: lorefs/cdn in your cache folder)"},
		{Name: "cache-limit", Value: &f.cacheLimit, Help: "how large the folder of what is fetched may become"},
	}
}

// Set sets the options that the flags stand for.
func (f *RemoteFlags) Set(o *kinds.Options) {
	o.Remote.Endpoint = f.endpoint
	o.CASC.CDN.Offline, o.CASC.CDN.CacheDir, o.CASC.CDN.CacheLimit = f.offline, f.cacheDir, int64(f.cacheLimit)
}

func (f *CDNFlags) table() []Option {
	only := []string{kinds.CASCName}
	return []Option{
		{Name: "region", Kinds: only, Value: &f.region, Help: "`region` of cdn:PRODUCT, such as eu (default: us)"},
		{Name: "host", Kinds: only, Value: &f.hosts, Help: "`URL` of a host that has what cdn:PRODUCT needs, in place of the listed ones; may be given again"},
		{Name: "version-host", Kinds: only, Value: &f.versionHosts, Help: "`URL` of a host that says which builds of cdn:PRODUCT there are; may be given again"},
	}
}

// parse returns the options that the flags set.
func (f *CDNFlags) parse(s *Set) (o kinds.CDNOptions, err error) {
	for name, hosts := range map[string][]string{"host": f.hosts, "version-host": f.versionHosts} {
		for _, h := range hosts {
			if _, err := remote.ParseGiven(h); err != nil {
				return o, cli.UsageErrorf("%s: %w", s.spelled(name), err)
			}
		}
	}
	return kinds.CDNOptions{
		Region: f.region, Hosts: f.hosts, VersionHosts: f.versionHosts, WholeFiles: f.WholeFiles,
	}, nil
}

// OnlyCDN are the options that only a source cdn:PRODUCT has, and NeverCDN those that it can't
// have.
var (
	OnlyCDN  = []string{"region", "host", "version-host"}
	NeverCDN = []string{"product"}
)

// checkPlace returns an error for options that don't go with the place of a CASC storage.
func (f *CASCFlags) checkPlace(path string, s *Set) error {
	if origin.Parse(path).Scheme == origin.CDN {
		for _, name := range NeverCDN {
			if s.Given(name) {
				return cli.UsageErrorf("--%s goes with a CASC storage in a folder: %s is on a CDN", name, path)
			}
		}
		return nil
	}
	for _, name := range OnlyCDN {
		if s.Given(name) {
			return cli.UsageErrorf("--%s goes with cdn:PRODUCT: %s is another place", name, origin.Shown(path))
		}
	}
	return nil
}

// productKeySuffix ends the names of files with the key of a product.
const productKeySuffix = ".ak"

func isProductKey(file string) bool { return strings.HasSuffix(file, productKeySuffix) }

// productKeys reads the file of --keys if it has the key of a product.
func (f *CASCFlags) productKeys() (map[string][16]byte, error) {
	if !isProductKey(f.keys) {
		return nil, nil
	}
	key, err := casckind.ReadProductKey(f.keys)
	if err != nil {
		return nil, err
	}
	return map[string][16]byte{strings.TrimSuffix(filepath.Base(f.keys), productKeySuffix): key}, nil
}
