package cores_test

import (
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"lorefs/internal/cores"
)

// TestLease uses a lease again and again, and lets it end twice.
func TestLease(t *testing.T) {
	cores.Spare(1)
	defer cores.Spare(0)
	alone := runtime.GOMAXPROCS(0)
	synctest.Test(t, func(t *testing.T) {
		var l cores.Lease
		for range 2 {
			for range 100 {
				l.Use()
				if n := runtime.GOMAXPROCS(0); n <= alone {
					t.Fatalf("%d goroutines run at once while the lease is used, before %d", n, alone)
				}
				time.Sleep(30 * time.Millisecond)
			}
			time.Sleep(time.Second)
			if n := runtime.GOMAXPROCS(0); n != alone {
				t.Fatalf("%d goroutines run at once after the lease, before %d", n, alone)
			}
		}
	})
}
