//go:build linux || darwin || freebsd

package fs

import "sync/atomic"

const (
	// fullPerLookup is how many files one LOOKUP of a file gets listed in full,
	// and fullCredit the most that may be saved up.
	fullPerLookup = 64
	fullCredit    = 8192
)

// nameOnly decides which files are listed by name only, without attributes and
// so without an inode. That is what find(1) needs, and it neither fills the list
// of inodes nor costs pruning; but ls -l has to ask for each such file.
//
// As long as there is room for inodes every file is listed in full. After that
// it goes by credit: each LOOKUP of a file tells that somebody wants more than
// names and gives some, each file listed in full takes one.
type nameOnly struct {
	credit atomic.Int64
}

// sawLookup gives credit.
func (o *nameOnly) sawLookup() {
	if c := o.credit.Load(); c < fullCredit {
		o.credit.Store(min(c+fullPerLookup, fullCredit))
	}
}

// next decides on the next file to be listed; crowded tells that there are
// almost as many inodes as there may be.
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
