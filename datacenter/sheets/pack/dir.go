package pack

import (
	iofs "io/fs"
	"os"
	"path/filepath"
)

// Dir returns a folder for [Pack] and [Validate]. Unlike os.DirFS it has files of all
// names: what sheets are called need not be UTF-8, where a data center's name has a
// lone surrogate.
func Dir(dir string) iofs.FS { return dirFS(dir) }

type dirFS string

func (d dirFS) path(name string) string { return filepath.Join(string(d), filepath.FromSlash(name)) }

// Open is of [iofs.FS].
func (d dirFS) Open(name string) (iofs.File, error) { return os.Open(d.path(name)) }

// ReadDir is of [iofs.ReadDirFS].
func (d dirFS) ReadDir(name string) ([]iofs.DirEntry, error) { return os.ReadDir(d.path(name)) }

// Stat is of [iofs.StatFS].
func (d dirFS) Stat(name string) (iofs.FileInfo, error) { return os.Stat(d.path(name)) }

// Lstat and ReadLink are of [iofs.ReadLinkFS].
func (d dirFS) Lstat(name string) (iofs.FileInfo, error) { return os.Lstat(d.path(name)) }
func (d dirFS) ReadLink(name string) (string, error)     { return os.Readlink(d.path(name)) }
