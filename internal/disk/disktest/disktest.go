// Package disktest has a disk on which any operation can fail, and which knows what a power cut
// would leave.
package disktest

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"

	"lorefs/internal/disk"
)

// ErrFault is the error of an operation that was made to fail.
var ErrFault = errors.New("a fault")

// ErrSilent is an error for the function of SetBefore. It makes a short write return no error, as write(2) does.
var ErrSilent = errors.New("silent")

// Op is an operation: create, open, read, write, truncate, sync, stat, close, link, rename,
// renameNew, exchange, remove or syncDir. Path is the new name if there are two.
type Op struct {
	Name, Path string
	// Data is written by a write.
	Data []byte
}

// Changes reports whether the operation changes what is on the disk, or makes it durable.
func (o Op) Changes() bool {
	return !slices.Contains([]string{"open", "read", "stat", "close"}, o.Name)
}

// Disk passes operations on to the real disk, and records which changes are durable: names after a
// sync of their folder, and bytes after a sync of their file. Files that it did not make count as
// synced.
type Disk struct {
	// Short makes a write that fails write its first half.
	Short bool

	mu      sync.Mutex
	before  func(op Op) error
	ops     []Op
	files   []*file
	durable map[string]*file // by path
}

// New returns a Disk on which the current content of some folders is durable.
func New(dirs ...string) *Disk {
	d := &Disk{durable: map[string]*file{}}
	for _, dir := range dirs {
		d.synced(dir)
	}
	return d
}

// file is a file, which may have several names.
type file struct {
	info   os.FileInfo
	synced []byte
	// unsynced are the writes since the last sync, in their order.
	unsynced []unsynced
}

type unsynced struct {
	off  int
	data []byte
}

// SetBefore has a function called before each operation, or none if it is nil. If it returns an
// error, the operation fails with that.
func (d *Disk) SetBefore(before func(op Op) error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.before = before
}

// Before calls the function of SetBefore.
func (d *Disk) Before(op Op) error {
	d.mu.Lock()
	before := d.before
	d.mu.Unlock()
	if before == nil {
		return nil
	}
	return before(op)
}

// do does an operation and records it, unless what SetBefore set fails it.
func (d *Disk) do(op Op, do func() error) error {
	if err := d.Before(op); err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	op.Data = nil
	d.ops = append(d.ops, op)
	return do()
}

// Ops returns all operations so far that the function of SetBefore did not fail.
func (d *Disk) Ops() []Op {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.ops)
}

// Count returns how many operations with a name there were.
func (d *Disk) Count(name string) (n int) {
	for _, op := range d.Ops() {
		if op.Name == name {
			n++
		}
	}
	return n
}

// Open implements [disk.FS].
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
		if flag&os.O_EXCL != 0 { // its inode number may be that of a removed file
			d.files = slices.DeleteFunc(d.files, func(f *file) bool { return os.SameFile(f.info, info) })
			d.files = append(d.files, &file{info: info})
		}
		f = &opened{on, d, path, d.of(path, info)}
		return nil
	})
	return f, err
}

// of returns the file that info describes. The caller holds mu.
func (d *Disk) of(path string, info os.FileInfo) *file {
	for _, f := range d.files {
		if os.SameFile(f.info, info) {
			return f
		}
	}
	f := &file{info: info}
	f.synced, _ = os.ReadFile(path) // a file that can't be read counts as empty
	d.files = append(d.files, f)
	return f
}

// synced makes the names in a folder durable. The caller holds mu.
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

// Link implements [disk.FS].
func (d *Disk) Link(from, to string) error {
	return d.do(Op{Name: "link", Path: to}, func() error { return disk.OS{}.Link(from, to) })
}

// Rename implements [disk.FS].
func (d *Disk) Rename(from, to string) error {
	return d.do(Op{Name: "rename", Path: to}, func() error { return disk.OS{}.Rename(from, to) })
}

// RenameNew implements [disk.FS].
func (d *Disk) RenameNew(from, to string) error {
	return d.do(Op{Name: "renameNew", Path: to}, func() error { return disk.OS{}.RenameNew(from, to) })
}

// Exchange implements [disk.FS].
func (d *Disk) Exchange(a, b string) error {
	return d.do(Op{Name: "exchange", Path: b}, func() error { return disk.OS{}.Exchange(a, b) })
}

// Remove implements [disk.FS].
func (d *Disk) Remove(path string) error {
	return d.do(Op{Name: "remove", Path: path}, func() error { return disk.OS{}.Remove(path) })
}

// SyncDir implements [disk.FS].
func (d *Disk) SyncDir(dir string) error {
	return d.do(Op{Name: "syncDir", Path: dir}, func() error {
		_, err := os.Stat(dir) // it is not really synced, which is faster
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

// CopyFrom writes by WriteAt, so that these writes are recorded and can fail.
func (f *opened) CopyFrom(from *os.File) (int64, error) {
	return io.Copy(io.NewOffsetWriter(f, 0), from)
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

// Close closes the file even if it is made to fail.
func (f *opened) Close() error {
	closed := false
	err := f.d.do(f.op("close"), func() error { closed = true; return f.File.Close() })
	if !closed {
		return errors.Join(err, f.File.Close())
	}
	return err
}

// Durable returns what a power cut would leave of all files, by path. Several names of a file have
// the same slice.
func (d *Disk) Durable() map[string][]byte {
	d.mu.Lock()
	defer d.mu.Unlock()
	all := map[string][]byte{}
	for path, f := range d.durable {
		all[path] = f.synced
	}
	return all
}

// AfterCut returns what a power cut would leave of a file, and whether the file would be there.
func (d *Disk) AfterCut(path string) ([]byte, bool) {
	data, there := d.Durable()[path]
	return slices.Clone(data), there
}

// Landed returns what a power cut may leave of a file, if of the n writes since the last sync those
// reached the disk for which landed is true.
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

// Disorder returns what a power cut may leave of a file: any sectors that were written since the
// last sync have reached the disk, some of them in part.
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

// writeAt writes p to data, which grows as needed.
func writeAt(data, p []byte, off int) []byte {
	if need := off + len(p); need > len(data) {
		data = append(data, make([]byte, need-len(data))...)
	}
	copy(data[off:], p)
	return data
}

// Fail returns a function for SetBefore that fails the first count operations for which is is true, as a full disk
// does.
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

// FailNth returns a function for SetBefore that fails the nth operation that changes something, counted from 0, and
// stores it in met.
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
