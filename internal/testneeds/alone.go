package testneeds

import "testing"

// Racing reports whether the race detector watches.
func Racing() bool { return racing }

// Alone skips a test that computes much in one goroutine, if the race detector watches: it finds
// nothing there, and the test takes ten times as long.
func Alone(t testing.TB) {
	t.Helper()
	if racing {
		t.Skip("nothing can race here (it runs without -race)")
	}
}
