package sheets

import "lorefs/datacenter"

// textCache caches the texts of stored runs. A third of the nodes of a real file is shared
// by all others, so most of a sheet has been written before.
type textCache struct {
	slots []textSlot
	// used says that the texts of children are cached, for which a sheet must be written as
	// a whole into one buffer.
	used bool
}

// textKey is everything that a text depends on. Elements count only for a plain text, see
// [Source.WritePlain]: it is kept only if it is plain with its element.
type textKey struct {
	run   datacenter.Run
	depth int
	elem  int
}

type textSlot struct {
	key   textKey
	text  []byte
	lines int64
}

// A cache takes at most textSlots times maxText bytes.
const (
	slotBits  = 13
	textSlots = 1 << slotBits
	maxText   = 2 << 10
)

func newTextCache() textCache { return textCache{slots: make([]textSlot, textSlots)} }

// use starts to cache texts, until used is set to false.
func (c *textCache) use() {
	if c.slots == nil {
		*c = newTextCache()
	}
	c.used = true
}

// slot returns the slot for a text.
func (c *textCache) slot(key textKey) *textSlot {
	const spread = 0x9e3779b1 // 2^32 divided by the golden ratio
	h := (key.run.First*31 + uint32(key.depth) + uint32(key.elem)*37) * spread
	return &c.slots[h>>(32-slotBits)]
}

// get returns a text, or nil.
func (c *textCache) get(key textKey) *textSlot {
	if s := c.slot(key); s.key == key {
		return s
	}
	return nil
}

// keep caches a text of some lines that was just written.
func (c *textCache) keep(key textKey, text []byte, lines int64) {
	if len(text) > maxText {
		return
	}
	s := c.slot(key)
	s.key, s.text, s.lines = key, append(s.text[:0], text...), lines
}
