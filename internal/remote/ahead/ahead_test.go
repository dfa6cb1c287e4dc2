package ahead_test

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"lorefs/internal/remote/ahead"
)

const mib = 1 << 20

func chunks(count int) ahead.Chunks {
	return ahead.Chunks{Count: count, Size: func(int) int64 { return mib }, Room: 64 * mib}
}

// TestRuns reads chunks and compares the spans that are fetched for them.
func TestRuns(t *testing.T) {
	for name, c := range map[string]struct {
		chunks ahead.Chunks
		read   []int
		want   []ahead.Span
	}{
		"one after another": {chunks(64), []int{0, 1, 3, 7, 15, 31}, []ahead.Span{{0, 1}, {1, 3}, {3, 7}, {7, 15}, {15, 31}, {31, 47}}},
		"here and there":    {chunks(64), []int{9, 3, 4, 5, 20}, []ahead.Span{{9, 10}, {3, 4}, {4, 5}, {5, 7}, {20, 21}}},
		"alone":             {with(chunks(64), func(c *ahead.Chunks) { c.Alone = 2 * mib }), []int{9, 11}, []ahead.Span{{9, 11}, {11, 15}}},
		"to the end":        {chunks(4), []int{0, 1, 3}, []ahead.Span{{0, 1}, {1, 3}, {3, 4}}},
		"little room":       {with(chunks(64), func(c *ahead.Chunks) { c.Room = 2 * mib }), []int{0, 1, 3, 5}, []ahead.Span{{0, 1}, {1, 3}, {3, 5}, {5, 7}}},
		"no room":           {with(chunks(64), func(c *ahead.Chunks) { c.Room = 0 }), []int{0, 1, 2}, []ahead.Span{{0, 1}, {1, 2}, {2, 3}}},
		"some are here":     {with(chunks(64), func(c *ahead.Chunks) { c.Here = func(i int) bool { return i == 4 } }), []int{0, 1, 3}, []ahead.Span{{0, 1}, {1, 3}, {3, 4}}},
	} {
		var r ahead.Reader[struct{}]
		var got []ahead.Span
		for _, i := range c.read {
			_, span, err := r.Fetch(t.Context(), i, c.chunks, func(context.Context, ahead.Span) (struct{}, error) { return struct{}{}, nil })
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, span)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

func with(c ahead.Chunks, change func(*ahead.Chunks)) ahead.Chunks {
	change(&c)
	return c
}

// TestTogether has one fetch for all who want chunks of a span, and another for the chunk behind it.
func TestTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r ahead.Reader[int]
		r.Follow(0)
		var fetches atomic.Int64
		end := make(chan struct{})
		fetch := func(context.Context, ahead.Span) (int, error) {
			n := fetches.Add(1)
			<-end
			return int(n), nil
		}
		c := chunks(64)
		c.Alone = 4 * mib
		read := func(i int, want ahead.Span) {
			if _, span, err := r.Fetch(t.Context(), i, c, fetch); err != nil || span != want {
				t.Errorf("chunk %d: %v, %v, want %v", i, span, err, want)
			}
		}
		go read(8, ahead.Span{From: 8, To: 12})
		synctest.Wait()
		for i := 9; i < 12; i++ {
			go read(i, ahead.Span{From: 8, To: 12})
		}
		go read(6, ahead.Span{From: 6, To: 8})
		synctest.Wait()
		if n := fetches.Load(); n != 2 {
			t.Errorf("%d fetches, want 2", n)
		}
		close(end)
		synctest.Wait()
	})
}
