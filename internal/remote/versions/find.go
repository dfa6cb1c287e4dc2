package versions

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	iofs "io/fs"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"lorefs/internal/cache"
	"lorefs/internal/remote"
	"lorefs/internal/remote/mirror"
)

// Options say which build is wanted. Only Product is needed.
type Options struct {
	// Product is the code of a product, such as "wow".
	Product string
	// Region is a region, such as "eu". Default: "us".
	Region string
	// Build is the version, the number or the build configuration of a build. Default: the
	// one that the service has for the region.
	Build string
	// CDN is a CDN configuration in place of the one that belongs to the build.
	CDN string
	// Hosts are asked for objects in place of those of the service.
	Hosts []string
	// Cache keeps what was found. Default: nothing is kept.
	Cache *mirror.Cache
	// Offline means that no service is asked.
	Offline bool

	// Tables and Channels are the hosts of the services. A service without hosts, in a list that
	// is not nil, is not asked. Default: the real ones.
	Tables, Channels []remote.Host
	// Times, Transport and Logger are those of the clients that ask.
	Times     remote.Times
	Transport http.RoundTripper
	Logger    *slog.Logger
	// Now is the time. Default: [time.Now].
	Now func() time.Time
}

// NoBuildError means that the service answers, but does not have the build.
type NoBuildError struct {
	Product, Region string
	// Build was asked for; it is empty for the latest one.
	Build string
	// Have has the versions that there are, each with its region.
	Have []string
}

func (e *NoBuildError) Error() string {
	have := "there is none"
	if len(e.Have) > 0 {
		have = "there are " + strings.Join(e.Have, ", ")
	}
	if e.Build == "" {
		return fmt.Sprintf("product %q has no build in region %q: %s", e.Product, e.Region, have)
	}
	return fmt.Sprintf("product %q has no build %q: %s", e.Product, e.Build, have)
}

// NoProductError means that no service knows a product.
type NoProductError struct {
	Product string
	Err     error
}

func (e *NoProductError) Error() string {
	return fmt.Sprintf("there is no product %q: %v", e.Product, e.Err)
}

func (e *NoProductError) Unwrap() error { return e.Err }

// Find finds a build.
func Find(ctx context.Context, o Options) (Build, error) {
	w, err := o.wanted()
	if err != nil {
		return Build{}, fmt.Errorf("versions: %w", err)
	}
	if w.build != "" || o.Offline {
		b, err := w.load(w.build)
		switch {
		case err == nil && (o.Offline || w.Now().Sub(b.Said) < hostsStay):
			return w.adapt(b), nil
		case err == nil:
			return w.adapt(w.refreshed(ctx, b)), context.Cause(ctx)
		case o.Offline:
			return Build{}, fmt.Errorf("versions: product %q: %w", w.product, err)
		}
	}
	all, err := w.list(ctx)
	if err != nil {
		return Build{}, err
	}
	b, err := w.choose(all)
	if err != nil {
		return Build{}, err
	}
	w.add(b)
	return w.adapt(b), nil
}

// hostsStay is how long the hosts of a build that was kept are taken for those of today.
const hostsStay = 7 * 24 * time.Hour

// refreshed returns a build with the hosts of today. The build itself never changes, and is used
// as it was if nobody answers.
func (w *wanted) refreshed(ctx context.Context, b Build) Build {
	all, err := w.list(ctx)
	if err != nil || len(all) == 0 {
		return b
	}
	now := all[max(0, slices.IndexFunc(all, func(o Build) bool { return o.Region == w.region }))]
	b.Path, b.ConfigPath, b.Hosts, b.Said = now.Path, now.ConfigPath, now.Hosts, now.Said
	w.add(b)
	return b
}

// List lists the builds of a product in all regions, as the service has them now.
func List(ctx context.Context, o Options) ([]Build, error) {
	w, err := o.wanted()
	if err != nil {
		return nil, fmt.Errorf("versions: %w", err)
	}
	if o.Offline {
		return nil, fmt.Errorf("versions: product %q: %w", w.product, remote.ErrOffline)
	}
	return w.list(ctx)
}

// wanted has the options, read and checked.
type wanted struct {
	Options
	product, region, build string
	cdn                    remote.Key // zero if not given
	hosts                  []remote.Host
}

func (o Options) wanted() (w wanted, err error) {
	w = wanted{Options: o, product: strings.ToLower(o.Product), region: strings.ToLower(cmp.Or(o.Region, "us")), build: o.Build}
	for _, name := range []string{w.product, w.region} {
		// Both become part of an address.
		if name == "" || strings.ContainsFunc(name, func(r rune) bool {
			return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '_'
		}) {
			return w, fmt.Errorf("%q is no product or region: want letters, digits and _", name)
		}
	}
	if w.Now == nil {
		w.Now = time.Now
	}
	if o.CDN != "" {
		if w.cdn, err = parseKey(o.CDN); err != nil {
			return w, fmt.Errorf("CDN configuration: %w", err)
		}
	}
	for _, text := range o.Hosts {
		h, err := remote.ParseGiven(text)
		if err != nil {
			return w, err
		}
		w.hosts = append(w.hosts, h)
	}
	return w, nil
}

// adapt puts in place what the user gave.
func (w *wanted) adapt(b Build) Build {
	if w.cdn != (remote.Key{}) {
		b.CDNConfig = w.cdn
	}
	if len(w.hosts) > 0 {
		b.Hosts = w.hosts
	}
	return b
}

