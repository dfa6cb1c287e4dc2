package edit

// Stored returns the number in the base of the node with a number. ok is false if the base
// does not have it, since it was made later, or removed before the base was saved.
func (r *Reader) Stored(n Number) (base Number, ok bool, err error) {
	return r.s.labels.find(r.s.d, n)
}
