package dckind

import (
	"context"
	"fmt"

	"lorefs/cmd/internal/kinds"
	"lorefs/datacenter/query"
)

// Query yields what a query finds, see [kinds.Source.FindAll].
func (d *DataCenter) Query(ctx context.Context, s *kinds.Source, name string, yield func(kinds.Found, error) bool) {
	expr, err := query.Compile(name)
	if err != nil {
		yield(kinds.Found{}, fmt.Errorf("%s: there is no such path, and it is no query: %w", name, err))
		return
	}
	if err := s.SaveInMemory(ctx); err != nil {
		yield(kinds.Found{}, err)
		return
	}
	found := false
	for m, err := range expr.Run(ctx, d.dc) {
		var f kinds.Found
		if err == nil {
			found = true
			f, err = s.Find(ctx, s.Kind.Plain+"/"+m.Path)
			f.By = kinds.ByQuery
		}
		if !yield(f, err) || err != nil {
			return
		}
	}
	if !found {
		yield(kinds.Found{}, &kinds.NoMatchError{Expr: name, Unknown: expr.Unknown(d.dc.Names()), Names: d.dc.Names()})
	}
}
