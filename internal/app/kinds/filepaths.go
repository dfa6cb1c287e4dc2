package kinds

import (
	"context"

	"lorefs/datacenter"
	"lorefs/datacenter/identity"
)

type filePaths struct {
	*identity.Locator
	paths    *identity.Paths[datacenter.Node]
	changing func(number uint32) []string
}

func newFilePaths(ctx context.Context, f *datacenter.File, changing func(number uint32) []string) (*filePaths, error) {
	l, err := identity.NewLocator(f)
	if err != nil {
		return nil, err
	}
	root, err := f.Root()
	return &filePaths{l, identity.NewPaths(identity.NewFile(ctx), root), changing}, err
}

func (p *filePaths) Expr(way []identity.Located) (string, error) {
	var steps []identity.Step
	for i := range way[1:] {
		step := way[i+1].Step
		step.Changing = p.changing(way[i+1].Number)
		steps = append(steps, step)
	}
	expr, _, err := p.paths.Find(steps)
	return expr, err
}
