package casc

import (
	"context"
	"fmt"
	iofs "io/fs"
	"log/slog"
	"path"
	"strings"
	"time"

	"lorefs/blte"
	"lorefs/casc/config"
	"lorefs/casc/index"
	"lorefs/casc/internal/format"
	"lorefs/casc/keys"
)

// objects are what a storage is read from, by kind and key. A Storage knows only this
// interface, so it does not matter to it where its objects are.
type objects interface {
	// builds returns the list of installed builds, or nil if there is none. file is the name of the
	// list, or empty.
	builds(file string) (*buildList, error)
	// newBuilds returns the list as it is now, or nil if it is still the one before.
	newBuilds(before *buildList) (*buildList, error)

	// config reads a configuration and also returns its text. Without it the error matches
	// io/fs.ErrNotExist.
	config(ctx context.Context, key keys.Key) (*config.Config, []byte, error)
	// configs visits all configurations. fault is called for those that can't be read.
	configs(visit func(key keys.Key, c *config.Config), fault func(error))
	// configTime returns when a configuration was put there.
	configTime(key keys.Key) (time.Time, error)

	// archives opens the archives. cdns are the configurations that list them.
	archives(cdns []*config.Config, opts archiveOptions) (archives, error)
}

// archiveOptions are what opening archives needs besides their objects.
type archiveOptions struct {
	blocks  blte.BlockCache
	numbers *blockNumbers
	index   IndexStore
	log     *slog.Logger
}

// buildList is a .build.info or .build.db.
type buildList struct {
	// name is the name in the folder, kind the name without the dot.
	name, kind string
	parse      func([]byte) ([]config.Build, error)
	stamp      stamp
	data       []byte
	all        []config.Build
}

// folder has the objects of a storage in a folder: of an installed game, or of a mirror.
type folder struct {
	fsys iofs.FS
	// data is the folder of the configurations and of the archives' folder.
	data string
}

func newFolder(fsys iofs.FS) (*folder, error) {
	data, err := findData(fsys)
	return &folder{fsys, data}, err
}

// buildFiles are the files that say which build is installed.
var buildFiles = []struct {
	name  string
	parse func([]byte) ([]config.Build, error)
}{{".build.info", config.ParseBuildInfo}, {".build.db", config.ParseBuildDB}}

func (d *folder) builds(file string) (*buildList, error) {
	if file != "" {
		return d.readBuilds(buildList{name: file, kind: "build.info", parse: config.ParseBuildInfo})
	}
	for _, f := range buildFiles {
		has, err := exists(d.fsys, f.name)
		if err != nil {
			return nil, err
		}
		if has {
			return d.readBuilds(buildList{name: f.name, kind: strings.TrimPrefix(f.name, "."), parse: f.parse})
		}
	}
	return nil, nil
}

// readBuilds reads the list that l names.
func (d *folder) readBuilds(l buildList) (*buildList, error) {
	// Take the stamp first, so that a later write is noticed.
	var err error
	if l.stamp, err = stampOf(d.fsys, l.name); err != nil {
		return nil, err
	}
	if l.data, err = readFile(d.fsys, l.name, format.MaxText); err != nil {
		return nil, err
	}
	if l.all, err = l.parse(l.data); err != nil {
		return nil, fmt.Errorf("%s: %w", l.name, err)
	}
	return &l, nil
}

func (d *folder) newBuilds(before *buildList) (*buildList, error) {
	now, err := stampOf(d.fsys, before.name)
	if err != nil || now.same(before.stamp) {
		return nil, err
	}
	return d.readBuilds(*before)
}

func (d *folder) configPath(key keys.Key) string {
	return path.Join(d.data, config.Path("config", key))
}

func (d *folder) config(_ context.Context, key keys.Key) (*config.Config, []byte, error) {
	return d.readConfig(d.configPath(key), key)
}

func (d *folder) readConfig(name string, key keys.Key) (*config.Config, []byte, error) {
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

func (d *folder) configs(visit func(key keys.Key, c *config.Config), fault func(error)) {
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

func (d *folder) configTime(key keys.Key) (time.Time, error) {
	st, err := stampOf(d.fsys, d.configPath(key))
	return st.modTime, err
}

// archives opens the archives of an install or of a mirror.
func (d *folder) archives(cdns []*config.Config, opts archiveOptions) (archives, error) {
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
		return openLocal(d.fsys, dir, opts.blocks, opts.numbers)
	}
	return openMirror(d.fsys, dir, cdns, opts.index, opts.log), nil
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
			total += st.size
		}
	}, func(error) {})
	return total
}
