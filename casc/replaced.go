package casc

import (
	"errors"
	"slices"
	"sync"
	"weak"
)

// replacedFiles are files that an update replaced, which stay open for those who still
// read them. It only points to them, so that the runtime closes those that nobody reads
// any more: while a game is played its indexes are replaced again and again, and keeping
// all of them until Close would use up the process's files.
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

// Close closes those that are still read.
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
