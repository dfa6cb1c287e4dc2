package dctest

import (
	"bytes"
	"testing"

	"lorefs/datacenter"
)

// Open opens a file that is in memory.
func Open(t testing.TB, data []byte) *datacenter.File {
	t.Helper()
	f, err := datacenter.Open(t.Context(), bytes.NewReader(data), int64(len(data)), datacenter.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return f
}
