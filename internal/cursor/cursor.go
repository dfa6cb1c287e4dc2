// Package cursor reads numbers and strings one after the other from bytes. After the first
// read that fails all others return zeros, and Err says what failed and where.
package cursor

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

// Cursor reads bytes from a place on. The zero Cursor has none.
type Cursor struct {
	data []byte
	off  int
	err  error
}

// EndError says that data ended within a value.
type EndError struct {
	// Off is where the value begins. Want is its size in bytes, or 0 for a string without
	// end. Have is how many bytes there are.
	Off, Want, Have int
}

func (e *EndError) Error() string {
	if e.Want == 0 {
		return fmt.Sprintf("offset %#x: a string without end", e.Off)
	}
	return fmt.Sprintf("offset %#x: %d bytes expected, %d there", e.Off, e.Want, e.Have)
}

// New returns a Cursor at the beginning of data, which must not be changed.
func New(data []byte) *Cursor { return &Cursor{data: data} }

// Err returns nil if all reads succeeded so far.
func (c *Cursor) Err() error { return c.err }

// Fail makes the cursor fail with an error at its place, unless it has failed already.
func (c *Cursor) Fail(format string, args ...any) {
	if c.err == nil {
		c.err = fmt.Errorf("offset %#x: %w", c.off, fmt.Errorf(format, args...))
	}
}

// Off returns the offset of the next byte.
func (c *Cursor) Off() int { return c.off }

// Left returns the number of bytes from here on.
func (c *Cursor) Left() int { return len(c.data) - c.off }

// End fails unless all bytes were read, and returns Err.
func (c *Cursor) End() error {
	if c.Left() > 0 {
		c.Fail("%d bytes too many", c.Left())
	}
	return c.err
}

// Bytes returns the next n bytes, which share the memory of data; nil if there are fewer.
func (c *Cursor) Bytes(n int) []byte {
	if c.err != nil {
		return nil
	}
	if n < 0 || n > c.Left() {
		c.err = &EndError{Off: c.off, Want: n, Have: c.Left()}
		return nil
	}
	b := c.data[c.off : c.off+n : c.off+n]
	c.off += n
	return b
}

// Big reads a big-endian number of n bytes, 0 to 8.
func (c *Cursor) Big(n int) uint64 {
	var v uint64
	for _, b := range c.Bytes(n) {
		v = v<<8 | uint64(b)
	}
	return v
}

// U8 reads a byte.
func (c *Cursor) U8() uint8 { return uint8(c.Big(1)) }

// BE16 reads a big-endian number of 2 bytes.
func (c *Cursor) BE16() uint16 { return uint16(c.Big(2)) }

// BE32 reads a big-endian number of 4 bytes.
func (c *Cursor) BE32() uint32 { return uint32(c.Big(4)) }

// LE16 reads a little-endian number of 2 bytes.
func (c *Cursor) LE16() uint16 {
	if b := c.Bytes(2); b != nil {
		return binary.LittleEndian.Uint16(b)
	}
	return 0
}

// LE32 reads a little-endian number of 4 bytes.
func (c *Cursor) LE32() uint32 {
	if b := c.Bytes(4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

// LE64 reads a little-endian number of 8 bytes.
func (c *Cursor) LE64() uint64 {
	if b := c.Bytes(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

// Uvarint reads a number up to most in the variable length of encoding/binary.
func (c *Cursor) Uvarint(most uint64) uint64 {
	if c.err != nil {
		return 0
	}
	v, n := binary.Uvarint(c.data[c.off:])
	switch {
	case n == 0:
		c.err = &EndError{Off: c.off, Want: c.Left() + 1, Have: c.Left()}
		return 0
	case n < 0 || v > most:
		c.Fail("a number above %d", most)
		return 0
	}
	c.off += n
	return v
}

// String reads up to a NUL, and skips that.
func (c *Cursor) String() string {
	if c.err != nil {
		return ""
	}
	n := bytes.IndexByte(c.data[c.off:], 0)
	if n < 0 {
		c.err = &EndError{Off: c.off, Have: c.Left()}
		return ""
	}
	s := string(c.data[c.off : c.off+n])
	c.off += n + 1
	return s
}
