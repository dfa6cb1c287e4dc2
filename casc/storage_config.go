package casc

import (
	"context"
	"errors"
	"fmt"
	iofs "io/fs"

	"lorefs/casc/config"
	"lorefs/casc/keys"
)

// ConfigFile is an unparsed file that says what is installed.
type ConfigFile struct {
	// Name is build.info, build.db, build-config, cdn-config, patch-config or key-ring.
	Name string
	// Key is the MD5 in the file's name; build.info and build.db have none.
	Key  keys.Key
	Data []byte
}

// Configs returns the files that Open read. Their data must not be changed.
func (s *Storage) Configs() []ConfigFile { return s.configs }

func (s *Storage) readConfig(ctx context.Context, what string, key keys.Key) (*config.Config, error) {
	c, data, err := s.objects.Config(ctx, key)
	if err != nil {
		return nil, err
	}
	s.configs = append(s.configs, ConfigFile{Name: what, Key: key, Data: data})
	return c, nil
}

// readConfigs reads the configurations. Only the build's is needed to read files.
func (s *Storage) readConfigs(ctx context.Context) error {
	var err error
	if s.BuildConfig, err = s.readConfig(ctx, "build-config", s.Build.BuildKey); err != nil {
		return s.noConfig(fmt.Errorf("build configuration: %w", err))
	}
	if !s.Build.CDNKey.IsZero() {
		if s.CDNConfig, err = s.readConfig(ctx, "cdn-config", s.Build.CDNKey); err != nil {
			s.addFault(fmt.Errorf("CDN configuration: %w", err))
		} else {
			s.cdns = []*config.Config{s.CDNConfig}
		}
	}
	return s.readPatchConfig(ctx)
}

// noConfig adds to the error of a build configuration what could be opened instead.
func (s *Storage) noConfig(err error) error {
	e := &config.NoConfigError{Product: s.Build.Product, Inactive: s.update.list != nil && !s.Build.Active, Others: s.others, Err: err}
	if errors.Is(err, iofs.ErrNotExist) {
		e.Builds, _ = s.walkConfigs()
	}
	if !e.Inactive && e.Others == nil && e.Builds == nil {
		return err
	}
	return e
}

// readPatchConfig reads the patch configuration. Only updaters need it, so it is often not
// there.
func (s *Storage) readPatchConfig(ctx context.Context) error {
	ref, err := s.BuildConfig.Ref("patch-config")
	if err != nil || ref.CKey.IsZero() {
		return err
	}
	if _, err := s.readConfig(ctx, "patch-config", ref.CKey); err != nil && !errors.Is(err, iofs.ErrNotExist) {
		s.addFault(fmt.Errorf("patch configuration: %w", err))
	}
	return nil
}
