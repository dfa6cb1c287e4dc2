// Package cores divides the cores between long work and short requests.
//
// Go runs as many goroutines at once as there are cores. If all of them are busy with long
// work, such as a save, a request that comes in waits for up to 10 ms at each step, and much
// longer on a machine that is busy otherwise: until the system lets one of the busy threads go
// on, so that Go can stop it. If Go may run a few more, a request gets a thread of its own at
// once, and the system shares the cores between all threads.
package cores

import (
	"runtime"
	"sync"
)

// count has what Go has found out, or was told by the user, at the start.
var count = runtime.GOMAXPROCS(0)

// spare is how many goroutines more run at once while there is long work.
var spare int // guarded by mu

// Spare sets how many goroutines more may run at once while there is long work. At first it is none:
// only a program that answers requests meanwhile needs them.
func Spare(n int) {
	mu.Lock()
	defer mu.Unlock()
	spare = n
}

// Count returns how many goroutines should work at once. Long work doesn't change it.
func Count() int { return min(count, runtime.GOMAXPROCS(0)) }

var (
	mu    sync.Mutex
	works int // guarded by mu
)

// Share begins long work, which must not take more than Count goroutines. Call end when it is
// done.
func Share() (end func()) {
	mu.Lock()
	defer mu.Unlock()
	if works++; works == 1 && spare > 0 {
		runtime.GOMAXPROCS(count + spare)
	}
	return sync.OnceFunc(func() {
		mu.Lock()
		defer mu.Unlock()
		if works--; works == 0 && spare > 0 {
			runtime.GOMAXPROCS(count)
		}
	})
}
