package source

import (
	"errors"
	"io"
	iofs "io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"
)

// Pinned is a folder with files that others replace while it is read, as an [io/fs.StatFS]. A file
// stays open from the first look at it, so it is read as it was then. InPlace tells whether all files
// were in the folder at one moment. Its methods are safe for parallel use.
type Pinned struct {
	*Folder
	mu sync.Mutex
	// pinned are the open files; guarded by mu.
	pinned map[string]*os.File
}

// OpenPinned opens a folder for reading.
func OpenPinned(path string) (*Pinned, error) {
	d, err := OpenFolder(path)
	if err != nil {
		return nil, err
	}
	return &Pinned{Folder: d, pinned: map[string]*os.File{}}, nil
}

// Open implements [io/fs.FS].
func (p *Pinned) Open(name string) (iofs.File, error) {
	f, err := p.pin(name)
	if err != nil {
		return nil, err
	}
	if f == nil {
		return p.open(name)
	}
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	return pinnedFile{io.NewSectionReader(f, 0, info.Size()), f}, nil
}

// Stat implements [io/fs.StatFS].
func (p *Pinned) Stat(name string) (iofs.FileInfo, error) {
	f, err := p.pin(name)
	if err != nil {
		return nil, err
	}
	if f == nil {
		return iofs.Stat(p.files, name)
	}
	return f.Stat()
}

// pin returns the open file of a name, or nil for what is no file. If no more files can be open, the
// others are not pinned: a change of these is an error for who reads them.
func (p *Pinned) pin(name string) (*os.File, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if f := p.pinned[name]; f != nil {
		return f, nil
	}
	info, err := iofs.Stat(p.files, name)
	if err != nil || !info.Mode().IsRegular() {
		return nil, err
	}
	f, err := p.open(name)
	if errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	p.pinned[name] = f
	return f, nil
}

// InPlace returns nil if the folder still has the files that were looked at, or an error that
// matches [ErrChanged].
func (p *Pinned) InPlace() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for name, f := range p.pinned {
		info, err := f.Stat()
		if err != nil {
			return err
		}
		if err := inPlace(filepath.Join(p.path, filepath.FromSlash(name)), info); err != nil {
			return err
		}
	}
	return nil
}

// Close closes the files.
func (p *Pinned) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	var errs []error
	for _, f := range p.pinned {
		errs = append(errs, f.Close())
	}
	return errors.Join(errs...)
}

// pinnedFile reads a file that stays open.
type pinnedFile struct {
	*io.SectionReader
	file *os.File
}

func (f pinnedFile) Stat() (iofs.FileInfo, error) { return f.file.Stat() }
func (f pinnedFile) Close() error                 { return nil }
