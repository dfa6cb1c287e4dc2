//go:build linux || darwin || freebsd

package fs

import "sync/atomic"

const (
	// fullPerLookup is how many entries one LOOKUP allows to be listed in full, and
	// fullCredit the most that may be saved up.
	fullPerLookup = 64
	fullCredit    = 8192
	// firstDirs is how many directories are listed in full before anybody has gone into one.
	firstDirs = 2048
)

// nameOnly decides which entries are listed by name only, without attributes and so without
// an inode. That suffices for ls(1), and neither fills the list of inodes nor needs pruning;
// but ls -l has to ask for each such entry.
//
// Credit decides: each LOOKUP shows that somebody needs more than names and adds credit, each
// entry listed in full takes some.
//
// Files are all listed in full while there is room for inodes. Directories have a credit of their
// own, which counts from the start: an inode takes ten times as long as a name, and who lists
// tens of thousands of directories rarely goes into each. To list a directory is to have gone into
// it and adds credit, too, so that a walk gets all but the largest directories in full.
type nameOnly struct {
	credit atomic.Int64
}

// wanted is called when somebody needs more than names.
func (o *nameOnly) wanted() {
	if c := o.credit.Load(); c < fullCredit {
		o.credit.Store(min(c+fullPerLookup, fullCredit))
	}
}

// next decides on the next entry to be listed.
func (o *nameOnly) next() bool {
	if o.credit.Load() <= 0 {
		return true
	}
	o.credit.Add(-1)
	return false
}
