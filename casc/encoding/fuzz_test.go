package encoding_test

import (
	"bytes"
	"testing"

	"lorefs/casc/casctest/write"
	"lorefs/casc/encoding"
)

func FuzzEncoding(f *testing.F) {
	var b write.Builder
	b.Add([]byte("x"))
	b.Add([]byte("y"))
	f.Add(write.Encoding(b.Stored))
	f.Fuzz(func(t *testing.T, data []byte) {
		e, err := encoding.New(t.Context(), bytes.NewReader(data), int64(len(data)))
		if err != nil {
			return
		}
		for c, err := range e.Contents(t.Context()) {
			if err != nil {
				break
			}
			_, _ = e.Find(t.Context(), c.CKey)
		}
		for c, err := range e.Encoded(t.Context()) {
			if err != nil {
				break
			}
			_, _ = e.FindEncoded(t.Context(), c.EKey[:])
		}
	})
}
