package sheets

import "lorefs/datacenter"

// textCache keeps what was written of stored runs: a third of the nodes of a real
// file stand for all of them, so that most of a sheet was written before.
type textCache struct {
	slots []textSlot
	// used tells whether texts of children are kept, for which a sheet has to be
	// written as a whole, into one buffer. flushed counts how often that was emptied:
	// what is in it now is all from after that.
	used    bool
	flushed int
}

type textSlot struct {
	run   datacenter.Run
	depth int
	text  []byte
}

// A cache has at most textSlots times maxText bytes.
const (
	slotBits  = 13
	textSlots = 1 << slotBits
	maxText   = 2 << 10
)

func newTextCache() textCache { return textCache{slots: make([]textSlot, textSlots)} }

// use has it keep texts, until used is unset.
func (c *textCache) use() {
	if c.slots == nil {
		*c = newTextCache()
	}
	c.used = true
}

// slot is the place of the only slot where the text of a run at a depth may be.
func (c *textCache) slot(run datacenter.Run, depth int) *textSlot {
	const spread = 0x9e3779b1 // 2^32 divided by the golden ratio
	h := (run.First*31 + uint32(depth)) * spread
	return &c.slots[h>>(32-slotBits)]
}

// get gives the text of a run; nil if it is not there.
func (c *textCache) get(run datacenter.Run, depth int) []byte {
	if s := c.slot(run, depth); s.run == run && s.depth == depth {
		return s.text
	}
	return nil
}

// keep takes a text that was just written.
func (c *textCache) keep(run datacenter.Run, depth int, text []byte) {
	if len(text) > maxText {
		return
	}
	s := c.slot(run, depth)
	s.run, s.depth, s.text = run, depth, append(s.text[:0], text...)
}
