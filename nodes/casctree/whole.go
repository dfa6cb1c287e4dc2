package casctree

import (
	"context"
	"iter"

	"lorefs/casc"
	"lorefs/casc/keys"
	"lorefs/nodes"
)

var _ nodes.WholeReader = (*Tree)(nil)

// ReadWhole implements [nodes.WholeReader] for files of one encoded form that is not encrypted. They
// are not read ahead of a program then.
func (t *Tree) ReadWhole(ctx context.Context, files []nodes.Entry) iter.Seq2[int, []byte] {
	return func(yield func(int, []byte) bool) {
		t.busy.Use()
		var wholes []casc.Whole
		var places []int
		for i := range files {
			k, n := splitID(files[i].ID)
			if k != kindFile || n >= t.table.nFiles || t.st.IsRemote() {
				continue
			}
			e := t.table.entry(n)
			if e.flags()&^flagStandIn != 0 || e.size() != files[i].Size || e.size() == 0 {
				continue
			}
			t.ahead.leave(n)
			wholes, places = append(wholes, casc.Whole{EKey: keys.Short(e.ekey()), Size: e.size()}), append(places, i)
		}
		for i, content := range t.st.ReadWhole(ctx, wholes) {
			if !yield(places[i], content) {
				return
			}
		}
	}
}
