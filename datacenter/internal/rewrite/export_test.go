package rewrite

import "lorefs/datacenter"

// AskedFor returns for how many strings r asks before it moves the attributes of siblings.
func (r *Rewriter) AskedFor(siblings []datacenter.Node) int {
	r.askForStrings(siblings)
	return len(r.asked)
}
