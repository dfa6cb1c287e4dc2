package sheets

import "lorefs/internal/cores"

// textCache caches the texts of stored runs. A third of the nodes of a real file is shared
// by all others, so most of a sheet has been written before. Without it exporting all sheets takes 1.5 times
// as long, and reading them in a mount 1.3 times.
type textCache struct {
	slots []textSlot
	bits  int // of the number of slots
	// ring has the texts that were kept last: each behind the one before, and the first again behind
	// the last that has room. kept counts all bytes that were ever kept in it.
	ring []byte
	kept int64
	// used says that the texts of children are cached, for which a sheet must be written as
	// a whole into one buffer.
	used bool
}

// textKey is everything that a text depends on. Elements count only for a plain text, see
// [Source.WritePlain]: it is kept only if it is plain with its element.
type textKey struct {
	elem  int64
	first uint32
	count uint16
	depth uint16
}

// textSlot is where a text lies in the ring: behind as many bytes as were kept before it.
type textSlot struct {
	key  textKey
	at   int64
	size int32
}

const (
	textBits = 15
	// maxText is the largest text that is kept.
	maxText = 8 << 10
	// textRings is how many bytes of texts all encoders keep together, and leastRing how many each
	// keeps at least.
	textRings, leastRing = 16 << 20, 2 << 20
	// tagTexts is how many bytes of attributes an encoder keeps, of 1<<tagTextBits runs at most.
	tagTextBits, tagTexts = 12, 512 << 10
)

func newTextCache(bits, ring int) textCache {
	return textCache{slots: make([]textSlot, 1<<bits), bits: bits, ring: make([]byte, ring)}
}

// use starts to cache texts, until used is set to false.
func (c *textCache) use() {
	if c.slots == nil {
		*c = newTextCache(textBits, max(textRings/cores.Count(), leastRing))
	}
	c.used = true
}

// slot returns the slot for a text.
func (c *textCache) slot(key textKey) *textSlot {
	const spread = 0x9e3779b1 // 2^32 divided by the golden ratio
	h := key.first + (uint32(key.depth)+uint32(key.elem)*37)*spread
	return &c.slots[h&(1<<c.bits-1)]
}

// get returns a text, nil if it is not known.
func (c *textCache) get(key textKey) []byte {
	s := c.slot(key)
	if s.key != key || c.kept-s.at > int64(len(c.ring)) {
		return nil
	}
	at := int(s.at % int64(len(c.ring)))
	return c.ring[at : at+int(s.size)]
}

// keep caches a text that was just written.
func (c *textCache) keep(key textKey, text []byte) {
	if len(text) > maxText {
		return
	}
	if left := int64(len(c.ring)) - c.kept%int64(len(c.ring)); int64(len(text)) > left {
		c.kept += left
	}
	*c.slot(key) = textSlot{key: key, at: c.kept, size: int32(len(text))}
	c.kept += int64(copy(c.ring[c.kept%int64(len(c.ring)):], text))
}
