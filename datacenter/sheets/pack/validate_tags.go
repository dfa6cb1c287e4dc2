package pack

import "lorefs/datacenter/sheets/internal/intern"

// validTags are start tags in which a validator found nothing, in groups by the number of
// their parent's type. Most tags of a real folder come again and again, and finding one is
// much faster than reading it.
type validTags struct {
	table intern.Table
	tags  []validTag // by number
	found *validTag  // the tag that was recalled last
}

// validTag is what is known of a start tag in which nothing is wrong.
type validTag struct {
	needs      *needs // of its type
	at         uint32 // the place of its type among the children of its parent's
	attributes uint32 // their number
}

// mostValidTags is how many bytes of tags a validator keeps. Then it begins anew.
const mostValidTags = 16 << 20

// recall reports whether a start tag below the open nodes is known to be valid.
func (v *validator) recall(tag []byte) bool {
	if len(v.open) == 0 {
		return false
	}
	parent := &v.open[len(v.open)-1]
	if parent.of == nil {
		return false
	}
	n, ok := v.tags.table.Find(parent.needs.number, tag)
	if ok {
		v.tags.found = &v.tags.tags[n]
	}
	return ok
}

// again is begin for the tag that was recalled. Its names and keys have been counted.
func (v *validator) again(offset int) error {
	t := v.tags.found
	parent := &v.open[len(v.open)-1]
	v.job.nodes++
	v.job.attributes += int64(t.attributes)
	of := parent.of.Children[t.at].Type
	err := v.child(parent, int(t.at), offset)
	v.push(of, t.needs)
	return err
}

// remember keeps the tag of the newest node, in which nothing is wrong.
func (v *validator) remember(at, attributes int) {
	tag := v.p.Plain()
	if tag == nil || len(tag) > mostValidTags {
		return
	}
	if v.tags.table.Size()+len(tag) > mostValidTags {
		v.tags.table.Reset()
		v.tags.tags = v.tags.tags[:0]
	}
	top := len(v.open) - 1
	if _, isNew := v.tags.table.Add(v.open[top-1].needs.number, tag); isNew {
		v.tags.tags = append(v.tags.tags, validTag{v.open[top].needs, uint32(at), uint32(attributes)})
	}
}
