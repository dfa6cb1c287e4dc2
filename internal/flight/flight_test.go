package flight_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"lorefs/internal/flight"
)

// slow is work that takes a second, unless its context ends.
func slow(ctx context.Context) (string, error) {
	select {
	case <-time.After(time.Second):
		return "done", nil
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

func TestWorkIsDoneOnceForAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g flight.Group[int, string]
		var works atomic.Int32
		var callers sync.WaitGroup
		for range 16 {
			callers.Go(func() {
				got, err := g.Do(t.Context(), 1, func(ctx context.Context) (string, error) {
					works.Add(1)
					return slow(ctx)
				})
				if got != "done" || err != nil {
					t.Errorf("got %q, %v", got, err)
				}
			})
		}
		callers.Wait()
		if n := works.Load(); n != 1 {
			t.Errorf("worked %d times", n)
		}
	})
}

func TestKeysAreApart(t *testing.T) {
	var g flight.Group[string, string]
	got, err := g.Do(t.Context(), "a", func(ctx context.Context) (string, error) {
		return g.Do(ctx, "b", func(context.Context) (string, error) { return "b", nil })
	})
	if got != "b" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
}

// TestFirstCallerLeaves checks that the work goes on for those that still wait.
func TestFirstCallerLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g flight.Group[int, string]
		first, leave := context.WithCancel(t.Context())
		var callers sync.WaitGroup
		callers.Go(func() {
			if _, err := g.Do(first, 1, slow); !errors.Is(err, context.Canceled) {
				t.Errorf("who left got %v", err)
			}
		})
		synctest.Wait()
		callers.Go(func() {
			got, err := g.Do(t.Context(), 1, func(context.Context) (string, error) { return "again", nil })
			if got != "done" || err != nil {
				t.Errorf("who stayed got %q, %v", got, err)
			}
		})
		synctest.Wait()
		started := time.Now()
		leave()
		synctest.Wait()
		if waited := time.Since(started); waited != 0 {
			t.Errorf("the first waited %v to leave", waited)
		}
		callers.Wait()
	})
}

// TestLastCallerLeaves checks that the work is cancelled, and that a later caller does not
// get the error of that.
func TestLastCallerLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g flight.Group[int, string]
		ended := make(chan error, 1)
		ctx, leave := context.WithTimeout(t.Context(), time.Millisecond)
		defer leave()
		_, err := g.Do(ctx, 1, func(ctx context.Context) (string, error) {
			<-ctx.Done()
			time.Sleep(time.Hour) // it does not end at once
			ended <- ctx.Err()
			return "", ctx.Err()
		})
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("who left got %v", err)
		}
		if got, err := g.Do(t.Context(), 1, slow); got != "done" || err != nil {
			t.Errorf("the next got %q, %v", got, err)
		}
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("the work ended with %v", err)
		}
	})
}

func TestEndedContext(t *testing.T) {
	var g flight.Group[int, string]
	ctx, leave := context.WithCancel(t.Context())
	leave()
	_, err := g.Do(ctx, 1, func(context.Context) (string, error) {
		t.Error("work was begun for nobody")
		return "", nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// TestNoContext checks that work for a caller that can't leave is seen by others.
func TestNoContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g flight.Group[int, string]
		var callers sync.WaitGroup
		callers.Go(func() {
			if got, err := g.Do(context.Background(), 1, slow); got != "done" || err != nil {
				t.Errorf("got %q, %v", got, err)
			}
		})
		synctest.Wait()
		ctx, leave := context.WithTimeout(t.Context(), time.Millisecond)
		defer leave()
		if _, err := g.Do(ctx, 1, slow); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("who left got %v", err)
		}
		callers.Wait()
	})
}

func TestErrorIsNotRemembered(t *testing.T) {
	var g flight.Group[int, string]
	want := errors.New("no")
	if _, err := g.Do(t.Context(), 1, func(context.Context) (string, error) { return "", want }); !errors.Is(err, want) {
		t.Errorf("got %v", err)
	}
	if got, err := g.Do(t.Context(), 1, func(context.Context) (string, error) { return "yes", nil }); got != "yes" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
}

// TestPanic checks that a panic of the work reaches every caller that waits, in the caller's own
// goroutine, and says where it came from.
func TestPanic(t *testing.T) {
	for name, canLeave := range map[string]bool{"can leave": true, "stays": false} {
		synctest.Test(t, func(t *testing.T) {
			ctx := context.Background()
			if canLeave {
				ctx = t.Context()
			}
			var g flight.Group[int, string]
			var callers sync.WaitGroup
			for range 3 {
				callers.Go(func() {
					defer func() {
						if p := fmt.Sprint(recover()); !strings.HasPrefix(p, "BUG: ") || !strings.Contains(p, "panickingWork") {
							t.Errorf("%s: recovered %s", name, p)
						}
					}()
					got, err := g.Do(ctx, 1, panickingWork)
					t.Errorf("%s: got %q, %v", name, got, err)
				})
			}
			callers.Wait()
			if got, err := g.Do(ctx, 1, slow); got != "done" || err != nil {
				t.Errorf("%s: afterwards got %q, %v", name, got, err)
			}
		})
	}
}

func panickingWork(context.Context) (string, error) {
	time.Sleep(time.Second)
	panic("BUG: as the test wants it")
}
