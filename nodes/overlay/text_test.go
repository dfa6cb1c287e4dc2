package overlay

import "testing"

// A text that is written in pieces from the first byte to the last is not copied for each piece.
func TestGrowth(t *testing.T) {
	const most = 1 << 20
	var text text
	moved, size := 0, int64(0)
	for off := int64(0); off < most; off += 64 {
		text.write(make([]byte, 64), off)
		if now := text.Cap(); now != size {
			moved, size = moved+1, now
		}
	}
	if moved > 64 {
		t.Errorf("the text was moved %d times", moved)
	}
	if text.truncate(0); text.Cap() != 0 {
		t.Errorf("an empty text takes %d bytes", text.Cap())
	}
}

func TestReadAllocates(t *testing.T) {
	var text text
	text.Hold(make([]byte, 1000))
	p := make([]byte, 100)
	if n := testing.AllocsPerRun(100, func() { _, _ = text.ReadAt(p, 10) }); n != 0 {
		t.Errorf("a read allocates %v times", n)
	}
}