// list asks the services.
func (w *wanted) list(ctx context.Context) ([]Build, error) {
	var failed []error
	for _, service := range []struct {
		name  string
		hosts []remote.Host
		list  func(ctx context.Context, c *remote.Client, product string) ([]Build, error)
	}{
		{"version service", orHosts(w.Tables, tableHosts(w.region)), fromTables},
		{"TACT Channels", orHosts(w.Channels, channelHosts), fromChannels},
	} {
		if len(service.hosts) == 0 {
			continue // the caller wants only the other one
		}
		all, err := w.ask(ctx, service.hosts, service.list)
		if err == nil {
			return all, nil
		}
		if cause := context.Cause(ctx); cause != nil {
			return nil, cause
		}
		failed = append(failed, fmt.Errorf("%s: %w", service.name, err))
	}
	err := joined(failed)
	if errors.Is(err, iofs.ErrNotExist) {
		return nil, &NoProductError{w.product, err}
	}
	return nil, fmt.Errorf("versions: product %q: %w", w.product, err)
}

// joined joins errors. The result matches iofs.ErrNotExist only if all of them do: what one
// service does not know, the other may, once it answers.
func joined(all []error) error {
	err := errors.Join(all...)
	if !slices.ContainsFunc(all, func(err error) bool { return !errors.Is(err, iofs.ErrNotExist) }) {
		return err
	}
	return errors.New(strings.ReplaceAll(err.Error(), "\n", "; "))
}

func orHosts(hosts, other []remote.Host) []remote.Host {
	if hosts != nil {
		return hosts
	}
	return other
}

// ask asks one service.
func (w *wanted) ask(ctx context.Context, hosts []remote.Host, list func(context.Context, *remote.Client, string) ([]Build, error)) ([]Build, error) {
	c, err := remote.New(remote.Options{Hosts: hosts, Times: w.Times, Transport: w.Transport, Logger: w.Logger})
	if err != nil {
		return nil, err
	}
	defer c.Close()
	all, err := list(ctx, c, w.product)
	if err != nil {
		return nil, err
	}
	now := w.Now()
	var good []Build
	var bad error
	for _, b := range all {
		b.Said = now
		if b.bad == nil && len(w.hosts) == 0 {
			b.bad = b.noPlace
		}
		b.noPlace = nil
		switch {
		case b.bad == nil:
			good = append(good, b)
		case b.Region == w.region:
			return nil, b.bad // the other service may be better
		default:
			bad = b.bad
		}
	}
	if len(good) == 0 {
		return nil, bad
	}
	return good, nil
}

// choose chooses the build that is wanted, best in the region that is wanted.
func (w *wanted) choose(all []Build) (Build, error) {
	here := func(b Build) bool { return b.Region == w.region }
	if w.build == "" {
		if i := slices.IndexFunc(all, here); i >= 0 {
			return all[i], nil
		}
		return Build{}, w.noBuild(all)
	}
	for _, in := range []func(Build) bool{here, func(Build) bool { return true }} {
		if i := slices.IndexFunc(all, func(b Build) bool { return in(b) && b.is(w.build) }); i >= 0 {
			return all[i], nil
		}
	}
	return w.old(all)
}

// old returns a build that the service does not list any more, if its keys are given. It lies
// where the newer ones lie.
func (w *wanted) old(all []Build) (Build, error) {
	key, err := parseKey(w.build)
	if err != nil || w.cdn == (remote.Key{}) || len(all) == 0 {
		return Build{}, w.noBuild(all)
	}
	i := max(0, slices.IndexFunc(all, func(b Build) bool { return b.Region == w.region }))
	now := all[i]
	return Build{
		Product: now.Product, Region: now.Region, BuildConfig: key, CDNConfig: w.cdn,
		Path: now.Path, ConfigPath: now.ConfigPath, Hosts: now.Hosts, EncryptedBy: now.EncryptedBy, Said: now.Said,
	}, nil
}

func (w *wanted) noBuild(all []Build) error {
	e := &NoBuildError{Product: w.product, Region: w.region, Build: w.build}
	for _, b := range all {
		e.Have = append(e.Have, fmt.Sprintf("%s (%s)", b.Version, b.Region))
	}
	return e
}

// id returns where a build of a name is kept; without a name, the last one that was the
// latest.
func (w *wanted) id(name string) cache.ID {
	of := sha256.Sum256([]byte(strings.Join([]string{w.product, w.region, strings.ToLower(name)}, "\x00")))
	return cache.ID{Kind: "build of a product 1", Of: of}
}

// add keeps a build under all of its names.
func (w *wanted) add(b Build) {
	if w.Cache == nil {
		return
	}
	body, err := json.Marshal(b)
	if err != nil {
		return // a build can always be written
	}
	names := []string{hex.EncodeToString(b.BuildConfig[:]), b.Version, b.ID}
	if w.build == "" {
		names = append(names, "")
	}
	for i, name := range names {
		if name == "" && i < 3 {
			continue // it has no such name
		}
		id := w.id(name)
		// If it can't be kept the service is asked again.
		_ = id.Save(w.Cache.Versions(), cache.Seal(append(id.Begin(len(body)), body...)))
	}
}

// load returns a build that was kept.
func (w *wanted) load(name string) (b Build, err error) {
	if w.Cache == nil {
		return b, remote.ErrOffline
	}
	body, err := w.id(name).Load(w.Cache.Versions())
	if err == nil {
		err = json.Unmarshal(body, &b)
	}
	if err == nil && len(b.Hosts)+len(w.hosts) == 0 && !w.Offline {
		err = iofs.ErrNotExist // it was found when hosts were given, and none that is listed can be asked
	}
	if errors.Is(err, iofs.ErrNotExist) {
		err = remote.ErrOffline
	}
	return b, err
}
