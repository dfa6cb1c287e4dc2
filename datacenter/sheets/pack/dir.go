package pack

import (
	iofs "io/fs"
	"os"
	"path/filepath"
)

// Dir returns a folder for [Pack] and [Validate]. Unlike os.DirFS it allows files of all
// names: the name of a sheet need not be UTF-8, because a data center's name may have a
// lone surrogate.
func Dir(dir string) iofs.FS { return dirFS(dir) }

type dirFS string

func (d dirFS) path(name string) string { return filepath.Join(string(d), filepath.FromSlash(name)) }

// Open implements [iofs.FS].
func (d dirFS) Open(name string) (iofs.File, error) { return os.Open(d.path(name)) }

// ReadDir implements [iofs.ReadDirFS].
func (d dirFS) ReadDir(name string) ([]iofs.DirEntry, error) { return os.ReadDir(d.path(name)) }

// Stat implements [iofs.StatFS].
func (d dirFS) Stat(name string) (iofs.FileInfo, error) { return os.Stat(d.path(name)) }

// Lstat and ReadLink implement [iofs.ReadLinkFS].
func (d dirFS) Lstat(name string) (iofs.FileInfo, error) { return os.Lstat(d.path(name)) }
func (d dirFS) ReadLink(name string) (string, error)     { return os.Readlink(d.path(name)) }
