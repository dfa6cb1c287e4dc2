package kinds

import (
	"context"
	"errors"
	"io"
	"strconv"
	"strings"

	"lorefs/datacenter/diff"
	"lorefs/datacenter/edit"
	"lorefs/datacenter/query"
)

// WriteEdits implements Session.
func (s *dataCenterSession) WriteEdits(ctx context.Context, w io.Writer, f EditsFormat) error {
	return draftEdits{s.dc.Draft(), s.file}.WriteEdits(ctx, w, f)
}

type draftEdits struct {
	draft *edit.Draft
	path  string
}

func (e draftEdits) WriteEdits(_ context.Context, w io.Writer, f EditsFormat) error {
	return writeEdits(w, f, func(yield func(Edit, error) bool) {
		for _, c := range e.draft.Changes() {
			if d := difference(&c); !yield(d, nil) {
				return
			}
		}
	})
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
	d := diff.Difference{Kind: diff.AttributeChanged, Path: attribute, Old: sideOf(c.Old), New: sideOf(c.New)}
	switch {
	case d.New.Type == "":
		d.Kind = diff.AttributeRemoved
	case d.Old.Type == "" && !c.Lost:
		d.Kind = diff.AttributeAdded
	}
	return d
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
