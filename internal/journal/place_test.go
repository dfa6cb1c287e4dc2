package journal

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"testing/iotest"

	"lorefs/internal/disk/disktest"
)

var errInjected = disktest.ErrFault

// place is a folder for a journal, on a disk that can fail.
type place struct {
	*disktest.Disk
	t *testing.T
	// path is where the journal is.
	path string
}

func newPlace(t *testing.T) *place {
	t.Helper()
	dir := t.TempDir()
	return &place{disktest.New(dir), t, filepath.Join(dir, "j")}
}

// put makes the journal of some bytes, which last.
func (p *place) put(data []byte) {
	p.t.Helper()
	if err := os.WriteFile(p.path, data, 0o600); err != nil {
		p.t.Fatal(err)
	}
	p.Disk = disktest.New(filepath.Dir(p.path))
}

// now is what the journal holds while the machine is up.
func (p *place) now() ([]byte, bool) {
	data, err := os.ReadFile(p.path)
	return data, err == nil
}

// afterCut is what it would hold after a power cut.
func (p *place) afterCut() ([]byte, bool) { return p.AfterCut(p.path) }

// beforeAndAfter is both.
func (p *place) beforeAndAfter() [][]byte {
	now, _ := p.now()
	cut, _ := p.afterCut()
	return [][]byte{now, cut}
}

// files are all that there are in the folder.
func (p *place) files() []string {
	p.t.Helper()
	entries, err := os.ReadDir(filepath.Dir(p.path))
	if err != nil {
		p.t.Fatal(err)
	}
	var all []string
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all
}

// ops are the names of all operations that were done.
func (p *place) ops() (names []string) {
	for _, op := range p.Ops() {
		names = append(names, op.Name)
	}
	return names
}

// before has a function called ahead of each operation.
func (p *place) before(do func(op string) error) {
	p.Before = nil
	if do != nil {
		p.Before = func(op disktest.Op) error { return do(op.Name) }
	}
}

func create(p *place, header []byte) (*Journal, error) { return Create(p.Disk, p.path, header) }

// brokenAt reads a journal up to an offset, behind which the disk is broken.
type brokenAt struct {
	data []byte
	off  int64
}

func (r brokenAt) ReadAt(p []byte, off int64) (int, error) {
	if off+int64(len(p)) > r.off {
		return 0, fmt.Errorf("offset %d: %w", off, iotest.ErrTimeout)
	}
	return copy(p, r.data[off:]), nil
}
