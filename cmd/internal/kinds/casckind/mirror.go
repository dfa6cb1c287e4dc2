package casckind

import (
	"context"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"path"
	"slices"
	"time"

	"lorefs/casc"
	"lorefs/casc/config"
	"lorefs/casc/keys"
	"lorefs/cmd/internal/kinds"
	"lorefs/internal/origin"
	"lorefs/internal/remote"
	"lorefs/internal/remote/objects"
	"lorefs/internal/remote/versions"
)

// maxBuildInfo bounds the list of builds of a mirror, in bytes, and maxConfigs how many
// configurations are read to find the only build of a mirror without such a list.
const (
	maxBuildInfo = 16 << 20
	maxConfigs   = 64
)

// openDistantMirror opens a mirror on a web server or in an object store. What lies there has
// its hash in its name, so it is fetched as from the hosts of a CDN.
func openDistantMirror(ctx context.Context, name string, o kinds.Opening) (_ *cdn, err error) {
	c := &cdn{opening: o.Progress}
	c.find.Offline = true // nobody tells of newer builds
	c.ended, c.stop = context.WithCancel(context.WithoutCancel(ctx))
	defer func() {
		if err != nil {
			err = errors.Join(err, c.close())
		}
	}()
	c.cache = kinds.OpenMirror(&o.CASC.CDN, o.Logger)
	s, err := kinds.OpenServer(ctx, name, nil, o.Options)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	c.client, err = s.Mirror(remote.Options{Cache: c.cache, Offline: o.CASC.CDN.Offline, Logger: o.Logger})
	if err != nil {
		return nil, err
	}
	b, err := c.mirrored(ctx, s, o)
	if err != nil {
		return nil, err
	}
	c.build = versions.Build{
		Product: b.Product, Region: b.Branch, Version: b.Version,
		BuildConfig: remote.Key(b.BuildKey), CDNConfig: remote.Key(b.CDNKey), KeyRing: remote.Key(b.KeyRing),
	}
	c.build.Said, err = c.buildTime(ctx, s, o, b.BuildKey)
	return c, err
}

// mirrored returns the build that options name, or the one of the mirror.
func (c *cdn) mirrored(ctx context.Context, s *kinds.Server, o kinds.Opening) (b config.Build, err error) {
	opts := &o.CASC.Storage
	b = config.Build{Product: opts.Product, BuildKey: opts.BuildKey, CDNKey: opts.CDNKey}
	if !b.BuildKey.IsZero() && !b.CDNKey.IsZero() {
		return b, nil
	}
	if o.CASC.CDN.Offline {
		return b, kinds.Errorf("%s: offline only a mirror of a CASC storage can be read, and --build and --cdn have to say which configurations", s.Origin().Shown())
	}
	listed, err := buildInfo(ctx, s)
	switch {
	case err == nil:
		return pickBuild(listed, opts)
	case !errors.Is(err, iofs.ErrNotExist):
		return b, err
	case namesFile(s.Origin()):
		return b, kinds.Errorf("%s: there is no such file on the server", s.Origin().Shown())
	case !s.Lists():
		return b, kinds.Errorf("%s: no file is there, and below it neither %s, with the path of a file in each line, nor .build.info: if it is a mirror of a CASC storage, --build and --cdn have to say which configurations to read",
			s.Origin().Shown(), objects.IndexName)
	}
	return c.onlyBuild(ctx, s, o, b)
}

// namesFile reports whether an origin on a web server ends in the name of a file, with an ending
// like that of a.dat. The name of a mirror may end in a number.
func namesFile(o origin.Origin) bool {
	ending := path.Ext(o.Base())
	return o.Web() && o.Dir() != o && len(ending) > 1 && (ending[1] < '0' || ending[1] > '9')
}

// buildInfo reads the list of builds of a mirror.
func buildInfo(ctx context.Context, s *kinds.Server) ([]config.Build, error) {
	f, err := s.Open(ctx, ".build.info")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if f.Size() > maxBuildInfo {
		return nil, fmt.Errorf("%s has %d bytes: want at most %d", f.Path(), f.Size(), maxBuildInfo)
	}
	text, err := io.ReadAll(io.NewSectionReader(f, 0, f.Size()))
	if err != nil {
		return nil, err
	}
	all, err := config.ParseBuildInfo(text)
	if err != nil {
		err = fmt.Errorf("%s: %w", f.Path(), err)
	}
	return all, err
}

