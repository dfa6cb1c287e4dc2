package main

import (
	"path/filepath"
	"strings"

	"lorefs/cmd/internal/kinds"
	"lorefs/internal/origin"
	"lorefs/internal/remote"
)

// cdnFlags are the flags for CASC storages on the hosts of a CDN.
type cdnFlags struct {
	region       string
	hosts        []string
	versionHosts []string
	// wholeFiles says that the command reads all of each file. It has no flag.
	wholeFiles bool
}

// remoteFlags are the flags for all that comes from other machines: a source of any kind, or a
// folder beside it. So every command that opens a source has them.
type remoteFlags struct {
	endpoint   string
	offline    bool
	cacheDir   string
	cacheLimit byteSize
}

// defaultCacheLimit is that of the cache of what is fetched.
const defaultCacheLimit = 10 << 30

func (f *remoteFlags) table() []option {
	f.cacheLimit = defaultCacheLimit
	return []option{
		{name: "endpoint", value: &f.endpoint, help: "`URL` of the object store of s3: sources (default: $AWS_ENDPOINT_URL, or that of AWS)"},
		{name: "offline", value: &f.offline, help: "read only what was fetched before, and ask no host"},
		{name: "cache-dir", path: true, made: true, value: &f.cacheDir, help: "`folder` for what is fetched from other machines (default: lorefs/cdn in your cache folder)"},
		{name: "cache-limit", value: &f.cacheLimit, help: "how large the folder of what is fetched may become"},
	}
}

// set sets the options that the flags stand for.
func (f *remoteFlags) set(o *kinds.Options) {
	o.Remote.Endpoint = f.endpoint
	o.CASC.CDN.Offline, o.CASC.CDN.CacheDir, o.CASC.CDN.CacheLimit = f.offline, f.cacheDir, int64(f.cacheLimit)
}

func (f *cdnFlags) table() []option {
	only := []string{kinds.CASCName}
	return []option{
		{name: "region", kinds: only, value: &f.region, help: "`region` of cdn:PRODUCT, such as eu (default: us)"},
		{name: "host", kinds: only, value: &f.hosts, help: "`URL` of a host that has what cdn:PRODUCT needs, in place of the listed ones; may be given again"},
		{name: "version-host", kinds: only, value: &f.versionHosts, help: "`URL` of a host that says which builds of cdn:PRODUCT there are; may be given again"},
	}
}

// parse returns the options that the flags set.
func (f *cdnFlags) parse(s *optionSet) (o kinds.CDNOptions, err error) {
	for name, hosts := range map[string][]string{"host": f.hosts, "version-host": f.versionHosts} {
		for _, h := range hosts {
			if _, err := remote.ParseGiven(h); err != nil {
				return o, usageErrorf("%s: %w", s.spelled(name), err)
			}
		}
	}
	return kinds.CDNOptions{
		Region: f.region, Hosts: f.hosts, VersionHosts: f.versionHosts, WholeFiles: f.wholeFiles,
	}, nil
}

// onlyCDN are the options that only a source cdn:PRODUCT has, and neverCDN those that it can't
// have.
var (
	onlyCDN  = []string{"region", "host", "version-host"}
	neverCDN = []string{"product"}
)

// checkPlace returns an error for options that don't go with the place of a CASC storage.
func (f *cascFlags) checkPlace(path string, s *optionSet) error {
	if origin.Parse(path).Scheme == origin.CDN {
		for _, name := range neverCDN {
			if s.given(name) {
				return usageErrorf("--%s goes with a CASC storage in a folder: %s is on a CDN", name, path)
			}
		}
		return nil
	}
	for _, name := range onlyCDN {
		if s.given(name) {
			return usageErrorf("--%s goes with cdn:PRODUCT: %s is another place", name, origin.Shown(path))
		}
	}
	return nil
}

// productKeySuffix is that of files with the key of a product.
const productKeySuffix = ".ak"

func isProductKey(file string) bool { return strings.HasSuffix(file, productKeySuffix) }

// productKeys reads the file of --keys if it has the key of a product.
func (f *cascFlags) productKeys() (map[string][16]byte, error) {
	if !isProductKey(f.keys) {
		return nil, nil
	}
	key, err := kinds.ReadProductKey(f.keys)
	if err != nil {
		return nil, err
	}
	return map[string][16]byte{strings.TrimSuffix(filepath.Base(f.keys), productKeySuffix): key}, nil
}
