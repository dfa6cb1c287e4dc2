package packetkind

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"lorefs/cmd/internal/kinds"
	"lorefs/internal/shown"
	"lorefs/protocol/dissect"
)

// CountChange says that two sessions have other numbers of packets of a name. Scripts rely on the names
// of its members.
type CountChange struct {
	Kind string `json:"kind"`
	// Path is the name of the packets.
	Path string `json:"path"`
	Old  int64  `json:"old"`
	New  int64  `json:"new"`
}

// Append implements [kinds.Edit].
func (d CountChange) Append(dst []byte) []byte {
	name := shown.Text(d.Path)
	switch {
	case d.Old == 0:
		return fmt.Appendf(dst, "+ %s: %s\n", name, shown.Plural(d.New, "packet"))
	case d.New == 0:
		return fmt.Appendf(dst, "- %s: %s\n", name, shown.Plural(d.Old, "packet"))
	}
	return fmt.Appendf(dst, "~ %s: %s, was %d\n", name, shown.Plural(d.New, "packet"), d.Old)
}

// errNoSession means that a folder of definitions is compared.
var errNoSession = errors.New("only recorded sessions can be compared, and no folders of definitions")

// diffSessions yields the names of which two sessions have another number of packets, by name.
func diffSessions(ctx context.Context, a, b kinds.Archive) iter.Seq2[kinds.Edit, error] {
	return func(yield func(kinds.Edit, error) bool) {
		was, err := counted(ctx, a)
		if err != nil {
			yield(nil, err)
			return
		}
		is, err := counted(ctx, b)
		if err != nil {
			yield(nil, err)
			return
		}
		var all []CountChange
		for name, n := range was {
			all = append(all, CountChange{Path: name, Old: n, New: is[name]})
		}
		for name, n := range is {
			if was[name] == 0 {
				all = append(all, CountChange{Path: name, New: n})
			}
		}
		slices.SortFunc(all, func(x, y CountChange) int { return cmp.Compare(x.Path, y.Path) })
		for _, d := range all {
			switch {
			case d.Old == d.New:
				continue
			case d.Old == 0:
				d.Kind = "packets_added"
			case d.New == 0:
				d.Kind = "packets_removed"
			default:
				d.Kind = "packets_changed"
			}
			if !yield(d, nil) {
				return
			}
		}
	}
}

// counted counts the packets of a session by their names.
func counted(ctx context.Context, a kinds.Archive) (map[string]int64, error) {
	r := a.(*packets).now.Load()
	if r == nil {
		return nil, errNoSession
	}
	var s *dissect.Summary
	s, err := r.Summary(ctx)
	if err != nil {
		return nil, err
	}
	n := map[string]int64{}
	for _, name := range s.Names {
		n[name.Name] += name.Packets
	}
	return n, nil
}
