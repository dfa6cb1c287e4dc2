package versions

import (
	"cmp"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"

	"lorefs/internal/remote"
)

// Build is a build of a product in a region.
type Build struct {
	Product, Region string
	// Version is such as "12.0.1.66066", and ID the number of the build.
	Version, ID string
	// BuildConfig and CDNConfig name the configurations. KeyRing and ProductConfig may be zero.
	BuildConfig, CDNConfig, KeyRing, ProductConfig remote.Key
	// Path and ConfigPath are where objects and product configurations lie on Hosts.
	Path, ConfigPath string
	Hosts            []remote.Host
	// EncryptedBy is the name of the key without which none of the objects can be read. It
	// is empty if the service names none.
	EncryptedBy string
	// Said is when a service said so.
	Said time.Time

	// bad is why a service's list can't be read where it is about the build, and noPlace why what
	// it says of hosts and paths may not be used: only hosts that the user gave can be asked then.
	bad, noPlace error
}

// is tells whether a build has a name: a version, a number, or a key.
func (b *Build) is(name string) bool {
	return name == b.Version || name == b.ID || strings.EqualFold(name, hex.EncodeToString(b.BuildConfig[:]))
}

func parseKey(text string) (key remote.Key, err error) {
	b, err := hex.DecodeString(text)
	if err != nil || len(b) != len(key) {
		return key, fmt.Errorf("%.40q is no key", text)
	}
	return remote.Key(b), nil
}

// optionalKey reads a key that may be missing.
func optionalKey(text string) (remote.Key, error) {
	if text == "" {
		return remote.Key{}, nil
	}
	return parseKey(text)
}

// setKeys sets the keys of a build.
func (b *Build) setKeys(build, cdn, keyRing, product string) (err error) {
	if b.BuildConfig, err = parseKey(build); err != nil {
		return fmt.Errorf("build configuration: %w", err)
	}
	if b.CDNConfig, err = parseKey(cdn); err != nil {
		return fmt.Errorf("CDN configuration: %w", err)
	}
	if b.KeyRing, err = optionalKey(keyRing); err != nil {
		return fmt.Errorf("key ring: %w", err)
	}
	if b.ProductConfig, err = optionalKey(product); err != nil {
		return fmt.Errorf("product configuration: %w", err)
	}
	return nil
}

// setPlace sets the hosts of a build, and the paths there.
func (b *Build) setPlace(hosts []string, path, configPath string) error {
	b.Hosts, b.noPlace = parseHosts(hosts)
	for _, p := range []struct {
		to       *string
		text     string
		optional bool
	}{{&b.Path, path, false}, {&b.ConfigPath, configPath, true}} {
		*p.to = strings.Trim(p.text, "/")
		err := remote.CheckPath(p.text)
		switch {
		case err == nil, p.text == "" && p.optional:
		case *p.to != "" && remote.CheckPath(*p.to) != nil:
			return err
		default: // a server of one's own may have slashes at its ends, or nothing
			b.noPlace = cmp.Or(b.noPlace, err)
		}
	}
	return nil
}

// parseHosts reads a list of hosts, and passes over those that may not be asked.
func parseHosts(list []string) ([]remote.Host, error) {
	if len(list) == 0 {
		return nil, errors.New("no host is listed")
	}
	var all []remote.Host
	var first error
	for _, text := range list {
		h, err := remote.ParseListed(text)
		if err != nil {
			if first == nil {
				first = err
			}
			continue
		}
		all = append(all, h)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("no host that can be asked is listed: %w", first)
	}
	return all, nil
}

// KeyOfProduct returns the name of the key without which no object of a product can be read,
// as the configuration of the product says, or nothing if objects are not encrypted.
func KeyOfProduct(productConfig []byte) (string, error) {
	var p struct {
		All struct {
			Config struct {
				Name string `json:"decryption_key_name"`
			}
		}
	}
	if err := parseJSON(productConfig, &p); err != nil {
		return "", fmt.Errorf("versions: product configuration: %w", err)
	}
	return p.All.Config.Name, nil
}
