// Package disktest is a disk on which any operation can fail, and which knows what a power
// cut would leave of it.
package disktest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"

	"lorefs/internal/disk"
)

// ErrFault is the error of what was made to fail.
var ErrFault = errors.New("a fault")

// ErrSilent makes a short write give no error, as write(2) does.
var ErrSilent = errors.New("silent")

// Op is an operation: create, open, read, write, truncate, sync, stat, close, link, rename,
// renameNew, exchange, remove or syncDir. Path is the new name if there are two.
type Op struct {
	Name, Path string
	// Data is what is written.
	Data []byte
}

// Changes tells whether the operation changes what is on the disk, or makes it last.
func (o Op) Changes() bool {
	return !slices.Contains([]string{"open", "read", "stat", "close"}, o.Name)
}

// Disk is the real one. Names last as of the last sync of their folder, and bytes as of the
// last sync of their file. What lies there that it was not asked to make is taken for synced.
type Disk struct {
	// Before is called ahead of each operation, and its error is that of the operation.
	Before func(op Op) error
	// Short makes a write that fails write its first half.
	Short bool

	mu      sync.Mutex
	ops     []Op
	files   []*file
	durable map[string]*file // by their paths
}

// New is the disk with what is in some folders now.
func New(dirs ...string) *Disk {
	d := &Disk{durable: map[string]*file{}}
	for _, dir := range dirs {
		d.synced(dir)
	}
	return d
}

// file is what some names lead to.
type file struct {
	info   os.FileInfo
	synced []byte
	// unsynced are the writes since, in their order.
	unsynced []unsynced
}

type unsynced struct {
	off  int
	data []byte
}

// do counts an operation, and does it unless it is to fail.
func (d *Disk) do(op Op, do func() error) error {
	if d.Before != nil {
		if err := d.Before(op); err != nil {
			return err
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	op.Data = nil
	d.ops = append(d.ops, op)
	return do()
}

// Ops are all operations so far that were done.
func (d *Disk) Ops() []Op {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.ops)
}

// Count is how often an operation was done.
func (d *Disk) Count(name string) (n int) {
	for _, op := range d.Ops() {
		if op.Name == name {
			n++
		}
	}
	return n
}

// Open is [disk.FS]'s.
func (d *Disk) Open(path string, flag int) (f disk.File, err error) {
	op := Op{Name: "open", Path: path}
	if flag&os.O_CREATE != 0 {
		op.Name = "create"
	}
	err = d.do(op, func() error {
		on, err := disk.OS{}.Open(path, flag)
		if err != nil {
			return err
		}
		info, err := on.Stat()
		if err != nil {
			return err
		}
		if flag&os.O_EXCL != 0 { // its number may have been another's
			d.files = slices.DeleteFunc(d.files, func(f *file) bool { return os.SameFile(f.info, info) })
			d.files = append(d.files, &file{info: info})
		}
		f = &opened{on, d, path, d.of(path, info)}
		return nil
	})
	return f, err
}

// of is the file that info describes. The caller holds mu.
func (d *Disk) of(path string, info os.FileInfo) *file {
	for _, f := range d.files {
		if os.SameFile(f.info, info) {
			return f
		}
	}
	f := &file{info: info}
	f.synced, _ = os.ReadFile(path) // what can't be read is as good as empty
	d.files = append(d.files, f)
	return f
}

// synced makes the names in a folder last. The caller holds mu.
func (d *Disk) synced(dir string) {
	for path := range d.durable {
		if filepath.Dir(path) == dir {
			delete(d.durable, path)
		}
	}
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			path := filepath.Join(dir, e.Name())
			d.durable[path] = d.of(path, info)
		}
	}
}

// Link is [disk.FS]'s.
func (d *Disk) Link(from, to string) error {
	return d.do(Op{Name: "link", Path: to}, func() error { return disk.OS{}.Link(from, to) })
}

// Rename is [disk.FS]'s.
func (d *Disk) Rename(from, to string) error {
	return d.do(Op{Name: "rename", Path: to}, func() error { return disk.OS{}.Rename(from, to) })
}

// RenameNew is [disk.FS]'s.
func (d *Disk) RenameNew(from, to string) error {
	return d.do(Op{Name: "renameNew", Path: to}, func() error { return disk.OS{}.RenameNew(from, to) })
}

// Exchange is [disk.FS]'s.
func (d *Disk) Exchange(a, b string) error {
	return d.do(Op{Name: "exchange", Path: b}, func() error { return disk.OS{}.Exchange(a, b) })
}

// Remove is [disk.FS]'s.
func (d *Disk) Remove(path string) error {
	return d.do(Op{Name: "remove", Path: path}, func() error { return disk.OS{}.Remove(path) })
}

// SyncDir is [disk.FS]'s.
func (d *Disk) SyncDir(dir string) error {
	return d.do(Op{Name: "syncDir", Path: dir}, func() error {
		_, err := os.Stat(dir) // that it is synced is only noted, which is faster
		d.synced(filepath.Clean(dir))
		return err
	})
}

// opened is an open file.
type opened struct {
	disk.File
	d    *Disk
	path string
	file *file
}

