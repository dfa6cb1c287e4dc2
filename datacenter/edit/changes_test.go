package edit_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"

	"lorefs/datacenter/edit"
)

// told returns a text of changes, one in each line.
func told(list []edit.Change) string {
	var b strings.Builder
	for _, c := range list {
		kinds := map[edit.ChangeKind]string{
			edit.AttributeSet: "set", edit.AttributeGone: "gone", edit.KeysSet: "keys", edit.FlagsSet: "flags",
			edit.NodeMade: "made", edit.NodeGone: "removed", edit.NodeMoved: "moved",
		}
		fmt.Fprintf(&b, "%s %d", kinds[c.Kind], c.Node)
		if c.Name != "" {
			fmt.Fprintf(&b, " %s", c.Name)
		}
		switch {
		case c.Lost:
			b.WriteString(" ?")
		case c.Old.Type() != 0:
			fmt.Fprintf(&b, " -%s", c.Old.Text())
		}
		if c.New.Type() != 0 {
			fmt.Fprintf(&b, " +%s", c.New.Text())
		}
		if c.Kind == edit.KeysSet {
			fmt.Fprintf(&b, " %s", c.Keys)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// overwritten is a block cache whose blocks can't be read any more once gone is set.
type overwritten struct{ gone atomic.Bool }

var errOverwritten = errors.New("another program wrote over it")

func (o *overwritten) Block(ctx context.Context, n uint64, load func(context.Context, uint64) ([]byte, error)) ([]byte, error) {
	if o.gone.Load() {
		return nil, errOverwritten
	}
	return load(ctx, n)
}
