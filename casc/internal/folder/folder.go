package folder

import (
	"context"
	"fmt"
	iofs "io/fs"
	"path"
	"strings"
	"time"

	"lorefs/casc/config"
	"lorefs/casc/index"
	"lorefs/casc/internal/format"
	"lorefs/casc/internal/store"
	"lorefs/casc/keys"
)

// Folder has the objects of a storage in a folder: of an installed game, or of a mirror.
type Folder struct {
	fsys iofs.FS
	// data is the folder of the configurations and of the archives' folder.
	data string
}

// New finds the folder with the configurations and the archives.
func New(fsys iofs.FS) (*Folder, error) {
	data, err := FindData(fsys)
	return &Folder{fsys, data}, err
}

// buildFiles are the files that say which build is installed.
var buildFiles = []struct {
	name  string
	parse func([]byte) ([]config.Build, error)
}{{".build.info", config.ParseBuildInfo}, {".build.db", config.ParseBuildDB}}

// Builds implements [store.Objects].
func (d *Folder) Builds(file string) (*store.Builds, error) {
	if file != "" {
		return d.readBuilds(store.Builds{Name: file, Kind: "build.info", Parse: config.ParseBuildInfo})
	}
	for _, f := range buildFiles {
		has, err := Exists(d.fsys, f.name)
		if err != nil {
			return nil, err
		}
		if has {
			return d.readBuilds(store.Builds{Name: f.name, Kind: strings.TrimPrefix(f.name, "."), Parse: f.parse})
		}
	}
	return nil, nil
}

// readBuilds reads the list that l names.
func (d *Folder) readBuilds(l store.Builds) (*store.Builds, error) {
	// Take the stamp first, so that a later write is noticed.
	var err error
	if l.Stamp, err = stampOf(d.fsys, l.Name); err != nil {
		return nil, err
	}
	if l.Data, err = readFile(d.fsys, l.Name, format.MaxText); err != nil {
		return nil, err
	}
	if l.All, err = l.Parse(l.Data); err != nil {
		return nil, fmt.Errorf("%s: %w", l.Name, err)
	}
	return &l, nil
}

// NewBuilds implements [store.Objects].
func (d *Folder) NewBuilds(before *store.Builds) (*store.Builds, error) {
	now, err := stampOf(d.fsys, before.Name)
	if err != nil || now.Same(before.Stamp) {
		return nil, err
	}
	return d.readBuilds(*before)
}

func (d *Folder) configPath(key keys.Key) string {
	return path.Join(d.data, config.Path("config", key))
}

// Config implements [store.Objects].
func (d *Folder) Config(_ context.Context, key keys.Key) (*config.Config, []byte, error) {
	return d.readConfig(d.configPath(key), key)
}

func (d *Folder) readConfig(name string, key keys.Key) (*config.Config, []byte, error) {
	data, err := readFile(d.fsys, name, format.MaxText)
	if err != nil {
		return nil, nil, err
	}
	c, err := config.Read(data, key)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", name, err)
	}
	return c, data, nil
}

// Configs implements [store.Objects].
func (d *Folder) Configs(visit func(key keys.Key, c *config.Config), fault func(error)) {
	walkKeys(d.fsys, path.Join(d.data, "config"), func(name string) {
		key, err := keys.Parse(path.Base(name))
		if err != nil {
			return
		}
		c, _, err := d.readConfig(name, key)
		if err != nil {
			fault(err)
			return
		}
		visit(key, c)
	}, fault)
}

// ConfigTime implements [store.Objects].
func (d *Folder) ConfigTime(key keys.Key) (time.Time, error) {
	st, err := stampOf(d.fsys, d.configPath(key))
	return st.ModTime, err
}

// Archives opens the archives of an install or of a mirror.
func (d *Folder) Archives(cdns []*config.Config, opts store.Options) (store.Archives, error) {
	dir, err := findArchives(d.fsys, d.data)
	if err != nil {
		return nil, err
	}
	if dir == "" {
		return nil, fmt.Errorf("casc: no folder data in %s: %w", d.data, iofs.ErrNotExist)
	}
	files, err := idxFiles(d.fsys, dir)
	switch {
	case err != nil:
		return nil, err
	case len(files) > 0:
		return openLocal(d.fsys, dir, opts.Blocks, opts.Numbers)
	}
	return openMirror(d.fsys, dir, cdns, opts.Index, opts.Log), nil
}

// readNamedIndex reads an index and proves it by its name.
func readNamedIndex(fsys iofs.FS, file string, name keys.Key) (*index.Archive, error) {
	data, err := readFile(fsys, file, format.MaxTable)
	if err != nil {
		return nil, err
	}
	x, err := index.ParseNamed(data, name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return x, nil
}

// sizeOf returns the number of bytes of all files in a folder of archives. It leaves out
// files that it can't look at, since the game may remove one at any time.
func sizeOf(fsys iofs.FS, dir string) (total int64) {
	walkKeys(fsys, dir, func(name string) {
		if st, err := stampOf(fsys, name); err == nil {
			total += st.Size
		}
	}, func(error) {})
	return total
}
