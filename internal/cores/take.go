package cores

import (
	"context"
	"sync/atomic"
)

// Take does a goroutine's share of count things. Several goroutines use the same next.
func Take(ctx context.Context, next *atomic.Int64, count int, do func(n int) error) error {
	for ctx.Err() == nil {
		n := int(next.Add(1)) - 1
		if n >= count {
			return nil
		}
		if err := do(n); err != nil {
			return err
		}
	}
	return ctx.Err()
}
