package journal

import (
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"testing/iotest"
	"time"
)

var errInjected = errors.New("injected")

// memory is a system in which every operation can fail, and which knows what a power cut
// would leave: names as of the last sync of the folder, and bytes as of the last sync of
// the file.
type memory struct {
	// before is called before each operation, without mu, and can fail it.
	before func(op string) error
	// short makes a failing write write its first half.
	short bool

	mu      sync.Mutex
	names   map[string]*memFile
	durable map[string]*memFile
	ops     []string
}

func newMemory() *memory {
	return &memory{names: map[string]*memFile{}, durable: map[string]*memFile{}}
}

// do counts an operation, and does it unless it is to fail.
func (m *memory) do(op string, f func() error) error {
	if m.before != nil {
		if err := m.before(op); err != nil {
			return err
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.ops = append(m.ops, op)
	return f()
}

func (m *memory) count(op string) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := 0
	for _, o := range m.ops {
		if o == op {
			n++
		}
	}
	return n
}

// afterCut returns what a file would hold after a power cut, if it existed.
func (m *memory) afterCut(path string) ([]byte, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f, ok := m.durable[path]
	if !ok {
		return nil, false
	}
	return slices.Clone(f.synced), true
}

// now returns what a file holds while the machine is up.
func (m *memory) now(path string) ([]byte, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f, ok := m.names[path]
	if !ok {
		return nil, false
	}
	return slices.Clone(f.data), true
}

// disorder returns what a file may hold after a power cut, if it existed: any sectors of
// what was written since it was synced have reached the disk, some of them in part.
func (m *memory) disorder(path string, r *rand.Rand) []byte {
	const sector = 16 // small, like the records
	m.mu.Lock()
	defer m.mu.Unlock()
	f := m.durable[path]
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

// beforeAndAfter returns what a file holds, and what it would hold after a power cut.
func (m *memory) beforeAndAfter(path string) [][]byte {
	now, _ := m.now(path)
	cut, _ := m.afterCut(path)
	return [][]byte{now, cut}
}

// unsynced is a write that was not synced yet.
type unsynced struct {
	off  int
	data []byte
}

// writeAt writes to a file that grows as needed.
func writeAt(data, p []byte, off int) []byte {
	if need := off + len(p); need > len(data) {
		data = append(data, make([]byte, need-len(data))...)
	}
	copy(data[off:], p)
	return data
}

func (m *memory) put(path string, data []byte) {
	f := &memFile{m: m, data: data, synced: slices.Clone(data)}
	m.names[path], m.durable[path] = f, f
}

func (m *memory) open(path string, flag int) (file, error) {
	var f *memFile
	err := m.do("open", func() error {
		f = m.names[path]
		switch {
		case f == nil && flag&os.O_CREATE == 0:
			return iofs.ErrNotExist
		case f != nil && flag&os.O_EXCL != 0:
			return iofs.ErrExist
		case f == nil:
			f = &memFile{m: m}
			m.names[path] = f
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return f, nil
}

func (m *memory) link(from, to string) error {
	return m.do("link", func() error {
		if m.names[to] != nil {
			return iofs.ErrExist
		}
		m.names[to] = m.names[from]
		return nil
	})
}

func (m *memory) rename(from, to string) error {
	return m.do("rename", func() error {
		m.names[to] = m.names[from]
		delete(m.names, from)
		return nil
	})
}

func (m *memory) remove(path string) error {
	return m.do("remove", func() error {
		if m.names[path] == nil {
			return iofs.ErrNotExist
		}
		delete(m.names, path)
		return nil
	})
}

func (m *memory) exists(path string) (there bool, err error) {
	err = m.do("exists", func() error { there = m.names[path] != nil; return nil })
	return there, err
}

func (m *memory) syncDir(string) error {
	return m.do("syncDir", func() error { m.durable = maps.Clone(m.names); return nil })
}

// memFile is an open file of a memory, and the file itself.
type memFile struct {
	m            *memory
	data, synced []byte
	// unsynced are the writes since the last sync, in order.
	unsynced []unsynced
}

func (f *memFile) ReadAt(p []byte, off int64) (n int, err error) {
	err = f.m.do("read", func() error {
		if off < int64(len(f.data)) {
			n = copy(p, f.data[off:])
		}
		if n < len(p) {
			return io.EOF
		}
		return nil
	})
	return n, err
}

func (f *memFile) WriteAt(p []byte, off int64) (int, error) {
	write := func(p []byte) {
		f.data = writeAt(f.data, p, int(off))
		f.unsynced = append(f.unsynced, unsynced{int(off), slices.Clone(p)})
	}
	err := f.m.do("write", func() error { write(p); return nil })
	if err == nil {
		return len(p), nil
	}
	if !f.m.short {
		return 0, err
	}
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	write(p[:len(p)/2])
	if errors.Is(err, errSilent) {
		err = nil
	}
	return len(p) / 2, err
}

// errSilent makes a short write return no error, as write(2) does.
var errSilent = errors.New("silent")

func (f *memFile) Sync() error {
	return f.m.do("sync", func() error { f.synced, f.unsynced = slices.Clone(f.data), nil; return nil })
}

func (f *memFile) Truncate(size int64) error {
	return f.m.do("truncate", func() error { f.data = f.data[:size]; return nil })
}

func (f *memFile) Close() error { return f.m.do("close", func() error { return nil }) }

func (f *memFile) Stat() (info os.FileInfo, err error) {
	err = f.m.do("stat", func() error { info = memInfo{size: int64(len(f.data))}; return nil })
	return info, err
}

// memInfo describes a file of a memory. Only its size is used.
type memInfo struct{ size int64 }

func (i memInfo) Name() string     { return "" }
func (i memInfo) Size() int64      { return i.size }
func (memInfo) Mode() os.FileMode  { return filePerm }
func (memInfo) ModTime() time.Time { return time.Time{} }
func (memInfo) IsDir() bool        { return false }
func (memInfo) Sys() any           { return nil }

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
