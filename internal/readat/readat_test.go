package readat_test

import (
	"errors"
	"fmt"
	"io"
	"testing"

	"lorefs/internal/readat"
)

var errBroken = errors.New("broken")

// source returns n bytes and an error, whatever is read.
type source struct {
	n   int
	err error
}

func (s source) ReadAt(p []byte, _ int64) (int, error) {
	for i := range s.n {
		p[i] = 'x'
	}
	return s.n, s.err
}

func TestFull(t *testing.T) {
	for _, tt := range []struct {
		name string
		source
		want error
	}{
		{"all", source{4, nil}, nil},
		{"all up to the end", source{4, io.EOF}, nil},
		{"all, though something broke behind it", source{4, errBroken}, nil},
		{"less", source{3, io.EOF}, io.ErrUnexpectedEOF},
		{"nothing", source{0, io.EOF}, io.ErrUnexpectedEOF},
		{"less without a reason", source{3, nil}, io.ErrUnexpectedEOF},
		{"an end that says where", source{3, fmt.Errorf("a file: %w", io.EOF)}, io.ErrUnexpectedEOF},
		{"less, as something broke", source{3, errBroken}, errBroken},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := make([]byte, 4)
			if err := readat.Full(tt.source, b, 7); err != tt.want { //nolint:errorlint // the very error
				t.Errorf("got %v, want %v", err, tt.want)
			}
			if got, want := string(b[:tt.n]), "xxxx"[:tt.n]; got != want {
				t.Errorf("read %q, want %q", got, want)
			}
		})
	}
}
