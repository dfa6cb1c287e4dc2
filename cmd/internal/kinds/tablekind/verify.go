package tablekind

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"

	"lorefs/casc"
	"lorefs/casc/db2"
	"lorefs/cmd/internal/kinds"
	"lorefs/internal/shown"
	"lorefs/nodes/tabletree"
)

// finding is a finding in a table as a JSON object.
type finding struct {
	File string `json:"file"`
	What string `json:"what"`
}

func (f finding) String() string { return f.File + ": " + f.What }

// verifyTables reads all rows of each table.
func verifyTables(ctx context.Context, name string, o kinds.Opening, v kinds.VerifyOptions) iter.Seq2[kinds.Finding, error] {
	return func(yield func(kinds.Finding, error) bool) {
		t, err := newTables(ctx, name, o)
		if err != nil {
			yield(kinds.Finding{}, kinds.Unreadable(name, err))
			return
		}
		defer t.Close()
		for i := range t.list {
			o.Progress(int64(i), int64(len(t.list)))
			found, err := Verify(ctx, t.tree, i, v.Strict, t.lib != nil)
			if err != nil {
				yield(kinds.Finding{}, kinds.At(name, err))
				return
			}
			for _, what := range found {
				f := finding{t.list[i].File, what}
				if !yield(kinds.Finding{Object: f, Line: f}, nil) {
					return
				}
			}
		}
		if err := t.Check(); err != nil {
			yield(kinds.Finding{}, err)
		}
	}
}

// Verify returns what is wrong with a table. defined says that there are definitions, and an error that it
// can't be read.
func Verify(ctx context.Context, tree *tabletree.Tree, i int, strict, defined bool) (found []string, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	one, err := tree.Open(ctx, i)
	if err == nil {
		err = one.Write(io.Discard, db2.CSV)
	}
	if e, ok := errors.AsType[*casc.FormatError](err); ok {
		return []string{e.Error()}, nil
	}
	if err != nil {
		return nil, err
	}
	if strict && defined && one.Why != nil || errors.Is(one.Why, db2.ErrDefinition) {
		found = append(found, one.Why.Error())
	}
	if strict && one.Doubles > 0 {
		found = append(found, fmt.Sprintf("%s left out, which another row has", shown.Plural(one.Doubles, "ID")))
	}
	if strict && one.Lost > 0 {
		found = append(found, fmt.Sprintf("%s of rows that are not there", shown.Verb(one.Lost, "a copy", "copies")))
	}
	return found, nil
}
