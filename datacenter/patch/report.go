package patch

import (
	"fmt"
	"slices"

	"lorefs/datacenter/query"
	"lorefs/internal/shown"
)

// Rejects gives what could not be applied of some patches, as a patch with the reasons in
// lines that begin with !: correct what it expects, and apply it. What another of the patches has
// changed before, it expects as that left it, so that this only needs to be applied. It is nil if nothing is left.
func Rejects(results ...*Result) *Patch {
	var rejects *Patch
	for _, r := range results {
		if r.Conflicts == 0 {
			continue
		}
		if rejects == nil {
			rejects = &Patch{Name: r.Patch.Name, Header: r.Patch.Header}
		}
		r.reject(rejects)
	}
	return rejects
}

// reject adds what could not be applied.
func (r *Result) reject(rejects *Patch) {
	last := -1
	renamed := r.renamed()
	for _, it := range r.Items {
		if it.Outcome != Conflict {
			continue
		}
		from := &r.Patch.Blocks[it.Block]
		if it.Block != last {
			b := *from
			b.Line, b.Lines = 0, nil
			if len(renamed) > 0 {
				b.rename(renamed)
				b.respell()
			}
			b.Notes = slices.DeleteFunc(slices.Clone(from.Notes), func(s string) bool { return s[0] == '!' })
			rejects.Blocks = append(rejects.Blocks, b)
			last = it.Block
		}
		b := &rejects.Blocks[len(rejects.Blocks)-1]
		if from.Kind == Change {
			l := from.Lines[it.Line]
			if it.Have != "" {
				if _, v, err := parseLine(it.Have); err == nil {
					v.Flags &^= parsedFlags
					l.Old = v
				}
			}
			b.Lines = append(b.Lines, l)
		}
		b.Notes = append(b.Notes, "! "+r.Describe(it))
	}
}

// renamed gives the steps that are other ones by what was applied.
func (r *Result) renamed() map[string]query.PlainStep {
	done := &Patch{}
	last := -1
	for _, it := range r.Items {
		from := &r.Patch.Blocks[it.Block]
		if it.Outcome >= Conflict || from.Kind != Change {
			continue
		}
		if it.Block != last {
			done.Blocks = append(done.Blocks, Block{Kind: Change, Path: from.Path})
			last = it.Block
		}
		b := &done.Blocks[len(done.Blocks)-1]
		b.Lines = append(b.Lines, from.Lines[it.Line])
	}
	return done.renamed()
}

// Describe is an item in one line, as "mod.lorepatch:12: /S/Item[@id=1]: level is int 20;
// want int 14 or int 15".
func (r *Result) Describe(it Item) string {
	s := r.Patch.Name
	if it.At > 0 {
		s += fmt.Sprintf(":%d", it.At)
	}
	if s != "" {
		s += ": "
	}
	s += shown.Text(r.Patch.Blocks[it.Block].Path.Text) + ": "
	if it.Reason == "" {
		return s + it.Outcome.String()
	}
	return s + shown.Text(it.Reason)
}
