package patch

import (
	"fmt"
	"slices"

	"lorefs/internal/shown"
)

// Rejects gives what could not be applied, as a patch with the reasons in lines that begin
// with !: correct what it expects, and apply it. It is nil if nothing is left.
func (r *Result) Rejects() *Patch {
	if r.Conflicts == 0 {
		return nil
	}
	rejects := &Patch{Name: r.patch.Name, Header: r.patch.Header}
	last := -1
	for _, it := range r.Items {
		if it.Outcome != Conflict {
			continue
		}
		from := &r.patch.Blocks[it.Block]
		if it.Block != last {
			b := *from
			b.Line, b.Lines = 0, nil
			b.Notes = slices.DeleteFunc(slices.Clone(from.Notes), func(s string) bool { return s[0] == '!' })
			rejects.Blocks = append(rejects.Blocks, b)
			last = it.Block
		}
		b := &rejects.Blocks[len(rejects.Blocks)-1]
		if from.Kind == Change {
			b.Lines = append(b.Lines, from.Lines[it.Line])
		}
		b.Notes = append(b.Notes, "! "+r.Describe(it))
	}
	return rejects
}

// Describe is an item in one line, as "mod.lorepatch:12: /S/Item[@id=1]: level is int 20;
// want int 14 or int 15".
func (r *Result) Describe(it Item) string {
	s := r.patch.Name
	if it.At > 0 {
		s += fmt.Sprintf(":%d", it.At)
	}
	if s != "" {
		s += ": "
	}
	s += shown.Text(r.patch.Blocks[it.Block].Path.Text) + ": "
	if it.Reason == "" {
		return s + it.Outcome.String()
	}
	return s + shown.Text(it.Reason)
}
