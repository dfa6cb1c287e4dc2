package edit

import "lorefs/datacenter"

// Stored returns the number in the base of the node with a number. ok is false if the base
// does not have it, since it was made later, or removed before the base was saved.
func (r *Reader) Stored(n Number) (base Number, ok bool, err error) {
	if r.s.base != r.s.draftBase || len(r.s.labels.runs) == 0 {
		return n, n <= datacenter.MaxEntries, nil
	}
	if r.s.labels.run(n) == nil {
		return 0, false, nil
	}
	base, err = r.s.labels.number(r.s.d, n)
	return base, err == nil, err
}
