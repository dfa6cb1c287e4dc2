package nodes_test

import (
	"errors"
	"io"
	"testing"

	"lorefs/nodes"
)

func TestReadContent(t *testing.T) {
	for _, c := range []struct {
		off  int64
		size int
		want string
		end  error
	}{
		{0, 5, "hello", nil},
		{0, 6, "hello", io.EOF},
		{3, 2, "lo", nil},
		{3, 9, "lo", io.EOF},
		{5, 1, "", io.EOF},
		{5, 0, "", io.EOF},
		{1 << 62, 1, "", io.EOF},
	} {
		p := make([]byte, c.size)
		n, err := nodes.ReadContent("hello", p, c.off)
		if string(p[:n]) != c.want || err != c.end { //nolint:errorlint // the end is io.EOF itself
			t.Errorf("%d bytes at %d: %q, %v; want %q, %v", c.size, c.off, p[:n], err, c.want, c.end)
		}
	}
	if n, err := nodes.ReadContent([]byte("hello"), make([]byte, 2), -1); n != 0 || err == nil || errors.Is(err, io.EOF) {
		t.Errorf("at -1: %d, %v; want an error that is no end", n, err)
	}
}
