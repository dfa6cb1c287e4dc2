package casc

import (
	"context"
	"log/slog"
	"slices"
	"strings"

	"lorefs/casc/config"
	"lorefs/casc/keys"
)

// nameBuild finds the key of the build that Options name: in the list of builds, or in the
// configurations of those that the list does not have.
func (s *Storage) nameBuild(list []config.Build) (err error) {
	found := config.FoundBuilds(list)
	if s.opts.BuildKey, err = config.KeyOf(found, s.opts.BuildName); err == nil {
		return nil
	}
	s.objects.Configs(func(key keys.Key, c *config.Config) {
		if c.Text("encoding") != "" && !slices.ContainsFunc(found, func(f config.FoundBuild) bool { return f.Key == key }) {
			found = append(found, config.Found(key, c))
		}
	}, func(error) {}) // one that can't be read has no name
	s.opts.BuildKey, err = config.KeyOf(found, s.opts.BuildName)
	return err
}

// searchConfigs looks for the configurations if no .build.info names them.
func (s *Storage) searchConfigs() error {
	s.Build = config.Build{BuildKey: s.opts.BuildKey, CDNKey: s.opts.CDNKey}
	found, cdns := s.walkConfigs()
	var err error
	if s.opts.BuildName != "" {
		if s.Build.BuildKey, err = config.KeyOf(found, s.opts.BuildName); err != nil {
			return err
		}
	}
	if s.Build.BuildKey.IsZero() {
		if s.Build.BuildKey, err = s.chooseBuild(found); err != nil {
			return err
		}
	}
	if s.Build.CDNKey.IsZero() && len(cdns) == 1 {
		s.Build.CDNKey = cdns[0]
	}
	return nil
}

// chooseBuild returns the only build, or the only one of the product that was asked for.
func (s *Storage) chooseBuild(found []config.FoundBuild) (keys.Key, error) {
	wanted := found
	if s.opts.Product != "" && len(found) > 1 {
		wanted = slices.DeleteFunc(slices.Clone(found), func(b config.FoundBuild) bool { return !strings.EqualFold(b.Product, s.opts.Product) })
	}
	switch {
	case len(wanted) == 1:
		return wanted[0].Key, nil
	case len(wanted) > 1 || len(found) == 0:
		return keys.Key{}, &config.BuildsError{Builds: wanted}
	}
	e := &config.ProductError{Product: s.opts.Product}
	for i := range found {
		if p := found[i].Product; p != "" && !slices.Contains(e.Installed, p) {
			e.Installed = append(e.Installed, p)
		}
	}
	return keys.Key{}, e
}

// walkConfigs reads all configurations, and returns those of builds and of CDNs. Those that
// can't be read are faults.
func (s *Storage) walkConfigs() (builds []config.FoundBuild, cdns []keys.Key) {
	s.objects.Configs(func(key keys.Key, c *config.Config) {
		switch {
		case c.Text("encoding") != "":
			builds = append(builds, config.Found(key, c))
		case c.Text("archives") != "" || c.Text("archive-group") != "":
			cdns = append(cdns, key)
			s.cdns = append(s.cdns, c)
		}
	}, s.addFault)
	return builds, cdns
}

// checkProduct checks that the build is of the product that was asked for, if only its
// configuration can say so.
func (s *Storage) checkProduct(context.Context) error {
	if s.opts.Product == "" || s.Build.Product != "" {
		return nil
	}
	uid := s.BuildConfig.Text("build-uid")
	switch {
	case uid == "":
		s.log.Warn("nothing says which product the storage is of", slog.String("wanted", s.opts.Product))
	case !strings.EqualFold(uid, s.opts.Product):
		return &config.ProductError{Product: s.opts.Product, Installed: []string{uid}}
	}
	return nil
}
