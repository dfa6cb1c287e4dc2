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
	// path is the path of the journal.
	path string
}

func newPlace(t *testing.T) *place {
	t.Helper()
	dir := t.TempDir()
	return &place{disktest.New(dir), t, filepath.Join(dir, "j")}
}

// put makes a journal that consists of data and is durable.
func (p *place) put(data []byte) {
	p.t.Helper()
	if err := os.WriteFile(p.path, data, 0o600); err != nil {
		p.t.Fatal(err)
	}
	p.Disk = disktest.New(filepath.Dir(p.path))
}

// now returns the content of the journal without a power cut.
func (p *place) now() ([]byte, bool) {
	data, err := os.ReadFile(p.path)
	return data, err == nil
}

// afterCut returns what a power cut would leave of the journal.
func (p *place) afterCut() ([]byte, bool) { return p.AfterCut(p.path) }

// beforeAndAfter returns both.
func (p *place) beforeAndAfter() [][]byte {
	now, _ := p.now()
	cut, _ := p.afterCut()
	return [][]byte{now, cut}
}

// files returns the names of all files in the folder.
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

// ops returns the names of all operations so far.
func (p *place) ops() (names []string) {
	for _, op := range p.Ops() {
		names = append(names, op.Name)
	}
	return names
}

// before sets a function to be called before each operation.
func (p *place) before(do func(op string) error) {
	p.SetBefore(nil)
	if do != nil {
		p.SetBefore(func(op disktest.Op) error { return do(op.Name) })
	}
}

func create(p *place, header []byte) (*Journal, error) { return Create(p.Disk, p.path, header) }

// brokenAt reads data, on a disk that is broken from an offset on.
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
