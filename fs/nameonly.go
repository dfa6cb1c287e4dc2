//go:build linux || darwin || freebsd

package fs

import "sync/atomic"

const (
	// fullPerLookup is how many files one LOOKUP of a file allows to be listed in full, and
	// fullCredit the most that may be saved up.
	fullPerLookup = 64
	fullCredit    = 8192
)

// nameOnly decides which files are listed by name only, without attributes and so without
// an inode. That suffices for find(1), and neither fills the list of inodes nor needs
// pruning; but ls -l has to ask for each such file.
//
// While there is room for inodes, every file is listed in full. After that credit decides:
// each LOOKUP of a file shows that somebody needs more than names and adds credit, each
// file listed in full takes some.
type nameOnly struct {
	credit atomic.Int64
}

func (o *nameOnly) sawLookup() {
	if c := o.credit.Load(); c < fullCredit {
		o.credit.Store(min(c+fullPerLookup, fullCredit))
	}
}

// next decides on the next file to be listed. crowded is that of the inodes.
func (o *nameOnly) next(crowded bool) bool {
	if !crowded {
		return false
	}
	if o.credit.Load() <= 0 {
		return true
	}
	o.credit.Add(-1)
	return false
}
