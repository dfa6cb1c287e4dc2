package nodes

import "context"

// unasked is the key of a context whose reads nobody has asked for.
type unasked struct{}

// Unasked returns a context for reads that no program has asked for, such as those into a
// cache. When such a read fails, nobody has missed anything: the tree does not look for the
// cause, and reports no fault. The read of a program that follows does both.
func Unasked(ctx context.Context) context.Context { return context.WithValue(ctx, unasked{}, true) }

// IsUnasked reports whether a context is from [Unasked].
func IsUnasked(ctx context.Context) bool { return ctx.Value(unasked{}) != nil }