func (f *opened) op(name string) Op { return Op{Name: name, Path: f.path} }

func (f *opened) ReadAt(p []byte, off int64) (n int, err error) {
	err = f.d.do(f.op("read"), func() error { n, err = f.File.ReadAt(p, off); return err })
	return n, err
}

func (f *opened) WriteAt(p []byte, off int64) (n int, err error) {
	write := func(p []byte) error {
		n, err = f.File.WriteAt(p, off)
		f.file.unsynced = append(f.file.unsynced, unsynced{int(off), slices.Clone(p[:n])})
		return err
	}
	op := f.op("write")
	op.Data = p
	met := false
	err = f.d.do(op, func() error { met = true; return write(p) })
	if met || err == nil || !f.d.Short {
		return n, err
	}
	f.d.mu.Lock()
	defer f.d.mu.Unlock()
	failed := err
	if err = write(p[:len(p)/2]); err == nil && !errors.Is(failed, ErrSilent) {
		err = failed
	}
	return n, err
}

func (f *opened) Truncate(size int64) error {
	return f.d.do(f.op("truncate"), func() error { return f.File.Truncate(size) })
}

func (f *opened) Sync() error {
	return f.d.do(f.op("sync"), func() error {
		info, err := f.File.Stat()
		if err != nil {
			return err
		}
		now := slices.Clone(f.file.synced)
		for _, w := range f.file.unsynced {
			now = writeAt(now, w.data, w.off)
		}
		now = now[:min(len(now), int(info.Size()))] // it may have been truncated
		f.file.synced, f.file.unsynced = now, nil
		return nil
	})
}

func (f *opened) Stat() (info os.FileInfo, err error) {
	err = f.d.do(f.op("stat"), func() error { info, err = f.File.Stat(); return err })
	return info, err
}

// Close closes the file also if it fails.
func (f *opened) Close() error {
	closed := false
	err := f.d.do(f.op("close"), func() error { closed = true; return f.File.Close() })
	if !closed {
		return errors.Join(err, f.File.Close())
	}
	return err
}

// Durable are what all files would hold after a power cut, by their paths, and for those
// with several names the same slice.
func (d *Disk) Durable() map[string][]byte {
	d.mu.Lock()
	defer d.mu.Unlock()
	all := map[string][]byte{}
	for path, f := range d.durable {
		all[path] = f.synced
	}
	return all
}

// AfterCut is what a file would hold after a power cut, if it were still there.
func (d *Disk) AfterCut(path string) ([]byte, bool) {
	data, there := d.Durable()[path]
	return slices.Clone(data), there
}

// Landed is what a file may hold after a power cut: of the n writes to it that nobody has
// synced, those have reached the disk for which landed is true.
func (d *Disk) Landed(path string, landed func(i, n int) bool) []byte {
	d.mu.Lock()
	defer d.mu.Unlock()
	f := d.durable[path]
	if f == nil {
		return nil
	}
	data := slices.Clone(f.synced)
	for i, w := range f.unsynced {
		if landed(i, len(f.unsynced)) {
			data = writeAt(data, w.data, w.off)
		}
	}
	return data
}

// Disorder is what a file may hold after a power cut, if it were still there: of what was
// written since it was synced, any sectors have reached the disk, some of them in part.
func (d *Disk) Disorder(path string, r *rand.Rand) []byte {
	const sector = 16 // small, as are the records
	d.mu.Lock()
	defer d.mu.Unlock()
	f := d.durable[path]
	data := slices.Clone(f.synced)
	for _, w := range f.unsynced {
		for len(w.data) > 0 {
			n := min(sector-w.off%sector, len(w.data))
			if lands := r.IntN(4); lands > 0 {
				part := n
				if lands == 1 {
					part = r.IntN(n + 1)
				}
				data = writeAt(data, w.data[:part], w.off)
			}
			w = unsynced{w.off + n, w.data[n:]}
		}
	}
	return data
}

// writeAt writes to a file that grows as needed.
func writeAt(data, p []byte, off int) []byte {
	if need := off + len(p); need > len(data) {
		data = append(data, make([]byte, need-len(data))...)
	}
	copy(data[off:], p)
	return data
}

// Fail is a Before that fails operations: those for which is is true, but only the first
// count of them, as a full disk.
func Fail(count int, is func(op Op) bool) func(op Op) error {
	var mu sync.Mutex
	return func(op Op) error {
		mu.Lock()
		defer mu.Unlock()
		if !is(op) || count == 0 {
			return nil
		}
		count--
		return fmt.Errorf("%w: %s %s: %w", ErrFault, op.Name, op.Path, syscall.ENOSPC)
	}
}

// FailNth is a Before that fails the nth operation that changes something, counted from 0.
// It tells by met whether there was one.
func FailNth(nth int, met *Op) func(op Op) error {
	var mu sync.Mutex
	return func(op Op) error {
		mu.Lock()
		defer mu.Unlock()
		if !op.Changes() {
			return nil
		}
		if nth--; nth != -1 {
			return nil
		}
		*met = Op{Name: op.Name, Path: op.Path}
		return fmt.Errorf("%w: %s %s: %w", ErrFault, op.Name, op.Path, syscall.ENOSPC)
	}
}