// pickBuild returns the build of a list that options name, or the active one.
func pickBuild(all []config.Build, opts *casc.Options) (b config.Build, err error) {
	b.BuildKey = opts.BuildKey
	if opts.BuildName != "" {
		if b.BuildKey, err = config.KeyOf(config.FoundBuilds(all), opts.BuildName); err != nil {
			return b, err
		}
	}
	if b.BuildKey.IsZero() {
		b, err = config.SelectBuild(all, opts.Product)
	} else if i := slices.IndexFunc(all, func(one config.Build) bool { return one.BuildKey == b.BuildKey }); i >= 0 {
		b = all[i]
	}
	if !opts.CDNKey.IsZero() {
		b.CDNKey = opts.CDNKey
	}
	if err == nil && b.CDNKey.IsZero() {
		err = errors.New(".build.info does not have the build: --cdn has to say which configuration lists its archives")
	}
	return b, err
}

// onlyBuild looks for the only configurations of a mirror that an object store lists. Those
// that b has already are not looked for.
func (c *cdn) onlyBuild(ctx context.Context, s *kinds.Server, o kinds.Opening, b config.Build) (config.Build, error) {
	var named []config.FoundBuild
	builds, cdns, count := []keys.Key{}, []keys.Key{}, 0
	for name, err := range s.Below(ctx, "config/") {
		if err != nil {
			return b, err
		}
		if count++; count > maxConfigs {
			return b, kinds.Errorf("%s: it has more than %d configurations: --build and --cdn have to say which to read", s.Origin().Shown(), maxConfigs)
		}
		key, err := keys.Parse(name[max(0, len(name)-2*len(keys.Key{})):])
		if err != nil {
			continue
		}
		text, err := c.client.Config(ctx, remote.Key(key))
		if err != nil {
			return b, err
		}
		found, err := config.Read(text, key)
		switch {
		case err != nil: // it is none of these two
		case len(found.Words("encoding")) > 0:
			builds = append(builds, key)
			named = append(named, config.FoundBuild{Key: key, Name: found.Text("build-name"), Product: found.Text("build-uid")})
		case len(found.Words("archives")) > 0:
			cdns = append(cdns, key)
		}
	}
	if opts := &o.CASC.Storage; opts.BuildName != "" {
		var err error
		if b.BuildKey, err = config.KeyOf(named, opts.BuildName); err != nil {
			return b, kinds.Errorf("%s: %w", s.Origin().Shown(), err)
		}
	}
	for _, want := range []struct {
		key    *keys.Key
		all    []keys.Key
		option string
	}{{&b.BuildKey, builds, "build"}, {&b.CDNKey, cdns, "cdn"}} {
		switch {
		case !want.key.IsZero():
		case len(want.all) == 1:
			*want.key = want.all[0]
		case len(want.all) == 0:
			return b, kinds.Errorf("%s: %w: it has no configuration for --%s", s.Origin().Shown(), kinds.ErrUnknown, want.option)
		default:
			return b, kinds.Errorf("%s: --%s has to say which of %v to read", s.Origin().Shown(), want.option, want.all)
		}
	}
	return b, nil
}

// buildTime returns when a configuration was put into the mirror, or zero if nobody says.
func (c *cdn) buildTime(ctx context.Context, s *kinds.Server, o kinds.Opening, key keys.Key) (time.Time, error) {
	if o.CASC.CDN.Offline {
		return time.Time{}, nil
	}
	when, err := s.ModTime(ctx, config.Path("config", key))
	if errors.Is(err, iofs.ErrNotExist) {
		if _, installed := s.ModTime(ctx, "Data/"+config.Path("config", key)); installed == nil {
			return when, kinds.Errorf("%s: an installed game: only mirrors are read from a server, and lorefs reads it where it lies", s.Origin().Shown())
		}
		err = kinds.Errorf("%s: it has no configuration %v, so it is no mirror with that build: %w", s.Origin().Shown(), key, err)
	}
	return when, err
}
