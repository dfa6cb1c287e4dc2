package datacenter

import "context"

// Hold makes b a Builder for Open.
func (b *Builder) Hold() { b.to.Hold() }

// Open returns what was built, in memory.
func (b *Builder) Open(ctx context.Context) (*File, error) {
	b.to.SetRoot(0, 0, nil, b.open[0].children)
	f, err := b.to.Open(ctx)
	if err != nil {
		return nil, err
	}
	return Of(f), nil
}
