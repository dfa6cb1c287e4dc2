package overlay

import (
	"slices"
	"sync"
	"testing"
)

// Functions wait in their order for the holder of the lock, and Do returns at once.
func TestLockDo(t *testing.T) {
	var l lock
	var done []int
	do := func(i int) { l.Do(func() { done = append(done, i) }) }
	do(1)
	if !slices.Equal(done, []int{1}) {
		t.Errorf("with a free lock %v was done", done)
	}
	l.Lock()
	do(2)
	l.Do(func() {
		done = append(done, 3)
		do(4)
	})
	if len(done) != 1 {
		t.Errorf("%v was done while somebody held the lock", done)
	}
	l.Unlock()
	if !slices.Equal(done, []int{1, 2, 3, 4}) {
		t.Errorf("when it was unlocked %v was done", done)
	}
}

// Every function is called, and no two at the same time.
func TestLockLosesNothing(t *testing.T) {
	var l lock
	var work sync.WaitGroup
	const each = 1000
	n := 0
	for range 4 {
		work.Go(func() {
			for range each {
				l.Do(func() { n++ })
				l.Lock()
				n++
				l.Unlock()
			}
		})
	}
	work.Wait()
	l.Lock()
	defer l.Unlock()
	if n != 4*2*each {
		t.Errorf("%d were done, want %d", n, 4*2*each)
	}
}
