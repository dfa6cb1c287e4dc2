package sample

import (
	"errors"
	"fmt"
	iofs "io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"lorefs/datacenter"
	"lorefs/internal/links"
)

// DataCenterName is the file name of the data center, in the form of official ones.
const DataCenterName = "DataCenter_Final_Sample.dat"

// dataCenter returns the file of the made-up data center, always the same bytes for a
// layout.
func dataCenter(layout datacenter.Layout) ([]byte, error) {
	return build(world(), datacenter.WriteOptions{
		Layout: layout, Header: datacenter.Header{Timestamp: -1, Revision: revision},
	})
}

// revision is the data center's revision. It has no meaning.
const revision = 1001

// file is one file of the sources. name is its path in the directory, with slashes.
type file struct {
	name string
	data []byte
}

// makers make the files of one kind of source each.
var makers = []func() ([]file, error){dataCenterFiles, worldFiles, packetFiles, storageFiles, tableFiles}

func dataCenterFiles() ([]file, error) {
	data, err := dataCenter(datacenter.LayoutV6X64)
	return []file{{DataCenterName, data}}, err
}

// Write writes the sources into a directory, which it makes, and returns the paths of the
// files and folders in it. It fails if one of them exists already.
func Write(dir string) (paths []string, err error) {
	for _, maker := range makers {
		files, err := maker()
		if err != nil {
			return paths, fmt.Errorf("sample: %w", err)
		}
		for _, f := range files {
			path := filepath.Join(dir, filepath.FromSlash(f.name))
			folder, err := links.MakeDir(filepath.Dir(path), 0o777)
			if err != nil {
				return paths, fmt.Errorf("sample: %w", err)
			}
			if err := writeNew(filepath.Join(folder, filepath.Base(path)), path, f.data); err != nil {
				return paths, fmt.Errorf("sample: %w", err)
			}
			top, _, _ := strings.Cut(f.name, "/")
			if path = filepath.Join(dir, top); !slices.Contains(paths, path) {
				paths = append(paths, path)
			}
		}
	}
	return paths, nil
}

// writeNew makes a file that is whole as soon as it has its name. It gives the name by a
// link, because a rename would replace a file. Errors name the file as called.
func writeNew(path, called string, data []byte) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.Remove(f.Name())) }()
	if err := fill(f, data); err != nil {
		return err
	}
	err = os.Link(f.Name(), path)
	if errors.Is(err, iofs.ErrExist) {
		return fmt.Errorf("%s is there already and is not overwritten: %w", called, iofs.ErrExist)
	}
	return err
}

// fill writes, syncs and closes a file.
func fill(f *os.File, data []byte) error {
	_, err := f.Write(data)
	if err == nil {
		err = f.Chmod(0o644)
	}
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}
