package codec

import (
	"bufio"
	"io"
	"strings"
	"testing"
)

// forever is an endless text.
type forever struct{}

func (forever) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

// TestEndlessValue checks that a JSON value which is too long for a packet is not read into
// memory.
func TestEndlessValue(t *testing.T) {
	text := io.MultiReader(strings.NewReader("{}\n{\"a\": 1}\n\n{\"b\":\""), forever{})
	in := &Input{Reader: bufio.NewReader(text), name: "stdin"}
	read := in.ReadValues()
	for range 2 {
		if _, err := read(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := read(); err == nil || !strings.HasPrefix(err.Error(), "stdin:2: a value of more than ") {
		t.Error(err)
	}
}
