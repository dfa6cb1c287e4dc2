//go:build linux || darwin || freebsd

package fs

import (
	"sync"

	"lorefs/nodes"
)

// deadDirs has the directories that the kernel has removed and still remembers, since a program
// works in them or has a file open there. Linux finds nothing in such an inode any more. If the
// directory comes back under its number, another generation gives it a new inode.
type deadDirs struct {
	mu          sync.Mutex
	generations map[nodes.ID]uint64
}

// add records that the kernel removes a directory.
func (d *deadDirs) add(n *node) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.generations == nil {
		d.generations = map[nodes.ID]uint64{}
	}
	d.generations[n.id()]++
}

// forget records that the kernel has no inode of the number any more.
func (d *deadDirs) forget(id nodes.ID) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.generations, id)
}

// generation returns the present generation of a number.
func (d *deadDirs) generation(id nodes.ID) uint64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.generations[id]
}
