package casctest

import (
	"os"
	"runtime"
	"testing"

	"lorefs/casc/keys"
	"lorefs/internal/testneeds"
)

// Fixture reads a file of the fixtures of casc. Without the fixtures it skips the test.
func Fixture(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(testneeds.Fixture(t, "casc/"+name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Key reads a key.
func Key(t testing.TB, text string) keys.Key {
	t.Helper()
	k, err := keys.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// Heap returns how many bytes of memory are in use.
func Heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
