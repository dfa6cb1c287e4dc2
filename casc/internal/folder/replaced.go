package folder

import (
	"errors"
	"slices"
	"sync"
	"weak"
)

// replacedFiles are files that an update replaced but that somebody may still read. It has
// only weak pointers, so that the garbage collector closes files that nobody reads: an
// update replaces the indexes again and again while the game is played, and keeping them
// until Close would use up the process's files.
type replacedFiles struct {
	mu    sync.Mutex // guards files
	files []weak.Pointer[file]
}

func (r *replacedFiles) add(files ...*file) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.files = slices.DeleteFunc(r.files, func(p weak.Pointer[file]) bool { return p.Value() == nil })
	for _, f := range files {
		r.files = append(r.files, weak.Make(f))
	}
}

// Close closes the files that are still in use.
func (r *replacedFiles) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	var errs []error
	for _, p := range r.files {
		if f := p.Value(); f != nil {
			errs = append(errs, f.Close())
		}
	}
	r.files = nil
	return errors.Join(errs...)
}
