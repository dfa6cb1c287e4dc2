package verify

import (
	"context"
	"io"

	"lorefs/datacenter"
	"lorefs/datacenter/internal/form"
)

// InOrder is Verify, or VerifyStrict, without the attempt to check parts side by side.
func InOrder(ctx context.Context, r io.ReaderAt, size int64, opts form.Options, strict bool) (all []Finding, err error) {
	f, err := form.Open(ctx, r, size, opts)
	v := &verifier{tree: datacenter.Of(f), file: f, ctx: ctx, strict: strict, yield: func(f Finding) bool { all = append(all, f); return true }}
	if err == nil {
		v.work = workFree + workRatio*f.Stated
		for _, check := range []func() error{
			v.container, v.header, v.segments, v.keys, v.names, v.values, v.graph, v.waste,
		} {
			if err = check(); err != nil {
				break
			}
		}
	}
	if v.fault(err) {
		err = nil
	}
	return all, err
}
