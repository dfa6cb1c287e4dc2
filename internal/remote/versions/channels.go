package versions

import (
	"context"
	"crypto/md5"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"lorefs/internal/remote"
)

// channelHosts are the hosts of TACT Channels.
var channelHosts = []remote.Host{{URL: "https://distribution.version.battle.net"}}

// summary is the only file of TACT Channels that changes.
type summary struct {
	Public struct{ Channel string }
	Path   string
}

type catalog struct {
	Products []catalogProduct
}

// catalogProduct is a product. Variant is its code, and branches are regions.
type catalogProduct struct {
	Variant string
	Regions []struct {
		Branches []string
		CDNs     string
	}
	Builds []struct {
		Branches   []string
		Definition string
	}
}

type definition struct {
	ArmadilloKey, BuildKey, CDNKey, KeyRing, Path, VersionString string
	VersionNumber                                                int64
	ProductConfig                                                struct{ Hash, CDNPath string }
}

type hostList struct {
	Hosts []struct{ Host string }
}

// channels reads TACT Channels.
type channels struct {
	client *remote.Client
	// path is where all other files lie.
	path string
}

// fromChannels lists the builds of a product by TACT Channels.
func fromChannels(ctx context.Context, client *remote.Client, product string) ([]Build, error) {
	var s summary
	_, err := client.Get(ctx, "summary", func(data []byte) error {
		s = summary{}
		if err := parseJSON(data, &s); err != nil {
			return err
		}
		if _, err := parseKey(s.Public.Channel); err != nil {
			return fmt.Errorf("catalog: %w", err)
		}
		return remote.CheckPath(strings.Trim(s.Path, "/"))
	})
	if err != nil {
		return nil, err
	}
	c := channels{client, strings.Trim(s.Path, "/")}
	var all catalog
	if err := c.read(ctx, s.Public.Channel, &all); err != nil {
		return nil, fmt.Errorf("catalog: %w", err)
	}
	i := slices.IndexFunc(all.Products, func(p catalogProduct) bool { return p.Variant == product })
	if i < 0 {
		return nil, fmt.Errorf("no product %q is in the catalog", product)
	}
	return c.builds(ctx, &all.Products[i])
}

// maxBuilds is how many builds a product has at most, with all regions counted. Each takes requests.
const maxBuilds = 256

// builds lists the builds of a product, by region.
func (c channels) builds(ctx context.Context, p *catalogProduct) (builds []Build, err error) {
	for i, listed := range p.Builds {
		if max(i, len(builds)) >= maxBuilds {
			return nil, fmt.Errorf("the catalog has more than %d builds of the product", maxBuilds)
		}
		var d definition
		if err := c.read(ctx, listed.Definition, &d); err != nil {
			return nil, fmt.Errorf("definition of a build: %w", err)
		}
		for _, region := range listed.Branches[:min(len(listed.Branches), maxBuilds)] {
			b, err := d.build()
			var hosts []string
			if err == nil {
				hosts, err = c.hosts(ctx, p, region)
			}
			if err == nil {
				err = b.setPlace(hosts, d.Path, d.ProductConfig.CDNPath)
			}
			if err != nil {
				return nil, fmt.Errorf("region %.20q: %w", region, err)
			}
			b.Product, b.Region = p.Variant, region
			builds = append(builds, b)
		}
	}
	return builds, nil
}

func (d *definition) build() (Build, error) {
	b := Build{Version: d.VersionString, ID: strconv.FormatInt(d.VersionNumber, 10), EncryptedBy: d.ArmadilloKey}
	return b, b.setKeys(d.BuildKey, d.CDNKey, d.KeyRing, d.ProductConfig.Hash)
}

// hosts returns the hosts of a region, or of the first one if it is not listed: some products
// have hosts in one region only.
func (c channels) hosts(ctx context.Context, p *catalogProduct, region string) ([]string, error) {
	if len(p.Regions) == 0 {
		return nil, fmt.Errorf("product %q has no hosts", p.Variant)
	}
	at := p.Regions[0]
	for _, r := range p.Regions {
		if slices.Contains(r.Branches, region) {
			at = r
			break
		}
	}
	var list hostList
	if err := c.read(ctx, at.CDNs, &list); err != nil {
		return nil, fmt.Errorf("list of hosts: %w", err)
	}
	texts := make([]string, len(list.Hosts))
	for i, h := range list.Hosts {
		texts[i] = h.Host
	}
	return texts, nil
}

// read reads a file that is named by its MD5.
func (c channels) read(ctx context.Context, name string, into any) error {
	key, err := parseKey(name)
	if err != nil {
		return err
	}
	name = fmt.Sprintf("%x", key)
	data, err := c.client.Get(ctx, strings.Join([]string{c.path, name[:2], name[2:4], name}, "/"), func(data []byte) error {
		if sum := md5.Sum(data); sum != key {
			return fmt.Errorf("its MD5 is %x, not %x", sum, key)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return parseJSON(data, into)
}

func parseJSON(data []byte, into any) error {
	if len(data) > maxText {
		return fmt.Errorf("%d bytes are too many", len(data))
	}
	return remote.Brief(json.Unmarshal(data, into))
}
