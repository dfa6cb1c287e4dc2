package kinds

import (
	"context"
	"errors"
	"io"
	"iter"
	"strconv"
	"strings"

	"lorefs/datacenter"
	"lorefs/datacenter/diff"
	"lorefs/datacenter/edit"
	"lorefs/datacenter/query"
)

// WriteEdits implements Session.
func (s *dataCenterSession) WriteEdits(ctx context.Context, w io.Writer, f EditsFormat) error {
	if f == EditsPatch {
		return errors.ErrUnsupported
	}
	return writeEdits(w, f, s.edits(ctx))
}

// edits yields the edits of the draft.
func (s *dataCenterSession) edits(context.Context) iter.Seq2[Edit, error] {
	return func(yield func(Edit, error) bool) {
		for _, c := range s.dc.Draft().Changes() {
			if d := difference(&c); !yield(d, nil) {
				return
			}
		}
	}
}

// difference returns a change as diff tells it.
func difference(c *edit.Change) diff.Difference {
	path := pathOf(c.Path)
	attribute := path + "/@" + string(query.AppendName(nil, c.Name))
	switch c.Kind {
	case edit.NodeMade:
		return diff.Difference{Kind: diff.NodeAdded, Path: path}
	case edit.NodeGone:
		return diff.Difference{Kind: diff.NodeRemoved, Path: path}
	case edit.NodeMoved:
		return diff.Difference{Kind: diff.OrderChanged, Path: pathOf(c.From), NewPath: path}
	case edit.KeysSet:
		return diff.Difference{Kind: diff.KeysChanged, Path: path, New: diff.Value{Type: "keys", Text: c.Keys.String()}}
	case edit.FlagsSet:
		return diff.Difference{Kind: diff.FlagsChanged, Path: path, New: diff.Value{Type: "flags", Text: strconv.Itoa(int(c.Flags))}}
	}
	d := diff.Difference{Kind: diff.AttributeChanged, Path: attribute, Old: side(c.Old), New: side(c.New)}
	switch {
	case d.New.Type == "":
		d.Kind = diff.AttributeRemoved
	case d.Old.Type == "" && !c.Lost:
		d.Kind = diff.AttributeAdded
	}
	return d
}

func side(v datacenter.Value) diff.Value {
	if v.Type() == 0 {
		return diff.Value{}
	}
	return diff.Value{Type: v.Type().String(), Text: v.Text()}
}

// pathOf spells a path as a query.
func pathOf(steps []edit.Step) string {
	var b strings.Builder
	for _, s := range steps {
		b.WriteByte('/')
		b.Write(query.AppendName(nil, s.Name))
		for _, m := range s.Marks {
			b.WriteString("[@" + string(query.AppendName(nil, m.Name)) + "=" + strconv.Quote(m.Value.Text()) + "]")
		}
	}
	return b.String()
}

// Revert implements Session.
func (s *dataCenterSession) Revert(context.Context, []string, bool) (Reverted, error) {
	return Reverted{}, errors.ErrUnsupported
}
