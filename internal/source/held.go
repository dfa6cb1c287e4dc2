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

// Held is a folder with files that others replace while it is read, as an [io/fs.StatFS]. A file
// stays open from the first look at it, so it is read as it was then. InPlace tells whether all files
// were in the folder at one moment. Its methods are safe for parallel use.
type Held struct {
	*Folder
	mu sync.Mutex
	// held are the open files; guarded by mu.
	held map[string]*os.File
}

// OpenHeld opens a folder for reading.
func OpenHeld(path string) (*Held, error) {
	d, err := OpenFolder(path)
	if err != nil {
		return nil, err
	}
	return &Held{Folder: d, held: map[string]*os.File{}}, nil
}

// Open implements [io/fs.FS].
func (h *Held) Open(name string) (iofs.File, error) {
	f, err := h.hold(name)
	if err != nil {
		return nil, err
	}
	if f == nil {
		return h.open(name)
	}
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	return heldFile{io.NewSectionReader(f, 0, info.Size()), f}, nil
}

// Stat implements [io/fs.StatFS].
func (h *Held) Stat(name string) (iofs.FileInfo, error) {
	f, err := h.hold(name)
	if err != nil {
		return nil, err
	}
	if f == nil {
		return iofs.Stat(h.files, name)
	}
	return f.Stat()
}

// hold returns the open file of a name, or nil for what is no file. If no more files can be open, the
// others are not held: a change of these is an error for who reads them.
func (h *Held) hold(name string) (*os.File, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if f := h.held[name]; f != nil {
		return f, nil
	}
	info, err := iofs.Stat(h.files, name)
	if err != nil || !info.Mode().IsRegular() {
		return nil, err
	}
	f, err := h.open(name)
	if errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	h.held[name] = f
	return f, nil
}

// InPlace returns nil if the folder still has the files that were looked at, or an error that
// matches [ErrChanged].
func (h *Held) InPlace() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	for name, f := range h.held {
		info, err := f.Stat()
		if err != nil {
			return err
		}
		if err := inPlace(filepath.Join(h.path, filepath.FromSlash(name)), info); err != nil {
			return err
		}
	}
	return nil
}

// Close closes the files.
func (h *Held) Close() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	var errs []error
	for _, f := range h.held {
		errs = append(errs, f.Close())
	}
	return errors.Join(errs...)
}

// heldFile reads a file that stays open.
type heldFile struct {
	*io.SectionReader
	file *os.File
}

func (f heldFile) Stat() (iofs.FileInfo, error) { return f.file.Stat() }
func (f heldFile) Close() error                 { return nil }
