package blockcache

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func filled(n uint64, size int) func(context.Context, uint64) ([]byte, error) {
	return func(context.Context, uint64) ([]byte, error) {
		b := make([]byte, size)
		for i := range b {
			b[i] = byte(n)
		}
		return b, nil
	}
}

func TestBudgetIsKept(t *testing.T) {
	c := New(1000)
	v := c.View()
	for n := range uint64(50) {
		b, err := v.Block(t.Context(), n, filled(n, 300))
		if err != nil || len(b) != 300 || b[0] != byte(n) {
			t.Fatalf("block %d: %d bytes, %v", n, len(b), err)
		}
		if s := c.Stats(); s.Bytes > 1000 || s.Bytes != int64(s.Blocks)*300 {
			t.Fatalf("after block %d: %+v", n, s)
		}
	}
	if s := c.Stats(); s.Blocks != 3 || s.Evictions != 47 || s.Loads != 50 {
		t.Errorf("stats = %+v", s)
	}
}

func TestLeastRecentlyUsedGoesFirst(t *testing.T) {
	c := New(900)
	v := c.View()
	loads := map[uint64]int{}
	get := func(n uint64) {
		if _, err := v.Block(t.Context(), n, func(_ context.Context, n uint64) ([]byte, error) {
			loads[n]++
			return make([]byte, 300), nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	for _, n := range []uint64{0, 1, 2, 0, 3, 0, 1} {
		get(n)
	}
	if loads[0] != 1 || loads[1] != 2 || loads[2] != 1 || loads[3] != 1 {
		t.Errorf("loads = %v", loads)
	}
}

func TestTooLargeIsHandedOutButNotKept(t *testing.T) {
	c := New(100)
	b, err := c.View().Block(t.Context(), 0, filled(0, 101))
	if err != nil || len(b) != 101 {
		t.Fatalf("%d bytes, %v", len(b), err)
	}
	if s := c.Stats(); s.Blocks != 0 || s.Bytes != 0 {
		t.Errorf("stats = %+v", s)
	}
}

func TestViewsAreApart(t *testing.T) {
	c := New(1 << 20)
	a, b := c.View(), c.View()
	if _, err := a.Block(t.Context(), 7, filled(1, 10)); err != nil {
		t.Fatal(err)
	}
	got, err := b.Block(t.Context(), 7, filled(2, 10))
	if err != nil || got[0] != 2 {
		t.Fatalf("second view got the first one's block: %v, %v", got, err)
	}
}

func TestOneLoadForManyReaders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := New(1 << 20).View()
		var loads atomic.Int32
		var wg sync.WaitGroup
		for range 32 {
			wg.Go(func() {
				b, err := v.Block(t.Context(), 1, func(context.Context, uint64) ([]byte, error) {
					loads.Add(1)
					time.Sleep(time.Second)
					return []byte("x"), nil
				})
				if err != nil || string(b) != "x" {
					t.Errorf("got %q, %v", b, err)
				}
			})
		}
		wg.Wait()
		if n := loads.Load(); n != 1 {
			t.Errorf("loaded %d times", n)
		}
	})
}

func TestErrorIsNotRemembered(t *testing.T) {
	v := New(1 << 20).View()
	want := errors.New("no")
	if _, err := v.Block(t.Context(), 1, func(context.Context, uint64) ([]byte, error) { return nil, want }); !errors.Is(err, want) {
		t.Fatalf("err = %v", err)
	}
	if b, err := v.Block(t.Context(), 1, filled(1, 1)); err != nil || len(b) != 1 {
		t.Fatalf("second try: %v, %v", b, err)
	}
}

func TestHitDoesNotAllocate(t *testing.T) {
	v := New(1 << 20).View()
	load := filled(1, 10)
	if n := testing.AllocsPerRun(100, func() {
		if _, err := v.Block(t.Context(), 1, load); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations a hit", n)
	}
}

func BenchmarkHit(b *testing.B) {
	v := New(1 << 20).View()
	load := filled(1, 10)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, err := v.Block(b.Context(), 1, load); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkLoad loads blocks for a caller that could leave, as that of a mount can.
func BenchmarkLoad(b *testing.B) {
	v := New(0).View()
	load := filled(1, 10)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, err := v.Block(b.Context(), 1, load); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func TestSetBudget(t *testing.T) {
	c := New(100)
	v := c.View()
	load := func(context.Context, uint64) ([]byte, error) { return make([]byte, 10), nil }
	for n := range uint64(10) {
		if _, err := v.Block(t.Context(), n, load); err != nil {
			t.Fatal(err)
		}
	}
	if before := c.SetBudget(35); before != 100 {
		t.Errorf("the budget was %d, want 100", before)
	}
	if s := c.Stats(); s.Bytes != 30 || s.Blocks != 3 || s.Budget != 35 {
		t.Errorf("after a smaller budget: %+v", s)
	}
}

// TestReaderLeaves checks that a reader need not wait for a load, which goes on for the
// others, and that a load is cancelled when nobody waits any more.
func TestReaderLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := New(1 << 20).View()
		load := func(ctx context.Context, _ uint64) ([]byte, error) {
			select {
			case <-time.After(time.Second):
				return []byte("x"), nil
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
		impatient, leave := context.WithCancel(t.Context())
		var readers sync.WaitGroup
		readers.Go(func() {
			if _, err := v.Block(impatient, 1, load); !errors.Is(err, context.Canceled) {
				t.Errorf("who left got %v", err)
			}
		})
		synctest.Wait()
		readers.Go(func() {
			if b, err := v.Block(t.Context(), 1, load); string(b) != "x" || err != nil {
				t.Errorf("who stayed got %q, %v", b, err)
			}
		})
		synctest.Wait()
		leave()
		readers.Wait()

		late, leave := context.WithTimeout(t.Context(), time.Millisecond)
		defer leave()
		cancelled := make(chan struct{})
		_, err := v.Block(late, 2, func(ctx context.Context, _ uint64) ([]byte, error) {
			<-ctx.Done()
			close(cancelled)
			return nil, ctx.Err()
		})
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("who waited too long got %v", err)
		}
		<-cancelled
	})
}
