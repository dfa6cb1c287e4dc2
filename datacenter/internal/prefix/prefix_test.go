package prefix_test

import (
	"bytes"
	"testing"

	"lorefs/datacenter/internal/prefix"
)

func TestCommon(t *testing.T) {
	for size := range 40 {
		a := bytes.Repeat([]byte("x"), size)
		if n := prefix.Common(a, append(bytes.Clone(a), "xy"...)); n != size {
			t.Errorf("%d of %d bytes", n, size)
		}
		for at := range size {
			b := bytes.Clone(a)
			b[at] = 'y'
			if n := prefix.Common(a, b); n != at {
				t.Errorf("%d of %d bytes, where %d are the same", n, size, at)
			}
		}
	}
}
