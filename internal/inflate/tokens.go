package inflate

import "fmt"

// Token is a symbol of a compressed block: a literal, or a match with its length and
// distance.
type Token uint32

const matchToken Token = 1 << 31

// Literal returns the token of a literal.
func Literal(b byte) Token { return Token(b) }

// Match returns the token that repeats length bytes, 3 to 258, from dist bytes before, 1 to
// WindowSize.
func Match(length, dist int) Token { return matchToken | Token((dist-1)<<9|length) }

// Len returns the number of bytes that the token stands for.
func (t Token) Len() int {
	if t&matchToken == 0 {
		return 1
	}
	return int(t & (1<<9 - 1))
}

// Dist returns the distance of a match, and 0 for a literal.
func (t Token) Dist() int {
	if t&matchToken == 0 {
		return 0
	}
	return int(t>>9&(WindowSize-1)) + 1
}

// Byte returns the byte of a literal.
func (t Token) Byte() byte { return byte(t) }

// Content is a block, undone as far as that is possible without the data before it.
type Content struct {
	Tokens []Token // none in a stored block
	Size   int     // of the inflated data
	End    int64   // bit offset behind the block
	Stored bool
	Final  bool // the block is the last one
}

// ReadTokens reads the block whose header lies at a bit offset. It appends the tokens to dst,
// and fails if there are more than limit bytes in the block. Afterwards the Decoder needs a
// Reset.
func (d *Decoder) ReadTokens(header int64, dst []Token, limit int) (Content, error) {
	c := Content{Tokens: dst}
	if err := d.Reset(Point{In: header, Header: header}); err != nil {
		return c, err
	}
	if d.err = d.readContent(&c, limit); d.err != nil {
		return c, d.err
	}
	d.state = atEnd
	return c, nil
}

// readContent reads a block.
func (d *Decoder) readContent(c *Content, limit int) (err error) {
	if err := d.readHeader(); err != nil {
		return err
	}
	c.Final, c.Stored = d.final, d.state == inStored
	if c.Stored {
		c.Size = d.stored
		c.End = d.bitOffset() + int64(d.stored)*8
		if c.End > d.size<<3 {
			return d.inputErr()
		}
	} else {
		c.Tokens, c.Size, err = d.appendTokens(c.Tokens, limit)
		c.End = d.bitOffset()
	}
	if err == nil && c.Size > limit {
		err = fmt.Errorf("inflate: a block has more than %d bytes", limit)
	}
	return err
}

// appendTokens reads the symbols of a block up to its end, or until they stand for more than
// limit bytes.
func (d *Decoder) appendTokens(dst []Token, limit int) (tokens []Token, size int, err error) {
	for size <= limit {
		t, end, err := d.token()
		if end || err != nil {
			return dst, size, err
		}
		dst = append(dst, t)
		size += t.Len()
	}
	return dst, size, nil
}
