package sheets

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// TestTextCache keeps more texts than there is room for. What the cache gives must be what was kept
// last for the key, and what was kept a moment ago must be there.
func TestTextCache(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	const ring = 3 * maxText
	c := newTextCache(6, ring)
	kept, hits := map[textKey][]byte{}, 0
	for i := range 20_000 {
		key := textKey{first: uint32(rng.IntN(150)), count: 1, depth: uint16(rng.IntN(2)), elem: int64(rng.IntN(2))}
		if text := c.get(key); text != nil {
			if hits++; !bytes.Equal(text, kept[key]) {
				t.Fatalf("%d: %d bytes are not what was kept", i, len(text))
			}
		}
		text := bytes.Repeat([]byte{byte(i)}, rng.IntN(maxText+10))
		c.keep(key, text)
		got := c.get(key)
		if len(text) <= maxText {
			kept[key] = text
			if !bytes.Equal(got, text) {
				t.Fatalf("%d: a text of %d bytes is not kept", i, len(text))
			}
		} else if !bytes.Equal(got, kept[key]) && got != nil {
			t.Fatalf("%d: a text that is too long has changed another", i)
		}
	}
	if hits == 0 {
		t.Error("nothing was found")
	}
}
